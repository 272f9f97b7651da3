/* How the lanes of a warp part at a branch and meet again.
 *
 * The rule: lanes that parted at a branch wait for each other where their paths join, the branch's immediate post-dominator.
 * A group of lanes with one pc runs at a time. Each parting makes a `join` that knows which lanes it expects; a group that comes
 * to its join's pc dissolves into it, and when all expected lanes have come they go on as one group, under the join of the group
 * that had parted. Lanes that exit are expected no longer. A branch inside a loop that meets at the same place as an enclosing
 * parting shares its join, so a loop makes one join however often its lanes leave.
 *
 * Calls are partings too. Lanes that call together expect each other behind the call, whatever functions they call and however
 * they part there; ret brings a lane to that join. A join belongs to one activation of its function: lanes of another activation
 * that come to the same pc pass it by.
 *
 * Since Volta lanes also progress independently: when no group can run, or the running one has spun long in a loop that polls
 * memory, the one that has waited longest goes on: a runnable group, or the lanes that wait at a join, which then stop waiting for
 * the others. Nothing else releases a join, so instruction counts stay those of structured execution. This is a model: a GPU may
 * interleave both sides of a branch. */
#include "warp.h"
#include <stdlib.h>
#include <string.h>

/* At most 31 joins of partings can be in use: each stands for lanes that are elsewhere. Each call that has not returned adds one.
 */
static void joins_grow(struct warp *w)
{
    w->join_room = w->join_room ? 2 * w->join_room : 64;
    w->joins = realloc(w->joins, (size_t)w->join_room * sizeof *w->joins);
    if (!w->joins)
        abort();
    memset(w->joins + w->join_top, 0, (size_t)(w->join_room - w->join_top) * sizeof *w->joins);
}

static inline int take_join(struct warp *w, struct frame *frame, uint32_t pc, uint32_t expected, int parent)
{
    int j = w->join_free;

    while (j < w->join_top && w->joins[j].used)
        j++;
    if (j == w->join_room)
        joins_grow(w);
    w->join_free = j + 1;
    if (j >= w->join_top)
        w->join_top = j + 1;
    w->joins[j] = (struct join){.used = true, .pc = pc, .frame = frame, .expected = expected, .parent = parent};
    return j;
}

int join_new(struct warp *w, struct frame *frame, uint32_t pc, uint32_t expected, int parent)
{
    return take_join(w, frame, pc, expected, parent);
}

struct group *group_new(struct warp *w, struct frame *frame, uint32_t pc, uint32_t mask, int join)
{
    for (int g = 0; g < MOST_GROUPS; g++)
        if (w->groups[g].state == GROUP_FREE) {
            if (g >= w->group_top)
                w->group_top = g + 1;
            w->groups[g] =
                (struct group){.state = GROUP_RUNNABLE, .pc = pc, .mask = mask, .frame = frame, .join = join, .since = w->turn++};
            return &w->groups[g];
        }
    __builtin_trap(); /* 32 lanes cannot make 33 groups */
}

void group_run(struct warp *w, struct group *group)
{
    w->now = group;
    w->regs = group->frame->regs;
    w->spins = 0;
    w->whole = group->mask == w->live;
}

void group_part(struct warp *w, uint32_t taken, uint32_t target, uint32_t next_pc, uint32_t reconv_pc)
{
    struct group *now = w->now;
    int join = now->join;

    if (reconv_pc != NO_PC && !(join >= 0 && w->joins[join].pc == reconv_pc && w->joins[join].frame == now->frame))
        join = take_join(w, now->frame, reconv_pc, now->mask, now->join);
    now->join = join;
    if (target == reconv_pc || next_pc == reconv_pc) { /* one side is at its meeting place already */
        uint32_t there = target == reconv_pc ? taken : now->mask & ~taken;
        if (!w->joins[join].arrived)
            w->joins[join].since = w->turn++;
        w->joins[join].arrived |= there;
        now->mask &= ~there;
        now->pc = target == reconv_pc ? next_pc : target;
    } else {
        group_new(w, now->frame, target, taken, join);
        now->mask &= ~taken;
        now->pc = next_pc;
    }
    group_run(w, now);
}

/* Everybody a join expects has come, or nobody is left to come: its lanes go on. */
static struct group *join_complete(struct warp *w, int j)
{
    struct join *join = &w->joins[j];

    while (join->used && join->arrived == join->expected) {
        int parent = join->parent;
        uint32_t mask = join->arrived;
        join->used = false;
        if (join - w->joins < w->join_free)
            w->join_free = (int)(join - w->joins);
        if (mask)
            return group_new(w, join->frame, join->pc, mask, parent);
        if (parent < 0)
            break;
        join = &w->joins[parent];
    }
    return NULL;
}

/* Lanes will not come to join j nor to those around it. */
static void joins_forget(struct warp *w, int j, uint32_t mask)
{
    while (j >= 0) {
        int parent = w->joins[j].parent;
        w->joins[j].expected &= ~mask;
        join_complete(w, j);
        j = parent;
    }
}

/* All others that join `j` expects wait there: the running group takes them in and goes on. */
static void join_lead(struct warp *w, struct join *join)
{
    struct group *now = w->now;

    join->used = false;
    if (join - w->joins < w->join_free)
        w->join_free = (int)(join - w->joins);
    now->mask = join->expected;
    now->join = join->parent;
    now->since = w->turn++;
    w->spins = 0;
    w->whole = now->mask == w->live;
}

bool group_arrive(struct warp *w)
{
    bool moved = false;

    while (w->now->join >= 0 && w->joins[w->now->join].pc == w->now->pc && w->joins[w->now->join].frame == w->now->frame) {
        struct join *join = &w->joins[w->now->join];
        if ((join->arrived | w->now->mask) == join->expected) {
            join_lead(w, join);
            continue;
        }
        if (!join->arrived)
            join->since = w->turn++;
        join->arrived |= w->now->mask;
        w->now->state = GROUP_FREE;
        moved = true;
        if (!group_next(w))
            return true;
    }
    return moved;
}

/* The newest runnable group: depth first, as a stack of partings would have it. */
static struct group *newest(struct warp *w)
{
    struct group *best = NULL;

    for (int g = 0; g < w->group_top; g++)
        if (w->groups[g].state == GROUP_RUNNABLE && (!best || w->groups[g].since > best->since))
            best = &w->groups[g];
    return best;
}

/* The lanes that have waited longest at a join, as a group that waits no longer. */
static struct group *release_oldest(struct warp *w, uint64_t before)
{
    struct join *oldest = NULL;
    uint32_t mask;

    for (int j = 0; j < w->join_top; j++)
        if (w->joins[j].used && w->joins[j].arrived && w->joins[j].since < before && (!oldest || w->joins[j].since < oldest->since))
            oldest = &w->joins[j];
    if (!oldest)
        return NULL;
    mask = oldest->arrived;
    oldest->arrived = 0;
    oldest->expected &= ~mask;
    return group_new(w, oldest->frame, oldest->pc, mask, oldest->parent);
}

bool group_next(struct warp *w)
{
    struct group *next = newest(w);

    if (!next)
        next = release_oldest(w, UINT64_MAX);
    w->now = next;
    if (next)
        group_run(w, next);
    return next != NULL;
}

void group_exit(struct warp *w, uint32_t mask)
{
    struct group *now = w->now;

    w->live &= ~mask;
    w->block->live -= (uint32_t)__builtin_popcount(mask);
    now->mask &= ~mask;
    if (!now->mask)
        now->state = GROUP_FREE;
    joins_forget(w, now->join, mask);
    if (now->frame->caller)
        frames_forget(w, now->frame, mask);
    if (now->mask)
        group_run(w, now);
}

bool group_yield(struct warp *w)
{
    struct group *spinner = w->now, *oldest = NULL;

    for (int g = 0; g < w->group_top; g++)
        if (&w->groups[g] != spinner && w->groups[g].state == GROUP_RUNNABLE && (!oldest || w->groups[g].since < oldest->since))
            oldest = &w->groups[g];
    struct group *released = release_oldest(w, oldest ? oldest->since : UINT64_MAX);
    if (released)
        oldest = released;
    spinner->since = w->turn++;
    w->spins = 0;
    if (oldest)
        group_run(w, oldest);
    return oldest != NULL;
}
