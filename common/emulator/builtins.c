/* Functions that the driver gives a kernel, by name: vprintf (device_printf.c), __assertfail, malloc and free. Each runs as one
 * instruction of the caller. */
#define _GNU_SOURCE
#include "builtins.h"
#include "checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

warp_fn warp_vprintf;

const char *generic_bytes(struct warp *w, int lane, uint64_t address, size_t *bytes)
{
    uint64_t offset = address & ~WINDOW_MASK;
    const struct allocation *found;

    switch (address & WINDOW_MASK) {
    case WINDOW_LOCAL:
        if (offset >= w->now->frame->top)
            return NULL;
        *bytes = w->now->frame->top - offset;
        return w->local + (size_t)lane * w->stack_limit + offset;
    case WINDOW_SHARED:
        if (offset >= w->block->grid->shared_bytes)
            return NULL;
        *bytes = w->block->grid->shared_bytes - offset;
        return w->block->shared + offset;
    case WINDOW_PARAM:
        if (offset >= w->block->grid->function->parameter_bytes)
            return NULL;
        *bytes = w->block->grid->function->parameter_bytes - offset;
        return w->block->grid->parameters + offset;
    }
    found = memory_find(address);
    if (!found)
        return NULL;
    *bytes = found->bytes - (address - found->base);
    return found->host + (address - found->base);
}

static uint64_t argument(struct warp *w, const struct inst *in, unsigned k, int lane)
{
    return passed_value(w, w->now->frame, &in->call->arguments[k], lane);
}

static void give(struct warp *w, const struct inst *in, int lane, uint64_t value)
{
    if (in->call->return_count)
        passed_set(w, w->now->frame, &in->call->returns[0], lane, value);
}

/* __assertfail(message, file, line, function, bytes a character): CUDA's own lines, one a lane, then the report. */

static void add_string(FILE *out, struct warp *w, int lane, uint64_t address)
{
    size_t bytes = 0;
    const char *text = generic_bytes(w, lane, address, &bytes);

    fprintf(out, "%.*s", text ? (int)strnlen(text, bytes) : 0, text ? text : "");
}

int warp_assertfail(struct warp *w, const struct inst *in, uint32_t mask)
{
    const struct block *b = w->block;
    const unsigned *size = b->grid->launch->block;
    char *lines = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&lines, &bytes);

    if (!out)
        abort();
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        unsigned thread = w->index * WARP_SIZE + (unsigned)lane;
        add_string(out, w, lane, argument(w, in, 1, lane));
        fprintf(out, ":%u: ", (unsigned)argument(w, in, 2, lane));
        add_string(out, w, lane, argument(w, in, 3, lane));
        fprintf(out, ": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `", b->id[0], b->id[1], b->id[2], thread % size[0],
                thread / size[0] % size[1], thread / size[0] / size[1]);
        add_string(out, w, lane, argument(w, in, 0, lane));
        fprintf(out, "` failed.\n");
    }
    fclose(out);
    warp_fault(w, in, __builtin_ctz(mask), 710, "find out why the condition that the program asserts is false here",
               "assertion failed");
    fault_preface(w, lines);
    free(lines);
    return WARP_STOP;
}

/* malloc and free. Each piece is an allocation of its own, so that an access outside it or after its end is seen; they live until
 * the program ends, whatever kernel took them. Blocks of a kernel that calls these run in one fixed interleaving. */
enum { HEAP_UNIT = 16, HEAP_LEAST = 80 }; /* an H200's neighbours of 5 bytes stand 80 bytes apart */
static size_t heap_used;

static size_t heap_bytes(size_t bytes)
{
    bytes = (bytes + HEAP_UNIT - 1) / HEAP_UNIT * HEAP_UNIT + HEAP_UNIT;
    return bytes < HEAP_LEAST ? HEAP_LEAST : bytes;
}

static uint64_t heap_take(const struct grid *grid, uint64_t bytes)
{
    void *taken;

    if (bytes > device_limits.heap || heap_bytes(bytes) > device_limits.heap - heap_used)
        return 0;
    taken = memory_allocate(bytes ? bytes : 1, MEMORY_HEAP, "device heap");
    if (!taken)
        return 0;
    heap_used += heap_bytes(bytes);
    if (grid->settings->checks & CHECK_INIT)
        init_allocated(taken, bytes ? bytes : 1);
    return (uintptr_t)taken;
}

int warp_malloc(struct warp *w, const struct inst *in, uint32_t mask)
{
    for (; mask; mask &= mask - 1)
        give(w, in, __builtin_ctz(mask), heap_take(w->block->grid, argument(w, in, 0, __builtin_ctz(mask))));
    return WARP_NEXT;
}

int warp_free(struct warp *w, const struct inst *in, uint32_t mask)
{
    const struct grid *grid = w->block->grid;

    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t address = argument(w, in, 0, lane);
        const struct allocation *found = address ? memory_find(address) : NULL;
        if (!address)
            continue;
        if (!found || found->base != address || found->kind != MEMORY_HEAP)
            return warp_fault(w, in, lane, 719, "free, once, what malloc or new gave in a kernel, and nothing else",
                              "free of 0x%llx, which %s", (unsigned long long)address,
                              memory_find_freed(address) ? "is free already" : "malloc did not give");
        heap_used -= heap_bytes(found->bytes);
        if (grid->settings->checks & CHECK_INIT)
            init_forget((void *)(uintptr_t)address);
        memory_free((void *)(uintptr_t)address);
        memset(w->block->worker->reached, 0, grid->function->count * sizeof *w->block->worker->reached);
    }
    return WARP_NEXT;
}

static void free_heap(const struct allocation *a, void *unused)
{
    (void)unused;
    if (a->kind == MEMORY_HEAP)
        memory_free((void *)(uintptr_t)a->base);
}

void heap_reset(void)
{
    memory_each_of(MEMORY_HEAP, free_heap, NULL);
    heap_used = 0;
}

static const struct {
    const char *name;
    warp_fn *run;
} builtins[] = {{"vprintf", warp_vprintf}, {"__assertfail", warp_assertfail}, {"malloc", warp_malloc}, {"free", warp_free}};

warp_fn *builtin_function(const char *name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (!strcmp(builtins[i].name, name))
            return builtins[i].run;
    return NULL;
}

bool builtin_communicates(warp_fn *builtin)
{
    return builtin == warp_malloc || builtin == warp_free;
}
