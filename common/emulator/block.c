/* One block: its warps run in turn, each until it stops; barriers open when all who must come have come. */
#define _GNU_SOURCE
#include "checks.h"
#include "warp.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows lie on cache lines, so register files must too. */
static void *rows(size_t bytes)
{
    void *memory = NULL;

    if (posix_memalign(&memory, 64, bytes + 64)) {
        fprintf(stderr, "emulator: out of memory for a block's registers\n");
        exit(3);
    }
    memset(memory, 0, bytes);
    return memory;
}

/* Zeros that cost nothing until they are touched: most of a deep stack never is. */
static char *stacks(size_t bytes)
{
    char *memory = bytes ? calloc(WARP_SIZE, bytes) : NULL;

    if (bytes && !memory) {
        fprintf(stderr, "emulator: out of memory for a block's stacks\n");
        exit(3);
    }
    return memory;
}

struct block *block_new(struct worker *worker)
{
    struct grid *grid = worker->grid;
    const struct function *f = grid->function;
    const unsigned *size = grid->launch->block;
    struct block *b = rows(sizeof *b);

    b->grid = grid;
    b->worker = worker;
    b->threads = size[0] * size[1] * size[2];
    b->warp_count = (b->threads + WARP_SIZE - 1) / WARP_SIZE;
    b->warps = rows(b->warp_count * sizeof *b->warps);
    b->shared = rows(grid->shared_bytes);
    b->all_shared = (struct allocation){.bytes = grid->shared_bytes, .host = b->shared};
    for (unsigned i = 0; i < b->warp_count; i++) {
        struct warp *w = &b->warps[i];
        w->block = b;
        w->index = i;
        w->bottom = (struct frame){.function = f, .regs = rows(f->frame_bytes)};
        w->stack_limit = grid->stack_limit;
        w->local = stacks(w->stack_limit);
        warp_prepare(w);
    }
    return b;
}

void block_free(struct block *b)
{
    for (unsigned i = 0; i < b->warp_count; i++) {
        frames_free(&b->warps[i]);
        free(b->warps[i].bottom.regs);
        free(b->warps[i].local);
        free(b->warps[i].joins);
        free(b->warps[i].fixed);
    }
    race_block_free(b);
    init_block_free(b);
    async_free(b);
    free(b->warps);
    free(b->shared);
    free(b);
}

void block_start(struct block *b, uint64_t number)
{
    const struct grid *grid = b->grid;
    const unsigned *size = grid->launch->grid;

    b->number = number;
    b->id[0] = (unsigned)(number % size[0]);
    b->id[1] = (unsigned)(number / size[0] % size[1]);
    b->id[2] = (unsigned)(number / size[0] / size[1]);
    b->random = grid->settings->schedule_seed ^ (number * 0x9e3779b97f4a7c15u);
    memset(b->barriers, 0, sizeof b->barriers);
    b->barriers_used = 0;
    b->live = b->threads;
    b->printed = NULL;
    if (grid->settings->checks & CHECK_RACE)
        race_block_start(b);
    if (grid->settings->checks & CHECK_INIT)
        init_block_start(b);
    async_start(b);
    memset(b->shared, 0, grid->shared_bytes); /* unwritten shared memory must not differ from run to run */
    for (unsigned i = 0; i < b->warp_count; i++) {
        struct warp *w = &b->warps[i];
        for (int lane = 0; lane < WARP_SIZE && grid->function->local_bytes; lane++)
            memset(w->local + (size_t)lane * w->stack_limit, 0, grid->function->local_bytes);
        warp_start(w);
    }
}

/* Splitmix64: a schedule's own random numbers. */
static uint64_t next_random(struct block *b)
{
    uint64_t x = b->random += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void order_warps(struct block *b, uint8_t order[])
{
    for (unsigned i = 0; i < b->warp_count; i++)
        order[i] = (uint8_t)(b->grid->settings->schedule == SCHEDULE_REVERSED ? b->warp_count - 1 - i : i);
    for (unsigned i = b->warp_count; b->grid->settings->schedule == SCHEDULE_RANDOM && i > 1; i--) {
        unsigned k = (unsigned)(next_random(b) % i);
        uint8_t moved = order[i - 1];
        order[i - 1] = order[k];
        order[k] = moved;
    }
}

static void release_group(struct warp *w, struct group *group, const struct barrier *barrier)
{
    if (barrier->answers)
        barrier_answer(group->frame->regs, &w->code[group->pc], group->mask, barrier);
    group->state = GROUP_RUNNABLE;
    group->pc++;
    w->status = STATUS_READY;
}

static void release(struct block *b, uint8_t id)
{
    const struct barrier *barrier = &b->barriers[id];

    if (b->race)
        race_barrier(b, id);
    for (struct warp *w = b->warps, *end = w + b->warp_count; w < end; w++) {
        struct group *all = w->all_wait;
        if (all && all->barrier == id) {
            release_group(w, all, barrier);
            w->now = all; /* its lanes and its frame are what they were */
            w->spins = 0;
            w->all_wait = NULL;
            continue;
        }
        for (struct group *group = w->groups; group < w->groups + w->group_top; group++)
            if (group->state == GROUP_AT_BARRIER && group->barrier == id)
                release_group(w, group, barrier);
    }
    async_progress(b);
    b->barriers[id] = (struct barrier){0};
    b->barriers_used &= ~(1u << id);
}

/* Opens every barrier that has all its threads. True: some warp can go on. */
static bool open_barriers(struct block *b)
{
    bool opened = false;

    for (uint32_t used = b->barriers_used; used; used &= used - 1) {
        int id = __builtin_ctz(used);
        const struct barrier *barrier = &b->barriers[id];
        if (barrier->threads_here >= (barrier->threads_needed ? barrier->threads_needed : b->live)) {
            release(b, (uint8_t)id);
            opened = true;
        }
    }
    return opened;
}

/* Nobody can go on: the one to blame is a group that waits for lanes which will not come. */
static void blame(struct block *b)
{
    const struct inst *code = b->grid->function->code;

    for (unsigned i = 0; i < b->warp_count; i++)
        for (int g = 0; g < b->warps[i].group_top; g++) {
            struct warp *w = &b->warps[i];
            struct group *group = &w->groups[g];
            int lane = group->mask ? __builtin_ctz(group->mask) : 0;
            if (group->state == GROUP_AT_MEETING) {
                warp_fault(w, &code[group->pc], lane, FINDING | 719,
                           "name in the mask only the lanes that come here, or bring them all here",
                           "warp synchronisation: it waits with mask 0x%08x for lanes 0x%08x, which never come",
                           w->meeting[lane].mask, w->meeting[lane].mask & w->live & ~group->mask);
                return;
            }
        }
    for (unsigned i = 0; i < b->warp_count; i++)
        for (int g = 0; g < b->warps[i].group_top; g++) {
            struct warp *w = &b->warps[i];
            struct group *group = &w->groups[g];
            if (group->state == GROUP_AT_BARRIER) {
                const struct barrier *barrier = &b->barriers[group->barrier];
                warp_fault(w, &code[group->pc], __builtin_ctz(group->mask), FINDING | 719,
                           "let every thread of the block reach the barrier, or none",
                           "barrier divergence: barrier %u has %u of the threads it waits for, and no more can come",
                           group->barrier, barrier->threads_here);
                return;
            }
        }
}

enum block_result block_run(struct block *b)
{
    uint8_t order[DEVICE_BLOCK_THREADS / WARP_SIZE];
    bool in_order = b->grid->settings->schedule == SCHEDULE_ORDERED;

    for (;;) {
        unsigned statuses;
        if (!in_order)
            order_warps(b, order);
        statuses = warps_run(b, in_order ? NULL : order);
        if (statuses & 1u << STATUS_FAULT)
            return BLOCK_FAULT;
        if (statuses & 1u << STATUS_WAITING && open_barriers(b))
            continue;
        if (statuses & 1u << STATUS_YIELDED)
            return BLOCK_YIELDED;
        if (!(statuses & 1u << STATUS_WAITING)) {
            for (unsigned i = 0; i < b->warp_count; i++)
                b->worker->issued += b->warps[i].issued;
            return BLOCK_DONE;
        }
        blame(b);
        return BLOCK_FAULT;
    }
}
