/* The warp loop: take the running group, run its instructions until the warp stops. Counting is two additions a run of lane
 * instructions; nothing is paid when nobody counts. */
#define _GNU_SOURCE
#include "access.h"
#include "observer.h"
#include <stdio.h>
#include <string.h>

static void fill32(struct warp *w, uint32_t slot, uint32_t value)
{
    uint32_t *row = warp_row32(w, slot);

    for (int i = 0; i < WARP_SIZE; i++)
        row[i] = value;
}

static uint32_t special_of_lane(const struct warp *w, enum special special, unsigned lane)
{
    const struct block *b = w->block;
    const struct launch *launch = b->grid->launch;
    unsigned thread = w->index * WARP_SIZE + lane;
    uint32_t bit = (uint32_t)1 << lane;

    switch (special) {
    case SPECIAL_tid_x: return thread % launch->block[0];
    case SPECIAL_tid_y: return thread / launch->block[0] % launch->block[1];
    case SPECIAL_tid_z: return thread / launch->block[0] / launch->block[1];
    case SPECIAL_ntid_x: return launch->block[0];
    case SPECIAL_ntid_y: return launch->block[1];
    case SPECIAL_ntid_z: return launch->block[2];
    case SPECIAL_ctaid_x: return b->id[0];
    case SPECIAL_ctaid_y: return b->id[1];
    case SPECIAL_ctaid_z: return b->id[2];
    case SPECIAL_nctaid_x: return launch->grid[0];
    case SPECIAL_nctaid_y: return launch->grid[1];
    case SPECIAL_nctaid_z: return launch->grid[2];
    case SPECIAL_laneid: return lane;
    case SPECIAL_warpid: return w->index;
    case SPECIAL_nwarpid: return b->warp_count;
    case SPECIAL_smid: return (uint32_t)(b->number % DEVICE_SMS);
    case SPECIAL_nsmid: return DEVICE_SMS;
    case SPECIAL_gridid: return (uint32_t)b->grid->id;
    case SPECIAL_lanemask_eq: return bit;
    case SPECIAL_lanemask_lt: return bit - 1;
    case SPECIAL_lanemask_le: return bit | (bit - 1);
    case SPECIAL_lanemask_gt: return ~(bit | (bit - 1));
    case SPECIAL_lanemask_ge: return ~(bit - 1);
    case SPECIAL_dynamic_smem_size: return (uint32_t)launch->dynamic_shared;
    case SPECIAL_total_smem_size: return (uint32_t)(b->grid->function->static_shared + launch->dynamic_shared);
    case SPECIAL_reserved_smem: return (uint32_t)b->grid->reserved;
    case SPECIAL_envreg1: return (uint32_t)(b->grid->workspace >> 32);
    case SPECIAL_envreg2: return (uint32_t)b->grid->workspace;
    default: return 0;
    }
}

static void fill_special(struct warp *w, const struct preset *p)
{
    enum special special = (enum special)p->value;

    if (special >= SPECIAL_ctaid_x && special <= SPECIAL_ctaid_z && type_lane_bytes(p->type) == 4) {
        fill32(w, p->slot, w->block->id[special - SPECIAL_ctaid_x]);
        return;
    }
    for (unsigned i = 0; i < WARP_SIZE; i++) {
        uint32_t value = special_of_lane(w, special, i);
        if (type_lane_bytes(p->type) == 8)
            warp_row64(w, p->slot)[i] = value;
        else
            warp_row32(w, p->slot)[i] = value;
    }
}

/* A kernel's parameter as its type reads it: sign or zero extended to the row's width. */
static uint64_t parameter_value(const struct grid *grid, const struct preset *p)
{
    uint64_t value = 0;
    unsigned bits = 8 * type_bytes[p->type];

    memcpy(&value, grid->parameters + p->value, type_bytes[p->type]);
    if (type_is_signed(p->type) && bits < 64 && (value >> (bits - 1) & 1))
        value |= ~(uint64_t)0 << bits;
    return value;
}

static void fill64(struct warp *w, uint32_t slot, uint64_t value)
{
    uint64_t *row = warp_row64(w, slot);

    for (int i = 0; i < WARP_SIZE; i++)
        row[i] = value;
}

void frame_prepare(struct warp *w, struct frame *frame)
{
    const struct function *f = frame->function;

    w->regs = frame->regs;
    *warp_predicate(w, 0) = UINT32_MAX;
    for (size_t i = 0; i < f->preset_count; i++) {
        const struct preset *p = &f->presets[i];
        uint64_t value = p->kind == PRESET_PARAMETER ? parameter_value(w->block->grid, p) : p->value;
        if (p->kind == PRESET_SPECIAL) {
            fill_special(w, p);
        } else if (p->type == T_pred) {
            *warp_predicate(w, p->slot) = value ? UINT32_MAX : 0;
        } else if (type_lane_bytes(p->type) == 8) {
            fill64(w, p->slot, value);
        } else {
            fill32(w, p->slot, (uint32_t)value);
        }
    }
    for (size_t i = 0; i < f->constant_count; i++)
        f->code[f->constants[i]].full(w->regs, &f->code[f->constants[i]]);
}

void warp_prepare(struct warp *w)
{
    w->code = w->block->grid->function->code;
    w->most_issues = w->block->grid->settings->timeout ? w->block->grid->settings->timeout : UINT64_MAX;
    w->counts = w->block->worker->counts;
    frame_prepare(w, &w->bottom);
    access_fix(w);
}

void frame_start(struct warp *w, struct frame *frame, bool new_block, bool moved)
{
    const struct function *f = frame->function;

    w->regs = frame->regs;
    for (size_t i = 0; new_block && i < f->changing_presets; i++)
        fill_special(w, &f->presets[i]);
    for (size_t i = 0; moved && i < f->local_presets; i++) {
        const struct preset *p = &f->presets[f->changing_presets + i];
        if (type_lane_bytes(p->type) == 8)
            fill64(w, p->slot, frame->stack + p->value);
        else
            fill32(w, p->slot, (uint32_t)(frame->stack + p->value));
    }
    for (size_t i = 0; i < f->live_in_count; i++) {
        const struct reg *reg = &f->regs[f->live_in[i]];
        memset(w->regs + reg->slot, 0, reg->type == T_pred ? 4 : 32 * type_lane_bytes(reg->type));
    }
}

void warp_start(struct warp *w)
{
    unsigned threads = w->block->threads - w->index * WARP_SIZE;

    frame_start(w, &w->bottom, true, false);
    w->bottom.top = w->bottom.function->stack_bytes;
    w->present = w->live = threads >= WARP_SIZE ? UINT32_MAX : ((uint32_t)1 << threads) - 1;
    w->traced = trace_wants(w);
    w->watched = w->traced || w->block->grid->settings->checks & (CHECK_RACE | CHECK_INIT);
    w->status = STATUS_READY;
    w->turn = 0;
    w->issued = 0;
    w->turns_within = 0;
    w->all_wait = NULL;
    memset(w->groups, 0, (size_t)w->group_top * sizeof *w->groups);
    if (w->join_top)
        memset(w->joins, 0, (size_t)w->join_top * sizeof *w->joins);
    w->group_top = w->join_top = w->join_free = 0;
    group_run(w, group_new(w, &w->bottom, 0, w->live, -1));
}

/* Told of `run` instructions from this one on, before they run. */
static inline void observe_issue(struct warp *w, const struct inst *in, unsigned run, uint32_t mask)
{
    if (w->counts) {
        w->counts[in->number].issues++;
        w->counts[in->number].lanes += (uint32_t)__builtin_popcount(mask);
    }
    if (w->traced)
        trace_issue(w, in, run, mask);
}

/* Runs of lane instructions, without a look at anything else: of all live lanes, and of some. */
static inline void run_lanes(char *regs, const struct inst *in, const struct inst *end)
{
    for (; in != end; in = in->next)
        in->full(regs, in);
}

static __attribute__((noinline)) void run_some_lanes(struct warp *w, const struct inst *in, const struct inst *end, uint32_t mask)
{
    struct lanes others;
    const struct lanes *lanes = warp_lanes(w, mask, &others);
    char *regs = w->regs;

    for (; in != end; in = in->next)
        in->masked(regs, in, lanes);
}

static int timed_out(struct warp *w, const struct inst *in)
{
    return warp_fault(w, in, __builtin_ctz(w->now->mask), 702,
                      "does the loop that it is in ever end? EMULATOR_TIMEOUT sets the limit",
                      "the kernel never ends: %llu warp instructions in one warp", (unsigned long long)w->issued);
}

/* Do others wait at this barrier, and at this place? */
static inline bool is_awaited(const struct warp *w, const struct inst *in)
{
    const struct barrier *barrier = &w->block->barriers[in->barrier];

    return barrier->threads_here && barrier->pc == in->number;
}

/* Compiled twice: `observed` is a constant where it is called. */
static inline __attribute__((always_inline)) void run(struct warp *w, const bool observed)
{
    const struct inst *in;
    struct group *now;
    uint32_t mask;

moved:
    now = w->now;
    in = &w->code[now->pc];
    for (;;) {
        if (in->joins && now->join >= 0) {
            now->pc = in->number;
            if (group_arrive(w)) {
                if (w->now)
                    goto moved;
                w->status = STATUS_WAITING;
                return;
            }
        }
        if (in->step == STEP_LANES) {
            const struct inst *end = in->then;
            if (observed)
                observe_issue(w, in, in->run, now->mask);
            w->issued += in->run;
            if (w->whole || in->for_all)
                run_lanes(w->regs, in->first, end);
            else
                run_some_lanes(w, in->first, end, now->mask);
            in = end;
            continue;
        }
        mask = now->mask & (*warp_predicate(w, in->guard) ^ in->guard_flip);
        w->issued++;
        if (in->step >= STEP_BRANCH) {
            if (observed)
                observe_issue(w, in, 1, now->mask);
            if (mask == 0) {
                in++;
                continue;
            }
            if (in->step == STEP_LOOP && w->issued > w->most_issues) {
                timed_out(w, in);
                return;
            }
            if (mask == now->mask) {
                in = in->then;
                continue;
            }
            now->pc = in->number;
            branch_apart(w, in, mask);
            goto moved;
        }
        if (in->step == STEP_GUARDED) {
            if (observed)
                observe_issue(w, in, 1, mask);
            run_some_lanes(w, in, in + 1, mask);
            in++;
            continue;
        }
        now->pc = in->number;
        if (in->step == STEP_BARRIER && w->whole && is_awaited(w, in)) {
            if (observed)
                observe_issue(w, in, 1, mask);
            barrier_wait(w, in->barrier, mask);
            return;
        }
        if (w->issued > w->most_issues) {
            timed_out(w, in);
            return;
        }
        if (observed)
            observe_issue(w, in, 1, in->target == NO_PC ? mask : now->mask);
        if (mask == 0) {
            in++;
            continue;
        }
        switch (in->warp(w, in, mask)) {
        case WARP_NEXT: in++; break;
        case WARP_MOVED: goto moved;
        default: return;
        }
    }
}

unsigned warps_run(struct block *b, const uint8_t *order)
{
    unsigned statuses = 0;

    for (unsigned i = 0; i < b->warp_count; i++) {
        struct warp *w = &b->warps[order ? order[i] : i];
        if (w->status == STATUS_READY || w->status == STATUS_YIELDED) {
            w->status = STATUS_READY;
            if (!w->now && !group_next(w))
                w->status = w->live ? STATUS_WAITING : STATUS_DONE;
            else if (w->counts || w->traced)
                run(w, true);
            else
                run(w, false);
        }
        statuses |= 1u << w->status;
        if (w->status == STATUS_FAULT)
            break;
    }
    return statuses;
}
