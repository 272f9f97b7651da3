/* Warp rows that change where lanes go: branches, exits, block barriers, fences, traps. */
#include "checks.h"
#include "warp.h"

enum { SPINS_BEFORE_YIELD = 64 };

/* The running group gave up its turn: run another of this warp, or tell the block. */
static int after_group(struct warp *w)
{
    if (group_next(w))
        return WARP_MOVED;
    w->status = w->live ? STATUS_WAITING : STATUS_DONE;
    return WARP_STOP;
}

/* It polls memory and may wait for lanes, warps or blocks that have not run: they get their turn. */
static int take_turns(struct warp *w, enum polling polls)
{
    if (polls == POLLS_MEMORY)
        async_progress(w->block);                          /* as far as one can see */
    if (group_yield(w) && ++w->turns_within < MOST_GROUPS) /* or its groups wait for other warps, one like the other */
        return WARP_MOVED;
    w->turns_within = 0;
    w->status = STATUS_YIELDED;
    return WARP_STOP;
}

void branch_apart(struct warp *w, const struct inst *in, uint32_t mask)
{
    if (w->counts)
        w->counts[in->number].divergent++;
    group_part(w, mask, in->target, in->number + 1, in->reconv_pc);
}

int warp_branch(struct warp *w, const struct inst *in, uint32_t mask)
{
    if (mask == w->now->mask)
        w->now->pc = in->target;
    else
        branch_apart(w, in, mask);
    if (in->spins && ++w->spins >= SPINS_BEFORE_YIELD)
        return take_turns(w, in->spins);
    return WARP_MOVED;
}

/* brx.idx: lanes part by where they go, and meet where a branch's lanes would. */
int warp_branch_indexed(struct warp *w, const struct inst *in, uint32_t mask)
{
    const uint32_t *index = warp_row32(w, in->slot[2]), *pcs = in->targets->pcs;
    bool parted = false;

    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (index[lane] >= in->targets->count)
            return warp_fault(w, in, lane, 719, "the index of an indirect branch must be below the number of its targets",
                              "indirect branch: index %u, and there are %u targets", index[lane], in->targets->count);
    }
    if (mask != w->now->mask) { /* guarded: the others go on */
        parted = true;
        group_part(w, w->now->mask & ~mask, w->now->pc + 1, w->now->pc, in->reconv_pc);
    }
    for (uint32_t rest = mask; rest;) {
        uint32_t pc = pcs[index[__builtin_ctz(rest)]], same = 0;
        for (uint32_t k = rest; k; k &= k - 1)
            same |= (uint32_t)(pcs[index[__builtin_ctz(k)]] == pc) << __builtin_ctz(k);
        rest &= ~same;
        parted |= rest != 0;
        if (rest)
            group_part(w, same, pc, w->now->pc, in->reconv_pc);
        else
            w->now->pc = pc;
    }
    if (parted && w->counts)
        w->counts[in - w->code].divergent++;
    if (in->spins && ++w->spins >= SPINS_BEFORE_YIELD)
        return take_turns(w, in->spins);
    return WARP_MOVED;
}

int warp_exit(struct warp *w, const struct inst *in, uint32_t mask)
{
    bool some_stay = mask != w->now->mask;

    (void)in;
    if (some_stay)
        w->now->pc++;
    group_exit(w, mask);
    meeting_check(w);
    return some_stay ? WARP_MOVED : after_group(w);
}

int warp_yield(struct warp *w, const struct inst *in, uint32_t mask)
{
    (void)in;
    (void)mask;
    w->now->pc++;
    return take_turns(w, POLLS_BARRIER);
}

int warp_nothing(struct warp *w, const struct inst *in, uint32_t mask)
{
    (void)w;
    (void)in;
    (void)mask;
    return WARP_NEXT;
}

/* Memory is sequentially consistent here: a fence has nothing to wait for. */
int warp_fence(struct warp *w, const struct inst *in, uint32_t mask)
{
    if (w->block->race)
        race_fence(w, mask);
    return warp_nothing(w, in, mask);
}

int warp_trap(struct warp *w, const struct inst *in, uint32_t mask)
{
    return warp_fault(w, in, __builtin_ctz(mask), 719, "a check of the program's own failed: __trap() or an assertion",
                      "trap: the kernel stopped itself");
}

/* Says what is wrong with a barrier that lanes came to. */
static __attribute__((noinline)) struct barrier *barrier_fault(struct warp *w, const struct inst *in, int lane, uint32_t id,
                                                               uint32_t threads)
{
    if (in->slot[3] && (threads == 0 || threads % WARP_SIZE || threads > DEVICE_BLOCK_THREADS))
        warp_fault(w, in, lane, 715, "a barrier's thread count is a multiple of 32", "barrier for %u threads", threads);
    else if (id >= DEVICE_BLOCK_BARRIERS)
        warp_fault(w, in, lane, 715, "a block has barriers 0 to 15", "barrier %u does not exist", id);
    else
        warp_fault(w, in, lane, FINDING | 719,
                   "move __syncthreads() out of the condition, so that every thread of the block reaches the same one",
                   "barrier divergence: threads of this block wait at two different barriers, the others at %s",
                   fault_place(w->block->grid->function, w->block->barriers[id].pc));
    return NULL;
}

/* The barrier that the lanes of `mask` name; the first to come say what it waits for. NULL: a fault was recorded. */
static inline __attribute__((always_inline)) struct barrier *barrier_reached(struct warp *w, const struct inst *in, uint32_t mask)
{
    int lane = __builtin_ctz(mask);
    uint32_t id = warp_row32(w, in->slot[2])[lane], threads = 0;
    struct block *block = w->block;
    struct barrier *barrier;

    if (in->slot[3]) {
        threads = warp_row32(w, in->slot[3])[lane];
        if (threads == 0 || threads % WARP_SIZE || threads > DEVICE_BLOCK_THREADS)
            id = DEVICE_BLOCK_BARRIERS;
    }
    if (id >= DEVICE_BLOCK_BARRIERS)
        return barrier_fault(w, in, lane, id, threads);
    barrier = &block->barriers[id];
    if (barrier->threads_here == 0) {
        block->barriers_used |= 1u << id;
        barrier->pc = in->number;
        barrier->threads_needed = (uint16_t)threads;
    } else if (barrier->pc != in->number && barrier->threads_needed == 0 && threads == 0 &&
               (block->grid->settings->checks & CHECK_SYNC)) {
        return barrier_fault(w, in, lane, id, threads);
    }
    return barrier;
}

/* Of a guarded barrier, those that take part wait; the others go on. */
static __attribute__((noinline)) void part_at_barrier(struct warp *w, uint32_t mask)
{
    group_new(w, w->now->frame, w->now->pc + 1, w->now->mask & ~mask, w->now->join);
    w->now->mask = mask;
}

/* bar.sync id [, threads]. Without a count it is __syncthreads, which all live threads must reach at the same place. */
int warp_barrier(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct barrier *barrier = barrier_reached(w, in, mask);

    if (!barrier)
        return WARP_STOP;
    if (mask != w->now->mask)
        part_at_barrier(w, mask);
    return barrier_wait(w, (uint8_t)(barrier - w->block->barriers), mask) ? WARP_STOP : after_group(w);
}

int warp_barrier_arrive(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct barrier *barrier = barrier_reached(w, in, mask);

    if (!barrier)
        return WARP_STOP;
    if (mask != w->now->mask)
        part_at_barrier(w, mask);
    if (w->block->race)
        race_arrive(w, (unsigned)(barrier - w->block->barriers), mask);
    barrier->threads_here += WARP_SIZE;
    return WARP_NEXT;
}

/* bar.red: each thread brings a predicate, and all get the same answer when the barrier opens. */
static int vote_at_barrier(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct barrier *barrier = barrier_reached(w, in, mask);
    uint32_t votes = *warp_predicate(w, in->slot[1]) ^ (in->flip & 2 ? UINT32_MAX : 0);

    if (!barrier)
        return WARP_STOP;
    barrier->answers = true;
    barrier->votes = (uint16_t)(barrier->votes + __builtin_popcount(mask & votes));
    return warp_barrier(w, in, mask);
}

int warp_barrier_popc(struct warp *w, const struct inst *in, uint32_t mask)
{
    return vote_at_barrier(w, in, mask);
}

int warp_barrier_and(struct warp *w, const struct inst *in, uint32_t mask)
{
    return vote_at_barrier(w, in, mask);
}

int warp_barrier_or(struct warp *w, const struct inst *in, uint32_t mask)
{
    return vote_at_barrier(w, in, mask);
}

void barrier_answer(char *regs, const struct inst *in, uint32_t mask, const struct barrier *barrier)
{
    uint32_t *d = (uint32_t *)(void *)(regs + in->slot[0]);

    if (in->warp == warp_barrier_popc)
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            d[__builtin_ctz(rest)] = barrier->votes;
    else if (in->warp == warp_barrier_and ? barrier->votes == barrier->threads_here : in->warp == warp_barrier_or && barrier->votes)
        *d |= mask;
    else if (in->warp == warp_barrier_and || in->warp == warp_barrier_or)
        *d &= ~mask;
}
