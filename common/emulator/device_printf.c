/* vprintf: the device's printf. The CUDA Programming Guide ("Formatted Output") says what it does: the host's rules, arguments
 * unpacked from a buffer where each is aligned to its size; it gives the number of arguments. What an H200 does not understand it
 * prints as it stands, and so do we: %n, %zu, %jd, %td, %Lf, a star as precision. Text is made when the instruction runs, kept a
 * block, and goes to stdout in block order when the host synchronises. */
#define _GNU_SOURCE
#include "builtins.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one block printed, in the order of its instructions. */
struct printed {
    uint64_t block_number;
    char *text;
    size_t bytes, room;
    struct printed *next;
};

static char *pending;
static size_t pending_bytes, pending_room;

static void append(char **text, size_t *bytes, size_t *room, const char *from, size_t count)
{
    if (*bytes + count > *room) {
        *room = 2 * (*bytes + count) + 256;
        *text = realloc(*text, *room);
        if (!*text) {
            fprintf(stderr, "emulator: out of memory for what kernels print\n");
            exit(3);
        }
    }
    memcpy(*text + *bytes, from, count);
    *bytes += count;
}

/* The arguments, one after the other. What lies beyond the buffer reads as zeros. */
struct arguments {
    const char *at;
    size_t bytes, next;
};

static uint64_t take(struct arguments *a, size_t bytes)
{
    uint64_t value = 0;

    a->next = (a->next + bytes - 1) & ~(bytes - 1);
    if (a->at && a->next + bytes <= a->bytes)
        memcpy(&value, a->at + a->next, bytes);
    a->next += bytes;
    return value;
}

/* One conversion, from its '%' on: %[flags][width][.precision][size]type. */
struct conversion {
    char format[64]; /* for the host's printf, stars filled in */
    char type;
    unsigned longs; /* 2: 64 bits */
    unsigned shorts, stars;
    size_t length; /* of the text that it takes; 0: it is no conversion */
};

static size_t number(struct conversion *c, const char *at, size_t used)
{
    size_t n = 0;

    while (at[n] >= '0' && at[n] <= '9')
        n++;
    snprintf(c->format + used, sizeof c->format - used, "%.*s", n < 9 ? (int)n : 9, at);
    return n;
}

static struct conversion read_conversion(const char *text, struct arguments *a)
{
    const struct arguments before = *a;
    struct conversion c = {.format = "%"};
    const char *at = text + 1;
    size_t used = 1;

    while (*at && strchr("-+ #0", *at) && used < 16)
        c.format[used++] = *at++;
    c.format[used] = '\0';
    if (*at == '*') {
        snprintf(c.format + used, sizeof c.format - used, "%d", (int)take(a, 4));
        c.stars = 1;
        at++;
    } else {
        at += number(&c, at, used);
    }
    used = strlen(c.format);
    if (*at == '.') {
        c.format[used++] = *at++;
        c.format[used] = '\0';
        at += number(&c, at, used);
    }
    for (; *at == 'h' || *at == 'l'; at++) {
        c.longs += *at == 'l';
        c.shorts += *at == 'h';
    }
    c.type = *at;
    if (!*at || !strchr("diouxXcsfFeEgGaAp", *at)) {
        if (at == text + 1 && *at == '%')
            c.length = 2;
        else
            *a = before;
        return c;
    }
    c.length = (size_t)(at + 1 - text);
    return c;
}

static void add_format(struct conversion *c, const char *end)
{
    strncat(c->format, end, sizeof c->format - strlen(c->format) - 1);
}

static void print_string(FILE *out, struct warp *w, int lane, struct conversion *c, uint64_t address)
{
    size_t bytes = 0;
    const char *string = address ? generic_bytes(w, lane, address, &bytes) : "(null)";

    if (!address)
        bytes = 7;
    if (!string) {
        string = "(unreadable)";
        bytes = 13;
    }
    char *copy = strndup(string, strnlen(string, bytes));
    add_format(c, "s");
    fprintf(out, c->format, copy ? copy : "");
    free(copy);
}

static void print_one(FILE *out, struct warp *w, int lane, struct conversion *c, struct arguments *a)
{
    char end[4] = {'l', 'l', c->type, '\0'};
    double real;
    uint64_t bits;

    switch (c->type) {
    case 'd':
    case 'i':
        add_format(c, end);
        bits = take(a, c->longs ? 8 : 4);
        fprintf(out, c->format,
                c->longs         ? (long long)bits
                : c->shorts == 1 ? (long long)(int16_t)bits
                : c->shorts      ? (long long)(int8_t)bits
                                 : (long long)(int32_t)bits);
        break;
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        add_format(c, end);
        bits = take(a, c->longs ? 8 : 4);
        fprintf(out, c->format,
                (unsigned long long)(c->longs         ? bits
                                     : c->shorts == 1 ? (uint16_t)bits
                                     : c->shorts      ? (uint8_t)bits
                                                      : (uint32_t)bits));
        break;
    case 'c':
        add_format(c, "c");
        fprintf(out, c->format, (int)take(a, 4));
        break;
    case 'p':
        add_format(c, "p");
        fprintf(out, c->format, (void *)(uintptr_t)take(a, 8));
        break;
    case 's': print_string(out, w, lane, c, take(a, 8)); break;
    case '%': fputc('%', out); break;
    default:
        bits = take(a, 8);
        memcpy(&real, &bits, sizeof real);
        add_format(c, end + 2);
        fprintf(out, c->format, real);
    }
}

/* What one lane prints. Returns the number of its arguments. */
static int print_lane(FILE *out, struct warp *w, int lane, const char *format, size_t most, struct arguments *a)
{
    char *text = strndup(format, strnlen(format, most));
    int count = 0;

    for (const char *at = text; at && *at;) {
        const char *percent = strchrnul(at, '%');
        fwrite(at, 1, (size_t)(percent - at), out);
        at = percent;
        if (!*at)
            break;
        struct conversion c = read_conversion(at, a);
        if (!c.length) {
            fputc('%', out);
            at++;
            continue;
        }
        print_one(out, w, lane, &c, a);
        count += c.type != '%' ? 1 + (int)c.stars : 0;
        at += c.length;
    }
    free(text);
    return count;
}

static struct printed *printed_of(struct block *b)
{
    struct printed *p = b->printed;

    if (!p) {
        p = calloc(1, sizeof *p);
        if (!p)
            abort();
        p->block_number = b->number;
        p->next = b->worker->printed;
        b->worker->printed = b->printed = p;
    }
    return p;
}

enum {
    MOST_BYTES = 256 << 20
}; /* of a block, and of what waits: a kernel that prints for ever must not take the machine with it */

static int print(struct warp *w, int lane, uint64_t format_address, uint64_t arguments_address)
{
    struct printed *p = printed_of(w->block);
    struct arguments arguments = {0};
    size_t most, text_bytes = 0;
    char *text = NULL;
    const char *format = format_address ? generic_bytes(w, lane, format_address, &most) : NULL;
    FILE *out;
    int count;

    if (!format)
        return -1;
    if (arguments_address)
        arguments.at = generic_bytes(w, lane, arguments_address, &arguments.bytes);
    out = open_memstream(&text, &text_bytes);
    if (!out)
        abort();
    count = print_lane(out, w, lane, format, most, &arguments);
    fclose(out);
    if (p->bytes < MOST_BYTES)
        append(&p->text, &p->bytes, &p->room, text, text_bytes);
    free(text);
    return count;
}

int warp_vprintf(struct warp *w, const struct inst *in, uint32_t mask)
{
    const struct frame *frame = w->now->frame;
    const struct call *call = in->call;

    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        int count =
            print(w, lane, passed_value(w, frame, &call->arguments[0], lane), passed_value(w, frame, &call->arguments[1], lane));
        if (call->return_count)
            passed_set(w, frame, &call->returns[0], lane, (uint32_t)count);
    }
    return WARP_NEXT;
}

static int by_block(const void *a, const void *b)
{
    const struct printed *const *x = a, *const *y = b;

    return ((*x)->block_number > (*y)->block_number) - ((*x)->block_number < (*y)->block_number);
}

void printf_collect(struct grid *grid, struct worker *workers, int count)
{
    size_t blocks = 0, used = 0;
    struct printed **list;

    for (int i = 0; i < count; i++)
        for (struct printed *p = workers[i].printed; p; p = p->next)
            blocks++;
    if (!blocks)
        return;
    list = calloc(blocks, sizeof *list);
    if (!list)
        abort();
    for (int i = 0; i < count; i++)
        for (struct printed *p = workers[i].printed; p; p = p->next)
            list[used++] = p;
    qsort(list, used, sizeof *list, by_block);
    for (size_t i = 0; i < used; i++) {
        bool ran =
            !grid->fault.set || list[i]->block_number <= grid->fault.block_number; /* others ran by chance of the host's threads */
        if (ran && pending_bytes < MOST_BYTES)
            append(&pending, &pending_bytes, &pending_room, list[i]->text, list[i]->bytes);
        free(list[i]->text);
        free(list[i]);
    }
    free(list);
    for (int i = 0; i < count; i++)
        workers[i].printed = NULL;
}

/* As on a GPU, text that nothing synchronised for is never seen; but we say so. */
__attribute__((destructor)) static void tell_unseen(void)
{
    if (pending_bytes)
        fprintf(stderr,
                "emulator: the program ended before what its kernels had printed (%zu bytes) could be shown; call "
                "cudaDeviceSynchronize() after the launch\n",
                pending_bytes);
}

void printf_flush(void)
{
    if (pending_bytes)
        fwrite(pending, 1, pending_bytes, stdout);
    pending_bytes = 0;
}
