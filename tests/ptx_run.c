/* Runs a test written as PTX: loads the file, and does what the comments that begin with //: say, in their order.
 *
 *     //: buffer NAME TYPE VALUES            device memory; every launch's pointers are the names
 *     //: variable NAME TYPE                 a .global variable of the module, to be looked at like a buffer
 *     //: set NAME VALUES                    its bytes anew
 *     //: launch KERNEL [grid X,Y,Z] [block X,Y,Z] [shared BYTES] [cooperative] [args ARGUMENT …]
 *     //: expect NAME VALUES                 what it must hold
 *     //: counters NAME=VALUE …              over the launches since the last such line; nothing is checked on a GPU or with EMULATOR_COUNTERS=off
 *     //: fails cudaError…                   what the last launch must end with
 *     //: load fails cudaError…              the file must not load
 *     //: free NAME
 *     //: emulator                           no GPU need run it: it says what PTX leaves open
 *     //: + …                                goes on with the line above
 *
 * A value is a number (0x…, decimal, or a decimal fraction for floats), ? for any, A..B or A..B/STEP for a row of numbers, and any of
 * these with *COUNT behind it. An argument is a name, NAME+BYTES, host (a host pointer) or TYPE:VALUE.
 * Exit status: 0 as expected; 1 not; 2 the test itself is wrong; 3 a CUDA error that no line expects. */
#include "device.h"
#include "../common/emulator/emulator.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>

enum { MOST_BUFFERS = 64, MOST_ARGUMENTS = 32, MOST_COUNTERS = 128 };

struct buffer {
    char name[32], type[8];
    size_t elements;
    unsigned bytes; /* an element */
    char *device;
};
static struct buffer buffers[MOST_BUFFERS];
static size_t buffer_count;
static cudaLibrary_t library;
static cudaError_t ended; /* how the last launch did */
static bool ended_known = true, failed;
static const char *file;
static unsigned line_number;

static void stop(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "%s:%u: ", file, line_number);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(2);
}

static void wrong(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    printf("%s:%u: ", file, line_number);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
    failed = true;
}

/* ---- words and values ---- */

static const char *word(char **at)
{
    char *start = *at + strspn(*at, " \t");

    *at = start + strcspn(start, " \t");
    if (**at)
        *(*at)++ = '\0';
    return *start ? start : NULL;
}

static const char *must_word(char **at, const char *what)
{
    const char *found = word(at);

    if (!found)
        stop("%s is missing", what);
    return found;
}

static unsigned type_bytes(const char *type)
{
    unsigned bits = (unsigned)strtoul(type + 1, NULL, 10);

    if (!strchr("usbf", type[0]) || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
        stop("unknown type %s", type);
    return bits / 8;
}

static uint64_t bits_of(const char *type, const char *text, char **end)
{
    uint64_t bits = 0;

    if (type[0] == 'f' && strncmp(text, "0x", 2)) {
        double wide = strtod(text, end);
        float narrow = (float)wide;
        memcpy(&bits, type_bytes(type) == 4 ? (void *)&narrow : (void *)&wide, type_bytes(type));
    } else {
        bits = *text == '-' ? (uint64_t)strtoll(text, end, 0) : strtoull(text, end, 0);
    }
    if (*end == text)
        stop("not a value: %s", text);
    return bits;
}

struct values {
    uint64_t *bits;
    bool *any;
    size_t count;
};

static void add_value(struct values *v, uint64_t bits, bool any, size_t times)
{
    for (; times > 0; times--) {
        if (v->count % 1024 == 0) {
            v->bits = realloc(v->bits, (v->count + 1024) * sizeof *v->bits);
            v->any = realloc(v->any, v->count + 1024);
        }
        v->bits[v->count] = bits;
        v->any[v->count++] = any;
    }
}

static size_t repetition(const char *at)
{
    if (*at == '\0')
        return 1;
    if (*at != '*' || strtoul(at + 1, NULL, 10) == 0)
        stop("expected *COUNT: %s", at);
    return strtoul(at + 1, NULL, 10);
}

static struct values parse_values(const char *type, char *text)
{
    struct values v = {0};
    const char *item;

    while ((item = word(&text))) {
        char *end;
        if (*item == '?') {
            add_value(&v, 0, true, repetition(item + 1));
            continue;
        }
        uint64_t first = bits_of(type, item, &end);
        if (end[0] == '.' && end[1] == '.') {
            int64_t from = (int64_t)first, to = strtoll(end + 2, &end, 0), step = *end == '/' ? strtoll(end + 1, &end, 0) : from <= to ? 1 : -1;
            size_t times = repetition(end);
            if (type[0] == 'f' || step == 0)
                stop("a row is of whole numbers: %s", item);
            for (; times > 0; times--)
                for (int64_t x = from; step > 0 ? x <= to : x >= to; x += step)
                    add_value(&v, (uint64_t)x, false, 1);
        } else {
            add_value(&v, first, false, repetition(end));
        }
    }
    return v;
}

/* ---- buffers ---- */

static struct buffer *buffer_named(const char *name)
{
    size_t length = strcspn(name, "+");

    for (size_t i = 0; i < buffer_count; i++)
        if (strlen(buffers[i].name) == length && !memcmp(buffers[i].name, name, length))
            return &buffers[i];
    stop("no buffer '%s'", name);
    return NULL;
}

static struct buffer *add_buffer(char **text)
{
    struct buffer *b = &buffers[buffer_count++];

    if (buffer_count > MOST_BUFFERS)
        stop("too many buffers");
    snprintf(b->name, sizeof b->name, "%s", must_word(text, "a name"));
    snprintf(b->type, sizeof b->type, "%s", must_word(text, "a type"));
    b->bytes = type_bytes(b->type);
    return b;
}

static void fill(const struct buffer *b, const struct values *v)
{
    char *bytes = malloc(b->elements * b->bytes + 1);

    if (!bytes || v->count != b->elements)
        stop("'%s' has %zu elements, and %zu values stand here", b->name, b->elements, v->count);
    for (size_t i = 0; i < v->count; i++)
        memcpy(bytes + i * b->bytes, &v->bits[i], b->bytes);
    CHECK(cudaMemcpy(b->device, bytes, b->elements * b->bytes, cudaMemcpyHostToDevice));
    free(bytes);
}

static void do_buffer(char *text)
{
    struct buffer *b = add_buffer(&text);
    struct values v = parse_values(b->type, text);

    b->elements = v.count;
    CHECK(cudaMalloc((void **)&b->device, v.count * b->bytes));
    fill(b, &v);
}

static void do_variable(char *text)
{
    struct buffer *b = add_buffer(&text);
    size_t bytes;

    CHECK(cudaLibraryGetGlobal((void **)&b->device, &bytes, library, b->name));
    b->elements = bytes / b->bytes;
}

static void do_set(char *text)
{
    struct buffer *b = buffer_named(must_word(&text, "a name"));
    struct values v = parse_values(b->type, text);

    fill(b, &v);
}

static void do_expect(char *text)
{
    struct buffer *b = buffer_named(must_word(&text, "a name"));
    struct values want = parse_values(b->type, text);
    size_t bad = 0, first = 0;
    uint64_t got = 0, seen = 0;
    char *bytes = malloc(b->elements * b->bytes + 1);

    if (!bytes || want.count != b->elements)
        stop("'%s' has %zu elements, and %zu values stand here", b->name, b->elements, want.count);
    CHECK(cudaMemcpy(bytes, b->device, b->elements * b->bytes, cudaMemcpyDeviceToHost));
    for (size_t i = want.count; i-- > 0;) {
        uint64_t expected = 0;
        memcpy(&expected, &want.bits[i], b->bytes);
        seen = 0;
        memcpy(&seen, bytes + i * b->bytes, b->bytes);
        if (!want.any[i] && seen != expected) {
            bad++;
            first = i;
            got = seen;
        }
    }
    if (bad)
        wrong("%s[%zu] is 0x%llx, expected 0x%llx (%zu of %zu differ)", b->name, first, (unsigned long long)got,
              (unsigned long long)(want.bits[first] & (UINT64_MAX >> (64 - 8 * b->bytes))), bad, want.count);
    free(bytes);
}

/* ---- launches ---- */

static void settle(void)
{
    if (!ended_known) {
        fprintf(stderr, "%s:%u: the launch before failed: %s\n", file, line_number, cudaGetErrorName(ended));
        exit(3);
    }
}

static void parse_size(dim3 *size, const char *text)
{
    unsigned *part[] = {&size->x, &size->y, &size->z};
    char *at = (char *)text;

    for (int i = 0; i < 3 && *at; i++) {
        *part[i] = (unsigned)strtoul(at, &at, 10);
        at += *at == ',';
    }
}

static uint64_t argument_of(const char *text)
{
    static uint64_t on_the_host[512];
    const char *colon = strchr(text, ':'), *plus = strchr(text, '+');
    char type[8] = "", *end;

    if (!strcmp(text, "host"))
        return (uint64_t)(uintptr_t)on_the_host;
    if (!colon)
        return (uint64_t)(uintptr_t)buffer_named(text)->device + (plus ? strtoull(plus + 1, NULL, 0) : 0);
    snprintf(type, sizeof type, "%.*s", (int)(colon - text), text);
    return bits_of(type, colon + 1, &end);
}

static void do_launch(char *text)
{
    dim3 grid = {1, 1, 1}, block = {32, 1, 1};
    size_t shared = 0;
    uint64_t values[MOST_ARGUMENTS];
    void *arguments[MOST_ARGUMENTS];
    size_t count = 0;
    bool cooperative = false;
    cudaKernel_t kernel;
    const char *name = must_word(&text, "a kernel"), *next;

    settle();
    while ((next = word(&text)) && strcmp(next, "args"))
        if (!strcmp(next, "grid"))
            parse_size(&grid, must_word(&text, "a size"));
        else if (!strcmp(next, "block"))
            parse_size(&block, must_word(&text, "a size"));
        else if (!strcmp(next, "shared"))
            shared = strtoull(must_word(&text, "a number of bytes"), NULL, 0);
        else if (!strcmp(next, "cooperative"))
            cooperative = true;
        else
            stop("unknown word '%s'", next);
    for (; (next = word(&text)) && count < MOST_ARGUMENTS; count++) {
        values[count] = argument_of(next);
        arguments[count] = &values[count];
    }
    CHECK(cudaLibraryGetKernel(&kernel, library, name));
    ended = (cooperative ? cudaLaunchCooperativeKernel : cudaLaunchKernel)((const void *)kernel, grid, block, arguments, shared, NULL);
    if (ended == cudaSuccess)
        ended = cudaDeviceSynchronize();
    cudaGetLastError();
    ended_known = ended == cudaSuccess;
}

static void do_fails(char *text)
{
    const char *name = must_word(&text, "an error's name");

    if (strcmp(name, cudaGetErrorName(ended)))
        wrong("the launch ended with %s, expected %s", cudaGetErrorName(ended), name);
    ended_known = true;
}

static void do_free(char *text)
{
    struct buffer *b = buffer_named(must_word(&text, "a name"));

    CHECK(cudaFree(b->device));
}

/* The symbols are there only where the runtime is the emulator's. */
static void do_counters(char *text)
{
    size_t (*read)(struct emulator_counter *, size_t) = NULL;
    void (*reset)(void) = NULL;
    struct emulator_counter counters[MOST_COUNTERS];
    size_t count;
    const char *item;

    *(void **)&read = dlsym(RTLD_DEFAULT, "emulator_counters");
    *(void **)&reset = dlsym(RTLD_DEFAULT, "emulator_counters_reset");
    settle();
    if (!read || !reset || (getenv("EMULATOR_COUNTERS") && !strcmp(getenv("EMULATOR_COUNTERS"), "off")))
        return;
    count = read(counters, MOST_COUNTERS);
    while ((item = word(&text))) {
        const char *equal = strchr(item, '=');
        size_t i = 0;
        if (!equal)
            stop("expected NAME=VALUE: %s", item);
        while (i < count && (strlen(counters[i].name) != (size_t)(equal - item) || memcmp(counters[i].name, item, (size_t)(equal - item))))
            i++;
        if (i == count)
            stop("no counter '%s'", item);
        if (counters[i].value < strtod(equal + 1, NULL) || counters[i].value > strtod(equal + 1, NULL))
            wrong("%s is %.17g, expected %s", counters[i].name, counters[i].value, equal + 1);
    }
    reset();
}

/* ---- the file ---- */

static void load(const char *text, const char *expected)
{
    cudaError_t error = cudaLibraryLoadFromFile(&library, file, NULL, NULL, 0, NULL, NULL, 0);

    cudaGetLastError();
    if (expected && !strcmp(cudaGetErrorName(error), expected))
        exit(0);
    if (error || expected) {
        static char log[4096];
        fprintf(stderr, "%s: loading ended with %s, expected %s\n", file, cudaGetErrorName(error), expected ? expected : "cudaSuccess");
        if (error && !load_ptx(text, log, sizeof log))
            fprintf(stderr, "%s", log);
        exit(expected ? 1 : 3);
    }
}

static void obey(char *text)
{
    static const struct {
        const char *name;
        void (*act)(char *);
    } verbs[] = {{"buffer", do_buffer}, {"variable", do_variable}, {"set", do_set},     {"launch", do_launch}, {"expect", do_expect},
                 {"counters", do_counters}, {"fails", do_fails},       {"free", do_free}};
    const char *verb = must_word(&text, "a verb");

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(verbs[i].name, verb)) {
            verbs[i].act(text);
            return;
        }
    if (strcmp(verb, "env") && strcmp(verb, "load") && strcmp(verb, "emulator"))
        stop("unknown word '%s'", verb);
}

int main(int argc, char **argv)
{
    char *text, *at, *pending = NULL;
    const char *expected = NULL;
    unsigned pending_line = 0, checks = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: ptx_run FILE.ptx\n");
        return 2;
    }
    file = argv[1];
    text = read_text(file);
    at = strstr(text, "//: load fails ");
    if (at)
        expected = strndup(at + 15, strcspn(at + 15, "\n"));
    load(text, expected);
    at = text;
    for (unsigned number = 1; ; number++) {
        size_t length = strcspn(at, "\n");
        bool last = at[length] == '\0';
        at[length] = '\0';
        if (!strncmp(at, "//: + ", 6) && pending) {
            pending = realloc(pending, strlen(pending) + length + 1);
            strcat(pending, at + 5);
        } else if (!strncmp(at, "//: ", 4) || last) {
            if (pending) {
                line_number = pending_line;
                checks += !strncmp(pending, "expect", 6) || !strncmp(pending, "fails", 5);
                obey(pending);
                free(pending);
            }
            pending = last ? NULL : strdup(at + 4);
            pending_line = number;
        }
        if (last)
            break;
        at += length + 1;
    }
    settle();
    if (checks == 0)
        stop("the test expects nothing");
    return failed;
}
