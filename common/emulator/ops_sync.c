/* Warp rows in which lanes meet: __syncwarp, shuffles, votes, match, redux.
 *
 * A lane that names others in its mask waits until each of them that has not exited has come to an instruction of the same kind
 * with the same mask; they need not be in one group nor at one pc. What each lane brings is gathered when it comes; when all are
 * there, each group finishes with its own instruction. None of these orders memory but __syncwarp. */
#include "checks.h"
#include "simd.h"
#include "warp.h"
#include <string.h>

typedef void finish_fn(struct warp *w, const struct inst *in, uint32_t mask);

static void gather(struct warp *w, const struct inst *in, uint32_t mask)
{
    const char *signature = in->op->signature;
    bool has_p = strchr(signature, 'p') != NULL, has_a = strchr(signature, 'a') != NULL;
    const uint32_t *names = warp_row32(w, in->slot[5]);
    uint32_t predicate = has_p ? *warp_predicate(w, in->slot[2]) ^ (in->flip & 4 ? UINT32_MAX : 0) : 0;

    for (int i = 0; i < WARP_SIZE; i++) {
        if (!(mask >> i & 1))
            continue;
        w->meeting[i].mask = names[i];
        if (has_p)
            w->meeting[i].value = predicate >> i & 1;
        else if (has_a)
            w->meeting[i].value = in->bytes == 8 ? warp_row64(w, in->slot[2])[i] : warp_row32(w, in->slot[2])[i];
        if (in->op->as == AS_SHUFFLE) {
            w->meeting[i].b = warp_row32(w, in->slot[3])[i];
            w->meeting[i].c = warp_row32(w, in->slot[4])[i];
        }
    }
}

/* Lanes at a meeting of this kind, whatever their group. */
static uint32_t lanes_waiting(const struct warp *w, finish_fn *finish)
{
    uint32_t lanes = 0;

    for (int g = 0; g < w->group_top; g++)
        if (w->groups[g].state == GROUP_AT_MEETING && w->groups[g].finish == finish)
            lanes |= w->groups[g].mask;
    return lanes;
}

/* Those of `lanes` whose named live lanes are all in `here` with the same mask. */
static uint32_t satisfied(const struct warp *w, uint32_t lanes, uint32_t here)
{
    uint32_t done = 0;

    for (int i = 0; i < WARP_SIZE; i++) {
        uint32_t named = w->meeting[i].mask & w->live;
        if (!(lanes >> i & 1) || (named & ~here))
            continue;
        bool agreed = true;
        for (int k = 0; k < WARP_SIZE && named != 0; k++)
            if (named >> k & 1)
                agreed &= w->meeting[k].mask == w->meeting[i].mask;
        if (agreed)
            done |= (uint32_t)1 << i;
    }
    return done;
}

/* All lanes of the group name the same mask, and it is the group: the usual case. */
static bool all_here(const struct warp *w, const struct inst *in, uint32_t mask)
{
    const uint32_t *names = warp_row32((struct warp *)w, in->slot[5]);
    uint32_t first = names[__builtin_ctz(mask)], differ = 0;

    for (int i = 0; i < WARP_SIZE; i++)
        differ |= (names[i] ^ first) & (0 - (mask >> i & 1));
    return !differ && (first & w->live) == mask;
}

/* Lanes of waiting groups that need wait no longer finish; a group some of whose lanes must wait on is split. */
static void meeting_finish(struct warp *w, finish_fn *finish)
{
    const struct inst *code = w->block->grid->function->code;
    uint32_t here = lanes_waiting(w, finish), done = satisfied(w, here, here);
    int top = w->group_top;

    for (int g = 0; done && g < top; g++) {
        struct group *group = &w->groups[g];
        uint32_t part = group->mask & done;
        if (group->state != GROUP_AT_MEETING || group->finish != finish || !part)
            continue;
        w->regs = group->frame->regs;
        finish(w, &code[group->pc], part);
        if (part == group->mask) {
            group->state = GROUP_RUNNABLE;
            group->pc++;
            group->since = w->turn++;
        } else {
            group->mask &= ~part;
            group_new(w, group->frame, group->pc + 1, part, group->join);
        }
    }
    if (w->now)
        w->regs = w->now->frame->regs;
}

void meeting_check(struct warp *w)
{
    for (int g = 0; g < w->group_top; g++)
        if (w->groups[g].state == GROUP_AT_MEETING)
            meeting_finish(w, w->groups[g].finish);
}

static int meet(struct warp *w, const struct inst *in, uint32_t mask, finish_fn *finish)
{
    uint32_t selfless = 0;

    gather(w, in, mask);
    if (all_here(w, in, mask)) {
        finish(w, in, mask);
        return w->status == STATUS_FAULT ? WARP_STOP : WARP_NEXT;
    }
    for (int i = 0; i < WARP_SIZE; i++)
        if ((mask >> i & 1) && !(w->meeting[i].mask >> i & 1))
            selfless |= (uint32_t)1 << i;
    if (selfless)
        return warp_fault(w, in, __builtin_ctz(selfless), FINDING | 719, "every lane that executes it must be named in its mask",
                          "warp synchronisation: the lane executes '%s' with mask 0x%08x, which does not name it", in->opcode,
                          w->meeting[__builtin_ctz(selfless)].mask);
    if (satisfied(w, mask, mask) == mask) { /* tiles: several masks, each within the group */
        finish(w, in, mask);
        return w->status == STATUS_FAULT ? WARP_STOP : WARP_NEXT;
    }
    if (mask != w->now->mask) { /* guarded: the others go on */
        group_new(w, w->now->frame, w->now->pc + 1, w->now->mask & ~mask, w->now->join);
        w->now->mask = mask;
    }
    w->now->state = GROUP_AT_MEETING;
    w->now->finish = finish;
    w->now->since = w->turn++;
    meeting_finish(w, finish);
    if (w->status == STATUS_FAULT)
        return WARP_STOP;
    if (group_next(w))
        return WARP_MOVED;
    w->status = STATUS_WAITING;
    return WARP_STOP;
}

/* Each set of lanes that one mask names is ordered once. */
static void finish_syncwarp(struct warp *w, const struct inst *in, uint32_t mask)
{
    (void)in;
    while (w->block->race && mask) {
        uint32_t named = w->meeting[__builtin_ctz(mask)].mask & w->present;
        race_syncwarp(w, named);
        mask &= ~named;
    }
}

int warp_syncwarp(struct warp *w, const struct inst *in, uint32_t mask)
{
    if (!w->watched && all_here(w, in, mask)) /* usual, and nobody asks who met */
        return WARP_NEXT;
    return meet(w, in, mask, finish_syncwarp);
}

/* Shuffles. c holds the clamp in its low 5 bits and the segment mask in bits 8 to 12 (PTX ISA, shfl.sync). */
enum shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };

static inline bool shuffle_source(enum shuffle how, int lane, uint32_t b, uint32_t c, int *source)
{
    int distance = (int)(b & 31), clamp = (int)(c & 31), segment = (int)(c >> 8 & 31);
    int most = (lane & segment) | (clamp & ~segment), least = lane & segment;

    switch (how) {
    case SHUFFLE_UP: *source = lane - distance; return *source >= most;
    case SHUFFLE_DOWN: *source = lane + distance; return *source <= most;
    case SHUFFLE_BFLY: *source = lane ^ distance; return *source <= most;
    default: *source = least | (distance & ~segment); return *source <= most;
    }
}

/* All 32 lanes at once: nobody is absent. */
static inline __attribute__((always_inline)) void shuffle_whole(struct warp *w, const struct inst *in, enum shuffle how)
{
    const uint32_t *b = warp_row32(w, in->slot[3]), *c = warp_row32(w, in->slot[4]);
    uint32_t *d = warp_row32(w, in->slot[0]), from[WARP_SIZE];
    int32_t within[WARP_SIZE];

    memcpy(from, warp_row32(w, in->slot[2]), sizeof from);
    for (int i = 0; i < WARP_SIZE; i++) {
        int source;
        within[i] = -(int32_t)shuffle_source(how, i, b[i], c[i], &source);
        d[i] = from[within[i] ? source : i];
    }
    if (in->slot[1])
        *warp_predicate(w, in->slot[1]) = signs_of_32(within);
}

static void shuffle(struct warp *w, const struct inst *in, uint32_t mask, enum shuffle how)
{
    uint32_t *d = warp_row32(w, in->slot[0]), inside = 0;

    for (int i = 0; i < WARP_SIZE; i++) {
        int source;
        bool within;
        if (!(mask >> i & 1))
            continue;
        within = shuffle_source(how, i, w->meeting[i].b, w->meeting[i].c, &source);
        if (!within)
            source = i;
        inside |= (uint32_t)within << i;
        if (!(w->meeting[i].mask & w->live & (uint32_t)1 << source) && (w->block->grid->settings->checks & CHECK_SYNC)) {
            warp_fault(w, in, i, FINDING | 719,
                       "give the shuffle a mask, a width or a block size in which every lane it reads takes part",
                       "shuffle from absent lane: it reads lane %d, which %s", source,
                       !(w->present >> source & 1) ? "this warp does not have"
                       : !(w->live >> source & 1)  ? "has exited"
                                                   : "its mask does not name");
            return;
        }
        d[i] = (uint32_t)w->meeting[source].value;
    }
    if (in->slot[1]) {
        uint32_t *p = warp_predicate(w, in->slot[1]);
        *p = (*p & ~mask) | inside;
    }
}

#define SHUFFLE(name, how)                                                                                                         \
    static void finish_shuffle_##name(struct warp *w, const struct inst *in, uint32_t mask)                                        \
    {                                                                                                                              \
        shuffle(w, in, mask, how);                                                                                                 \
    }                                                                                                                              \
    int warp_shuffle_##name(struct warp *w, const struct inst *in, uint32_t mask)                                                  \
    {                                                                                                                              \
        if (mask != UINT32_MAX || !all_here(w, in, mask))                                                                          \
            return meet(w, in, mask, finish_shuffle_##name);                                                                       \
        shuffle_whole(w, in, how);                                                                                                 \
        return WARP_NEXT;                                                                                                          \
    }
SHUFFLE(up, SHUFFLE_UP)
SHUFFLE(down, SHUFFLE_DOWN)
SHUFFLE(bfly, SHUFFLE_BFLY)
SHUFFLE(idx, SHUFFLE_IDX)

/* Votes, match, redux: a value from the named live lanes. */

static uint32_t ballot(const struct warp *w, int lane)
{
    uint32_t named = w->meeting[lane].mask & w->live, bits = 0;

    for (int i = 0; i < WARP_SIZE; i++)
        if ((named >> i & 1) && w->meeting[i].value)
            bits |= (uint32_t)1 << i;
    return bits;
}

static void set_predicate(struct warp *w, uint32_t slot, int lane, bool value)
{
    uint32_t *p = warp_predicate(w, slot);

    *p = (*p & ~((uint32_t)1 << lane)) | (uint32_t)value << lane;
}

#define EACH_MET(...)                                                                                                              \
    for (int i = 0; i < WARP_SIZE; i++)                                                                                            \
        if (mask >> i & 1) {                                                                                                       \
            uint32_t named = w->meeting[i].mask & w->live;                                                                         \
            (void)named;                                                                                                           \
            __VA_ARGS__;                                                                                                           \
        }
#define MEETING(name, ...)                                                                                                         \
    static void finish_##name(struct warp *w, const struct inst *in, uint32_t mask)                                                \
    {                                                                                                                              \
        EACH_MET(__VA_ARGS__)                                                                                                      \
    }                                                                                                                              \
    int warp_##name(struct warp *w, const struct inst *in, uint32_t mask)                                                          \
    {                                                                                                                              \
        return meet(w, in, mask, finish_##name);                                                                                   \
    }

MEETING(vote_all, set_predicate(w, in->slot[0], i, ballot(w, i) == named))
MEETING(vote_any, set_predicate(w, in->slot[0], i, ballot(w, i) != 0))
MEETING(vote_uni, set_predicate(w, in->slot[0], i, ballot(w, i) == named || ballot(w, i) == 0))
MEETING(vote_ballot, warp_row32(w, in->slot[0])[i] = ballot(w, i))

static uint32_t same_value(const struct warp *w, int lane, uint32_t named)
{
    uint32_t bits = 0;

    for (int i = 0; i < WARP_SIZE; i++)
        if ((named >> i & 1) && w->meeting[i].value == w->meeting[lane].value)
            bits |= (uint32_t)1 << i;
    return bits;
}

MEETING(match_any, warp_row32(w, in->slot[0])[i] = same_value(w, i, named))
MEETING(match_all, bool all = same_value(w, i, named) == named; warp_row32(w, in->slot[0])[i] = all ? w->meeting[i].mask : 0;
        if (in->slot[1]) set_predicate(w, in->slot[1], i, all))

/* elect: one of the named lanes leads, here the first. */
MEETING(elect, warp_row32(w, in->slot[0])[i] = (uint32_t)__builtin_ctz(named);
        if (in->slot[1]) set_predicate(w, in->slot[1], i, i == __builtin_ctz(named)))

static uint32_t fold(const struct warp *w, uint32_t named, enum type type, char how)
{
    uint32_t result = (uint32_t)w->meeting[__builtin_ctz(named)].value;

    for (uint32_t rest = named & (named - 1); rest; rest &= rest - 1) {
        uint32_t x = (uint32_t)w->meeting[__builtin_ctz(rest)].value;
        bool less = type_is_signed(type) ? (int32_t)x < (int32_t)result : x < result;
        switch (how) {
        case '+': result += x; break;
        case '<': result = less ? x : result; break;
        case '>': result = less ? result : x; break;
        case '&': result &= x; break;
        case '|': result |= x; break;
        default: result ^= x;
        }
    }
    return result;
}

#define REDUX(name, how) MEETING(redux_##name, warp_row32(w, in->slot[0])[i] = fold(w, named, (enum type)in->type, how))
REDUX(add, '+')
REDUX(min, '<')
REDUX(max, '>')
REDUX(and, '&')
REDUX(or, '|')
REDUX(xor, '^')

int warp_activemask(struct warp *w, const struct inst *in, uint32_t mask)
{
    for (int i = 0; i < WARP_SIZE; i++)
        if (mask >> i & 1)
            warp_row32(w, in->slot[0])[i] = w->now->mask;
    return WARP_NEXT;
}
