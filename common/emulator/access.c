/* Addresses to bytes: every access of every instruction is resolved and checked here and nowhere else. */
#include "access.h"
#include "checks.h"
#include "observer.h"
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
                   "use after free: %s of %u bytes at 0x%llx, byte %llu of %zu that cudaFree gave back", doing(a), a->bytes,
                   (unsigned long long)address, (unsigned long long)(address - freed->base), freed->bytes);
        return false;
    }
    for (uint64_t back = 0; back < 65536 && !before && back <= address; back += 256)
        before = memory_find(address - back);
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

/* A flat space of `limit` bytes at `host`. */
static bool reach_flat(struct warp *w, const struct inst *in, struct access *a, char *host, uint64_t limit)
{
    uint64_t most = limit >= a->bytes ? limit - a->bytes : 0;
    uint32_t bad = 0;

    for (int i = 0; i < WARP_SIZE; i++) {
        bad |= (uint32_t)((a->address[i] > most) | ((a->address[i] & (a->bytes - 1)) != 0)) << i;
        a->host[i] = host + a->address[i];
    }
    bad = limit >= a->bytes ? bad & a->mask : a->mask;
    if (!bad)
        return true;
    int lane = first_unaligned(a);
    if (lane >= 0)
        return misaligned(w, in, a, lane);
    return outside(w, in, a, __builtin_ctz(bad), limit);
}

static bool reach_local(struct warp *w, const struct inst *in, struct access *a)
{
    size_t bytes = w->block->grid->function->local_bytes;
    int lane = first_unaligned(a);

    if (lane >= 0)
        return misaligned(w, in, a, lane);
    for (int i = 0; i < WARP_SIZE; i++) {
        if (!(a->mask >> i & 1))
            continue;
        if (a->address[i] > bytes || bytes - a->address[i] < a->bytes)
            return outside(w, in, a, i, bytes);
        a->host[i] = w->local + (size_t)i * bytes + a->address[i];
    }
    return true;
}

static bool reach_global(struct warp *w, const struct inst *in, struct access *a)
{
    const struct allocation **last = &w->block->worker->last_reached[in - w->block->grid->function->code];
    const struct allocation *found = *last;
    uint32_t bad = a->mask;

    if (found && found->bytes >= a->bytes) { /* usually all lanes reach what the instruction reached last */
        uint64_t base = found->base, most = found->bytes - a->bytes, shift = (uint64_t)(uintptr_t)found->host - base;
        bad = 0;
        for (int i = 0; i < WARP_SIZE; i++) {
            bad |= (uint32_t)((a->address[i] - base > most) | ((a->address[i] & (a->bytes - 1)) != 0)) << i;
            a->host[i] = (char *)(uintptr_t)(a->address[i] + shift);
        }
        bad &= a->mask;
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

/* A generic address says by its window which space it is in. Lanes of one access may differ. */
static bool reach_generic(struct warp *w, const struct inst *in, struct access *a)
{
    static const struct { uint64_t window; enum space space; } windows[] = {
        {WINDOW_SHARED, SPACE_SHARED}, {WINDOW_LOCAL, SPACE_LOCAL}, {WINDOW_PARAM, SPACE_PARAM}, {0, SPACE_GLOBAL}};
    uint32_t all = a->mask;
    bool reached = true;

    for (size_t k = 0; k < sizeof windows / sizeof *windows && reached; k++) {
        struct access part = *a;
        part.mask = 0;
        for (int i = 0; i < WARP_SIZE; i++)
            if ((all >> i & 1) && (windows[k].window ? (a->address[i] & WINDOW_MASK) == windows[k].window
                                                     : (a->address[i] & WINDOW_MASK) == 0 || (a->address[i] & WINDOW_MASK) > WINDOW_PARAM))
                part.mask |= (uint32_t)1 << i;
        if (!part.mask)
            continue;
        for (int i = 0; i < WARP_SIZE; i++)
            part.address[i] -= windows[k].window;
        part.space = windows[k].space;
        reached = access_reach(w, in, &part);
        for (int i = 0; i < WARP_SIZE; i++)
            if (part.mask >> i & 1) {
                a->host[i] = part.host[i];
                a->address[i] = part.address[i];
            }
        a->space = part.space;
    }
    return reached;
}

bool access_reach(struct warp *w, const struct inst *in, struct access *a)
{
    struct grid *grid = w->block->grid;

    switch (a->space) {
    case SPACE_SHARED: return reach_flat(w, in, a, w->block->shared, grid->shared_bytes);
    case SPACE_LOCAL: return reach_local(w, in, a);
    case SPACE_PARAM: return reach_flat(w, in, a, grid->parameters, grid->function->parameter_bytes);
    case SPACE_GENERIC: return reach_generic(w, in, a);
    default: return reach_global(w, in, a);
    }
}

bool access_begin(struct warp *w, const struct inst *in, uint32_t mask, struct access *a)
{
    a->mask = mask;
    a->bytes = (unsigned)in->bytes * in->vector;
    a->space = (enum space)in->space;
    a->is_store = in->op->signature[0] == 'A';
    a->is_atomic = in->op->as == AS_ATOMIC;
    lane_addresses(w, in, a);
    if (!access_reach(w, in, a))
        return false;
    uint64_t differ = 0;
    for (int i = 0; i < WARP_SIZE; i++)
        differ |= a->address[i] ^ (a->address[0] + (uint64_t)i * a->bytes);
    a->in_order = differ == 0 && mask == UINT32_MAX && a->space != SPACE_LOCAL && a->host[31] == a->host[0] + 31 * a->bytes;
    if (w->block->worker->counts)
        count_access(&w->block->worker->counts[in - w->block->grid->function->code], a);
    if (w->block->traced && trace_wants(w))
        trace_access(w, in, a);
    if (w->block->shared_written && !init_access(w, in, a))
        return false;
    return !w->block->race || race_access(w, in, a);
}
