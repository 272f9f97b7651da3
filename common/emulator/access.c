/* Addresses to bytes: every access of every instruction is resolved and checked here and nowhere else. */
#include "access.h"
#include "checks.h"
#include "observer.h"
#include <stdio.h>
#include <string.h>

/* Each lane's address in the instruction's space. */
static void lane_addresses(struct warp *w, const struct inst *in, struct access *a)
{
    if (!in->has_base) {
        for (int i = 0; i < WARP_SIZE; i++)
            a->address[i] = (uint64_t)in->offset;
    } else if (in->wide_base) {
        const uint64_t *base = warp_row64(w, in->slot[4]);
        for (int i = 0; i < WARP_SIZE; i++)
            a->address[i] = base[i] + (uint64_t)in->offset;
    } else {
        const uint32_t *base = warp_row32(w, in->slot[4]);
        for (int i = 0; i < WARP_SIZE; i++)
            a->address[i] = (uint32_t)(base[i] + (uint32_t)in->offset);
    }
}

static const char *doing(const struct access *a)
{
    return a->is_atomic ? "atomic operation" : a->is_store ? "store" : "load";
}

static bool misaligned(struct warp *w, const struct inst *in, const struct access *a, int lane)
{
    warp_fault(w, in, lane, 716, "the address must be a multiple of the size of what is read or written there",
               "misaligned %s %s of %u bytes at 0x%llx", space_names[a->space], doing(a), a->bytes,
               (unsigned long long)a->address[lane]);
    return false;
}

static bool outside(struct warp *w, const struct inst *in, const struct access *a, int lane, uint64_t limit)
{
    warp_fault(w, in, lane, 700, "guard the access with the array's length, or make the array as long as the launch needs",
               "out-of-bounds %s %s of %u bytes at 0x%llx, limit 0x%llx", space_names[a->space], doing(a), a->bytes,
               (unsigned long long)a->address[lane], (unsigned long long)limit);
    return false;
}

/* Says what a global address that no allocation holds might be. */
static bool unmapped(struct warp *w, const struct inst *in, const struct access *a, int lane)
{
    uint64_t address = a->address[lane];
    const struct allocation *freed = memory_find_freed(address), *before = NULL;
    char where[160] = "";

    if (freed) {
        warp_fault(w, in, lane, 700, "keep the memory until every kernel that uses it has ended",
                   "use after free: %s of %u bytes at 0x%llx, byte %llu of %zu that %s gave back", doing(a), a->bytes,
                   (unsigned long long)address, (unsigned long long)(address - freed->base), freed->bytes,
                   freed->kind == MEMORY_HEAP ? "free" : "cudaFree");
        return false;
    }
    for (uint64_t back = 0; back < 65536 && !before && back <= address; back += 256)
        before = memory_find((address & ~(uint64_t)255) - back); /* where allocations begin */
    if (before && address >= before->base)
        snprintf(where, sizeof where, ", byte %llu of an array of %zu bytes", (unsigned long long)(address - before->base),
                 before->bytes);
    else if (address < 65536)
        snprintf(where, sizeof where, ": a null pointer, or an index from one");
    else
        snprintf(where, sizeof where, ": no device memory (a host pointer, or far outside any array)");
    warp_fault(w, in, lane, 700, "guard the access with the array's length (i < n); pass only pointers from cudaMalloc and its kin",
               "out-of-bounds global %s of %u bytes at 0x%llx%s", doing(a), a->bytes, (unsigned long long)address, where);
    return false;
}

static int first_unaligned(const struct access *a)
{
    for (int i = 0; i < WARP_SIZE; i++)
        if ((a->mask >> i & 1) && (a->address[i] & (a->bytes - 1)))
            return i;
    return -1;
}

/* Is a lane that takes part outside [first, first + most], or misaligned? All lanes in one pass: `most` and the addresses that the
 * range holds are below 2^63, so a sign tells. */
static bool any_outside(const struct access *a, const struct lanes *lanes, uint64_t first, uint64_t most)
{
    uint64_t beyond = 0, unaligned = 0;

    for (int i = 0; i < WARP_SIZE; i++) {
        uint64_t takes_part = (uint64_t)(int64_t)lanes->mask[i], at = a->address[i] - first;
        beyond |= takes_part & (at | (most - at));
        unaligned |= takes_part & a->address[i];
    }
    return (int64_t)beyond < 0 || (unaligned & (a->bytes - 1));
}

/* A flat space of `limit` bytes at `host`. */
static bool reach_flat(struct warp *w, const struct inst *in, struct access *a, const struct lanes *lanes, char *host,
                       uint64_t limit)
{
    for (int i = 0; i < WARP_SIZE; i++)
        a->host[i] = (char *)((uintptr_t)host + a->address[i]);
    if (limit >= a->bytes && !any_outside(a, lanes, 0, limit - a->bytes))
        return true;
    int lane = first_unaligned(a);
    if (lane >= 0)
        return misaligned(w, in, a, lane);
    for (lane = __builtin_ctz(a->mask); limit >= a->bytes && a->address[lane] <= limit - a->bytes;)
        lane = __builtin_ctz(a->mask & (UINT32_MAX << lane << 1));
    return outside(w, in, a, lane, limit);
}

static bool reach_local(struct warp *w, const struct inst *in, struct access *a)
{
    uint64_t top = w->now->frame->top; /* beyond lies nothing yet, or what a function that has returned left */
    int lane = first_unaligned(a);

    if (lane >= 0)
        return misaligned(w, in, a, lane);
    for (int i = 0; i < WARP_SIZE; i++) {
        if (!(a->mask >> i & 1))
            continue;
        if (a->address[i] > top || top - a->address[i] < a->bytes)
            return outside(w, in, a, i, top);
        a->host[i] = w->local + (size_t)i * w->stack_limit + a->address[i];
    }
    return true;
}

static bool reach_global(struct warp *w, const struct inst *in, struct access *a, const struct lanes *lanes)
{
    const struct allocation **last = &w->block->worker->last_reached[in->number];
    const struct allocation *found = *last;
    uint32_t bad = a->mask;

    if (found && found->bytes >= a->bytes && !any_outside(a, lanes, found->base, found->bytes - a->bytes)) {
        uintptr_t shift = (uintptr_t)found->host - found->base;
        for (int i = 0; i < WARP_SIZE; i++)
            a->host[i] = (char *)(a->address[i] + shift);
        return true; /* usual: all lanes reach what the instruction reached last */
    }
    for (; bad; bad &= bad - 1) {
        int lane = __builtin_ctz(bad);
        if (a->address[lane] & (a->bytes - 1))
            return misaligned(w, in, a, lane);
        if (!found || a->address[lane] - found->base >= found->bytes)
            found = memory_find(a->address[lane]);
        if (!found || found->bytes - (a->address[lane] - found->base) < a->bytes)
            return unmapped(w, in, a, lane);
        if (found->kind == MEMORY_CONSTANT && (a->is_store || a->is_atomic)) {
            warp_fault(w, in, lane, 700, "a __constant__ variable is written by cudaMemcpyToSymbol alone",
                       "write to constant memory: %s at 0x%llx (%s)", doing(a), (unsigned long long)a->address[lane],
                       found->name ? found->name : "");
            return false;
        }
        a->host[lane] = found->host + (a->address[lane] - found->base);
        *last = found;
    }
    return true;
}

static bool reach(struct warp *w, const struct inst *in, struct access *a, const struct lanes *lanes);

/* A generic address says by its window which space it is in. Lanes of one access may differ. */
static bool reach_generic(struct warp *w, const struct inst *in, struct access *a)
{
    static const struct {
        uint64_t window;
        enum space space;
    } windows[] = {{WINDOW_SHARED, SPACE_SHARED}, {WINDOW_LOCAL, SPACE_LOCAL}, {WINDOW_PARAM, SPACE_PARAM}, {0, SPACE_GLOBAL}};
    uint32_t all = a->mask;
    bool reached = true;

    for (size_t k = 0; k < sizeof windows / sizeof *windows && reached; k++) {
        struct access part = *a;
        part.mask = 0;
        for (int i = 0; i < WARP_SIZE; i++)
            if ((all >> i & 1) &&
                (windows[k].window ? (a->address[i] & WINDOW_MASK) == windows[k].window
                                   : (a->address[i] & WINDOW_MASK) == 0 || (a->address[i] & WINDOW_MASK) > WINDOW_PARAM))
                part.mask |= (uint32_t)1 << i;
        if (!part.mask)
            continue;
        all &= ~part.mask; /* its addresses are about to lose their window */
        for (int i = 0; i < WARP_SIZE; i++)
            part.address[i] -= windows[k].window;
        part.space = windows[k].space;
        struct lanes lanes;
        lanes_set(&lanes, part.mask);
        reached = reach(w, in, &part, &lanes);
        for (int i = 0; i < WARP_SIZE; i++)
            if (part.mask >> i & 1) {
                a->host[i] = part.host[i];
                a->address[i] = part.address[i];
            }
        a->space = part.space;
    }
    return reached;
}

/* From mask, bytes, space and addresses to host pointers. */
static bool reach(struct warp *w, const struct inst *in, struct access *a, const struct lanes *lanes)
{
    struct grid *grid = w->block->grid;

    switch (a->space) {
    case SPACE_SHARED: return reach_flat(w, in, a, lanes, w->block->shared, grid->shared_bytes);
    case SPACE_LOCAL: return reach_local(w, in, a);
    case SPACE_PARAM: return reach_flat(w, in, a, lanes, grid->parameters, grid->function->parameter_bytes);
    case SPACE_GENERIC: return reach_generic(w, in, a);
    default: return reach_global(w, in, a, lanes);
    }
}

/* Do the lanes that take part read or write neighbours in memory, as they are neighbours in the row? Rows are compared whole,
 * whoever takes part, so that this is SIMD. */
static bool rows_in_order(struct warp *w, const struct inst *in, const struct lanes *lanes, struct access *a, int first)
{
    const int shift = __builtin_ctz(a->bytes); /* a power of two */

    if (in->wide_base) {
        const uint64_t *base = warp_row64(w, in->slot[4]);
        uint64_t differ = 0, want = base[first] - ((uint64_t)first << shift);
        for (int i = 0; i < WARP_SIZE; i++)
            differ |= (base[i] ^ (want + ((uint64_t)i << shift))) & (uint64_t)(int64_t)lanes->mask[i];
        a->start = want + (uint64_t)in->offset;
        return differ == 0;
    }
    const uint32_t *base = warp_row32(w, in->slot[4]);
    uint32_t differ = 0, want = base[first] - ((uint32_t)first << shift);
    for (int i = 0; i < WARP_SIZE; i++)
        differ |= (base[i] ^ (want + ((uint32_t)i << shift))) & (uint32_t)lanes->mask[i];
    a->start = (uint64_t)(uint32_t)(base[first] + (uint32_t)in->offset) - ((uint64_t)first << shift);
    return differ == 0;
}

/* The usual access: lanes in order, all inside one array. Anything else, right or wrong, goes the long way. */
static bool reach_in_order(struct warp *w, const struct inst *in, const struct lanes *lanes, struct access *a)
{
    int first = __builtin_ctz(a->mask), last = 31 - __builtin_clz(a->mask);
    uint64_t base = 0, limit, low, bytes = (uint64_t)(last - first + 1) * a->bytes;
    char *host;

    if (!in->has_base || !rows_in_order(w, in, lanes, a, first))
        return false;
    if (a->space == SPACE_SHARED) {
        host = w->block->shared;
        limit = w->block->grid->shared_bytes;
    } else if (a->space == SPACE_GLOBAL) {
        const struct allocation *found = w->block->worker->last_reached[in->number];
        if (!found)
            return false;
        base = found->base;
        host = found->host;
        limit = found->bytes;
    } else {
        return false;
    }
    low = a->start + (uint64_t)first * a->bytes;
    if ((low & (a->bytes - 1)) || low - base >= limit || limit - (low - base) < bytes)
        return false;
    a->host_start = (char *)((uintptr_t)host + (uintptr_t)(a->start - base));
    return true;
}

void access_spread(struct access *a)
{
    for (unsigned i = 0; i < WARP_SIZE && a->in_order; i++) {
        a->address[i] = a->start + (uint64_t)i * a->bytes;
        a->host[i] = (char *)((uintptr_t)a->host_start + (uintptr_t)i * a->bytes);
    }
}

bool access_begin_short(struct warp *w, const struct inst *in, uint32_t mask, struct access *a)
{
    const struct lanes *lanes = &w->lanes;
    struct lanes some;

    a->mask = mask;
    a->bytes = (unsigned)in->bytes * in->vector;
    a->space = (enum space)in->space;
    a->is_store = in->op->signature[0] == 'A';
    a->is_atomic = in->op->as == AS_ATOMIC;
    if (mask != w->lanes.bits) {
        lanes_set(&some, mask);
        lanes = &some;
    }
    a->in_order = reach_in_order(w, in, lanes, a);
    if (!a->in_order) {
        lane_addresses(w, in, a);
        if (!reach(w, in, a, lanes))
            return false;
    }
    if (w->counts)
        count_access(&w->counts[in->number], a);
    if (!w->watched)
        return true;
    access_spread(a);
    if (w->traced)
        trace_access(w, in, a);
    if (w->block->shared_written && !init_access(w, in, a))
        return false;
    return !w->block->race || race_access(w, in, a);
}

bool access_begin(struct warp *w, const struct inst *in, uint32_t mask, struct access *a)
{
    bool begun = access_begin_short(w, in, mask, a);

    access_spread(a);
    return begun;
}
