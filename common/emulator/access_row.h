/* The usual access, quickly: its lanes are a row in memory. One look finds that out, and where. */
#ifndef ACCESS_ROW_H
#define ACCESS_ROW_H
#include "access.h"
#include "simd.h"

/* Is the base of each lane of `mask` the one before and `bytes`? All lanes are compared, whoever takes part, so that this is SIMD.
 */
static inline __attribute__((always_inline)) bool is_row32(const uint32_t *base, uint32_t first, uint32_t mask, uint32_t bytes)
{
    uint32_t want = base[first] - first * bytes;
    int32_t same[WARP_SIZE];

    for (uint32_t i = 0; i < WARP_SIZE; i++)
        same[i] = base[i] == want + i * bytes ? -1 : 0;
    return !(~signs_of_32(same) & mask);
}

static inline __attribute__((always_inline)) bool is_row64(const uint64_t *base, uint32_t first, uint32_t mask, uint64_t bytes)
{
    uint64_t want = base[first] - first * bytes, differ = 0;
    int64_t same[WARP_SIZE];

    if (mask == UINT32_MAX) {
        for (uint64_t i = 0; i < WARP_SIZE; i++)
            differ |= base[i] ^ (want + i * bytes);
        return !differ;
    }
    for (uint64_t i = 0; i < WARP_SIZE; i++)
        same[i] = base[i] == want + i * bytes ? -1 : 0;
    return !(~signs_of_64(same) & mask);
}

/* A grid-stride loop comes back to memory too far on for the processor to foresee: whoever went so far goes on by as much. */
static inline void access_foresee(struct warp *w, const struct inst *in, const char *row, uint32_t bytes)
{
    enum { AHEAD = 4, CACHE_LINE = 64 };
    struct reached *reached = &w->block->worker->reached[in->number];
    uintptr_t next = (uintptr_t)row + AHEAD * ((uintptr_t)row - (uintptr_t)reached->row);

    reached->row = row;
    for (uint32_t at = 0; at < bytes * WARP_SIZE; at += CACHE_LINE)
        __builtin_prefetch((const void *)(next + at));
}

/* `wide` and `bytes` are constants where this is called. */
static inline __attribute__((always_inline)) char *row_in(struct warp *w, const struct inst *in, uint32_t mask,
                                                          const struct allocation *a, bool wide, uint32_t bytes)
{
    uint32_t first = (uint32_t)__builtin_ctz(mask), behind = WARP_SIZE - (uint32_t)__builtin_clz(mask);
    uint64_t offset = (uint64_t)in->offset, span = bytes * (behind - first), start;
    char *row;

    if (wide ? !is_row64(warp_row64(w, in->slot[4]), first, mask, bytes)
             : !is_row32(warp_row32(w, in->slot[4]), first, mask, bytes))
        return NULL;
    start = wide ? warp_row64(w, in->slot[4])[first] + offset : (uint32_t)(warp_row32(w, in->slot[4])[first] + (uint32_t)offset);
    if ((start & (bytes - 1)) || span > a->bytes || start - a->base > a->bytes - span)
        return NULL;
    start -= first * bytes;
    if (w->counts)
        count_row(&w->counts[in->number], in, mask, start);
    row = (char *)((uintptr_t)a->host + (uintptr_t)(start - a->base));
    if (wide)
        access_foresee(w, in, row, bytes);
    return row;
}

static inline char *fixed_row(struct warp *w, const struct inst *in, uint32_t mask)
{
    int32_t start = w->fixed[in->fixed].near[0];

    if (w->counts)
        count_row(&w->counts[in->number], in, mask, (uint64_t)start);
    return w->block->shared + start;
}

/* Of a row inside the block's shared memory or the array that the instruction reached last, while only counters listen: where lane
 * 0's bytes are or would be. NULL: access_begin knows more. */
static inline __attribute__((always_inline)) char *access_row(struct warp *w, const struct inst *in, uint32_t mask)
{
    const struct allocation *a = access_usual(w, in);

    if (w->watched || !a)
        return NULL;
    if (in->fixed && w->fixed[in->fixed].known)
        return w->fixed[in->fixed].is_row ? fixed_row(w, in, mask) : NULL;
    switch (in->row) {
    case ROW_32_4: return row_in(w, in, mask, a, false, 4);
    case ROW_32_8: return row_in(w, in, mask, a, false, 8);
    case ROW_64_4: return row_in(w, in, mask, a, true, 4);
    case ROW_64_8: return row_in(w, in, mask, a, true, 8);
    default: return NULL;
    }
}
#endif
