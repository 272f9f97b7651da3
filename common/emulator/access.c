/* Addresses to bytes: every access of every instruction is resolved and checked here and nowhere else. */
#include "access.h"
#include "checks.h"
#include "observer.h"
#include "simd.h"
#include <stdio.h>
#include <stdlib.h>
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

static const char *doing(const struct inst *in, const struct access *a)
{
    return in->op->as == AS_MBARRIER ? in->op->mnemonic : a->is_atomic ? "atomic operation" : a->is_store ? "store" : "load";
}

static bool misaligned(struct warp *w, const struct inst *in, const struct access *a, int lane)
{
    warp_fault(w, in, lane, 716, "the address must be a multiple of the size of what is read or written there",
               "misaligned %s %s of %u bytes at 0x%llx", space_names[a->space], doing(in, a), a->bytes,
               (unsigned long long)a->address[lane]);
    return false;
}

static bool outside(struct warp *w, const struct inst *in, const struct access *a, int lane, uint64_t limit)
{
    warp_fault(w, in, lane, 700, "guard the access with the array's length, or make the array as long as the launch needs",
               "out-of-bounds %s %s of %u bytes at 0x%llx, limit 0x%llx", space_names[a->space], doing(in, a), a->bytes,
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
                   "use after free: %s of %u bytes at 0x%llx, byte %llu of %zu that %s gave back", doing(in, a), a->bytes,
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
               "out-of-bounds global %s of %u bytes at 0x%llx%s", doing(in, a), a->bytes, (unsigned long long)address, where);
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
    const struct allocation **last = &w->block->worker->reached[in->number].allocation;
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
                       "write to constant memory: %s at 0x%llx (%s)", doing(in, a), (unsigned long long)a->address[lane],
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
                a->space_of[i] = (uint8_t)part.space;
            }
        a->shape = a->space == SPACE_GENERIC ? SHAPE_APART : SHAPE_MIXED;
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

/* Any addresses, all where an access usually goes. A lane is outside or misaligned where one of three numbers is negative: how far
 * it is from the start, how far from the last place, and what is left of its alignment, turned round. */
static bool reach_near(struct warp *w, const struct inst *in, struct access *a)
{
    const struct allocation *found = access_usual(w, in);
    const int32_t odd = (int32_t)a->bytes - 1;
    int32_t most, bad32[WARP_SIZE];
    int64_t bad64[WARP_SIZE];
    uint32_t bad;

    if (!found || found->bytes < a->bytes || found->bytes > INT32_MAX || (found->base & (uint64_t)odd) ||
        (!in->wide_base && a->space != SPACE_SHARED))
        return false;
    most = (int32_t)(found->bytes - a->bytes);
    if (in->wide_base) {
        const uint64_t *base = warp_row64(w, in->slot[4]), shift = (uint64_t)in->offset - found->base;
        for (int i = 0; i < WARP_SIZE; i++) {
            int64_t at = (int64_t)(base[i] + shift);
            bad64[i] = at | (most - at) | -(at & odd);
            a->near[i] = (int32_t)at;
        }
        bad = signs_of_64(bad64);
    } else {
        const uint32_t *base = warp_row32(w, in->slot[4]), offset = (uint32_t)in->offset, all = 0 - (uint32_t)in->has_base;
        for (int i = 0; i < WARP_SIZE; i++) {
            int32_t at = (int32_t)((base[i] & all) + offset);
            bad32[i] = at | (int32_t)((uint32_t)most - (uint32_t)at) | -(at & odd);
            a->near[i] = at;
        }
        bad = signs_of_32(bad32);
    }
    if (bad & a->mask)
        return false;
    a->shape = SHAPE_NEAR;
    a->start = found->base;
    a->host_start = found->host;
    if (a->space == SPACE_GENERIC)
        a->space = SPACE_GLOBAL;
    return true;
}

void access_spread(struct access *a)
{
    if (a->shape != SHAPE_NEAR)
        return;
    for (int i = 0; i < WARP_SIZE; i++) {
        a->address[i] = a->start + (uint64_t)(int64_t)a->near[i];
        a->host[i] = a->host_start + a->near[i];
    }
}

void access_fix(struct warp *w)
{
    const struct function *f = w->block->grid->function;
    const uint64_t limit = w->block->grid->shared_bytes;
    struct access a;

    w->fixed = calloc(f->fixed_count + 1, sizeof *w->fixed);
    if (!w->fixed)
        abort();
    for (uint32_t pc = 0; pc < f->count; pc++) {
        const struct inst *in = &f->code[pc];
        struct fixed *fixed = &w->fixed[in->fixed];
        if (!in->fixed)
            continue;
        lane_addresses(w, in, &a);
        fixed->known = limit >= in->access_bytes && limit <= INT32_MAX;
        fixed->is_row = in->row != ROW_NONE;
        for (uint32_t i = 0; i < WARP_SIZE && fixed->known; i++) {
            fixed->known = a.address[i] <= limit - in->access_bytes && a.address[i] % in->access_bytes == 0;
            fixed->near[i] = (int32_t)a.address[i];
            fixed->is_row &= a.address[i] == a.address[0] + i * in->bytes;
        }
    }
}

static bool reach_fixed(struct warp *w, const struct inst *in, struct access *a)
{
    const struct fixed *fixed = &w->fixed[in->fixed];

    if (!fixed->known)
        return false;
    a->shape = SHAPE_NEAR;
    a->start = 0;
    a->host_start = w->block->shared;
    memcpy(a->near, fixed->near, sizeof a->near);
    return true;
}

/* Resolves and checks the addresses. */
static inline __attribute__((always_inline)) bool access_resolve(struct warp *w, const struct inst *in, uint32_t mask,
                                                                 struct access *a)
{
    struct lanes others;

    a->mask = mask;
    a->bytes = in->access_bytes;
    a->space = (enum space)in->space;
    a->is_store = in->is_store;
    a->is_atomic = in->is_atomic;
    if (in->fixed ? reach_fixed(w, in, a) : reach_near(w, in, a))
        return true;
    a->shape = SHAPE_APART;
    lane_addresses(w, in, a);
    return reach(w, in, a, warp_lanes(w, mask, &others));
}

static bool check_space(struct warp *w, const struct inst *in, const struct access *a)
{
    if ((w->block->shared_written || w->block->race) && !copy_untouched(w, in, a))
        return false;
    if (w->block->shared_written && (a->is_store || in->op->as != AS_MBARRIER) && !init_access(w, in, a))
        return false; /* whether there is a barrier, ops_async.c knows */
    return !w->block->race || race_access(w, in, a);
}

/* Of addresses in one space. */
static bool watch_space(struct warp *w, const struct inst *in, struct access *a)
{
    struct access read;
    uint32_t bytes_read;

    access_spread(a);
    if (w->traced)
        trace_access(w, in, a);
    if (!in->unread || a->bytes > 32 || !(bytes_read = ~in->unread & (uint32_t)((UINT64_C(1) << a->bytes) - 1)))
        return check_space(w, in, a);
    read = *a;
    read.bytes = 32 - (unsigned)__builtin_clz(bytes_read); /* those at the end are nobody's business */
    return check_space(w, in, &read);
}

__attribute__((noinline)) bool access_watch(struct warp *w, const struct inst *in, struct access *a)
{
    if (a->shape != SHAPE_MIXED)
        return watch_space(w, in, a);
    for (int space = SPACE_GLOBAL; space <= SPACE_PARAM; space++) {
        struct access part = *a;
        part.shape = SHAPE_APART;
        part.space = (enum space)space;
        for (int i = 0; i < WARP_SIZE; i++)
            part.mask &= ~((uint32_t)(a->space_of[i] != space) << i);
        if (part.mask && !watch_space(w, in, &part))
            return false;
    }
    return true;
}

bool access_begin_short(struct warp *w, const struct inst *in, uint32_t mask, struct access *a)
{
    if (!access_resolve(w, in, mask, a))
        return false;
    if (w->counts)
        count_access(&w->counts[in->number], a);
    return !w->watched || access_watch(w, in, a);
}

bool access_reach(struct warp *w, const struct inst *in, uint32_t mask, struct access *a)
{
    if (!access_resolve(w, in, mask, a))
        return false;
    access_spread(a);
    return true;
}

bool access_begin_uncounted(struct warp *w, const struct inst *in, uint32_t mask, struct access *a)
{
    return access_reach(w, in, mask, a) && (!w->watched || access_watch(w, in, a));
}

bool access_begin(struct warp *w, const struct inst *in, uint32_t mask, struct access *a)
{
    bool begun = access_begin_short(w, in, mask, a);

    access_spread(a);
    return begun;
}
