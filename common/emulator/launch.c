/* A launch: checked, then its blocks spread over host threads, or in one fixed interleaving where blocks talk to each other. */
#define _GNU_SOURCE
#include "builtins.h"
#include "checks.h"
#include "launch.h"
#include "observer.h"
#include "warp.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_PTX = 218, COOPERATIVE_TOO_LARGE = 720, LAUNCH_FAILURE = 719 };

enum { WORKSPACE_BYTES = 1024, RESERVED_BYTES = 288 };

static uint64_t volume(const unsigned size[3])
{
    return (uint64_t)size[0] * size[1] * size[2];
}

int launch_check(const struct launch *launch)
{
    const struct function *f = launch->kernel;
    const unsigned *grid = launch->grid, *block = launch->block;

    if (f->error) {
        fprintf(stderr, "%s", f->error);
        return INVALID_PTX;
    }
    /* An H200 under CUDA 13.0 says cudaErrorInvalidValue for each of these, whatever the manual says. */
    if (!volume(grid) || grid[0] > DEVICE_GRID_X || grid[1] > DEVICE_GRID_YZ || grid[2] > DEVICE_GRID_YZ)
        return INVALID_VALUE;
    if (!volume(block) || volume(block) > DEVICE_BLOCK_THREADS || volume(block) > f->max_threads || block[2] > DEVICE_BLOCK_Z)
        return INVALID_VALUE;
    for (int i = 0; i < 3; i++)
        if (f->required_threads[i] && f->required_threads[i] != block[i])
            return INVALID_VALUE;
    if (launch->dynamic_shared > launch->dynamic_shared_limit)
        return INVALID_VALUE;
    if (launch->cooperative) {
        int blocks = device_blocks_per_sm((unsigned)volume(block), f->static_shared + launch->dynamic_shared);
        if (volume(grid) > (uint64_t)blocks * DEVICE_SMS)
            return COOPERATIVE_TOO_LARGE;
    }
    return SUCCESS;
}

/* Parameters as the kernel sees them: each at its offset. */
static char *pack_parameters(const struct function *f, void **arguments)
{
    char *packed = calloc(1, f->parameter_bytes + 16);

    for (size_t i = 0; packed && i < f->parameter_count; i++)
        memcpy(packed + f->parameters[i]->address, arguments[i], f->parameters[i]->bytes);
    return packed;
}

static bool worker_start(struct worker *worker, struct grid *grid)
{
    *worker = (struct worker){.grid = grid};
    worker->reached = calloc(grid->function->count, sizeof *worker->reached);
    if (grid->settings->count)
        worker->counts = calloc(grid->function->count, sizeof *worker->counts);
    return worker->reached && (worker->counts || !grid->settings->count);
}

static uint64_t scheduled(const struct grid *grid, uint64_t number)
{
    return grid->settings->schedule == SCHEDULE_REVERSED ? grid->blocks - 1 - number : number;
}

/* Blocks that do not talk to each other: each thread takes the next few. */
static void *run_apart(void *argument)
{
    struct worker *worker = argument;
    struct grid *grid = worker->grid;
    struct block *block = block_new(worker);
    uint64_t few = grid->blocks / 4096 + 1;

    for (;;) {
        uint64_t first = atomic_fetch_add(&grid->next_block, few), end = first + few;
        if (first >= grid->blocks)
            break;
        for (uint64_t n = first; n < end && n < grid->blocks; n++) {
            enum block_result result;
            if (scheduled(grid, n) >= grid->stop_at)
                continue; /* an earlier block has a fault: this one would not have run */
            block_start(block, scheduled(grid, n));
            do
                result = block_run(block);
            while (result == BLOCK_YIELDED);
        }
    }
    block_free(block);
    return NULL;
}

static void run_in_parallel(struct worker *workers, int count)
{
    int started = 1;

    for (; started < count; started++)
        if (pthread_create(&workers[started].thread, NULL, run_apart, &workers[started]))
            break; /* fewer threads do the same work */
    run_apart(&workers[0]);
    for (int i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
}

/* Blocks that talk: as many as the device holds are resident; each runs until it ends or yields, in a fixed round. */
static void run_together(struct grid *grid, struct worker *worker)
{
    uint64_t resident = (uint64_t)device_blocks_per_sm((unsigned)volume(grid->launch->block),
                                                       grid->reserved ? grid->reserved : grid->shared_bytes) *
                        DEVICE_SMS;
    uint64_t next = 0, running = 0, room = grid->blocks < resident ? grid->blocks : resident;
    struct block **slots = calloc(room, sizeof *slots), *spare = NULL;

    if (!slots)
        abort();
    do {
        running = 0;
        for (uint64_t i = 0; i < room && !grid->fault.set; i++) {
            enum block_result result;
            if (!slots[i]) {
                if (next == grid->blocks)
                    continue;
                slots[i] = spare ? spare : block_new(worker);
                spare = NULL;
                block_start(slots[i], scheduled(grid, next++));
            }
            result = block_run(slots[i]);
            if (result == BLOCK_YIELDED) {
                running++;
                continue;
            }
            if (spare)
                block_free(spare);
            spare = slots[i];
            slots[i] = NULL;
            if (next < grid->blocks)
                running++;
        }
    } while ((running || next < grid->blocks) && !grid->fault.set);
    for (uint64_t i = 0; i < room; i++)
        if (slots[i])
            block_free(slots[i]);
    if (spare)
        block_free(spare);
    free(slots);
}

/* What EMULATOR_TIME reports: launches come one at a time. */
static struct {
    uint64_t launches, issued;
    double seconds;
} spent;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((destructor)) static void report_time(void)
{
    if (settings()->time)
        fprintf(stderr, "emulator: %llu warp instructions in %.6f s, %llu launches, %d threads\n", (unsigned long long)spent.issued,
                spent.seconds, (unsigned long long)spent.launches, settings()->threads);
}

static void add_counts(const struct grid *grid, struct worker *workers, int count)
{
    struct inst_counts *sum = workers[0].counts;

    for (int i = 1; i < count; i++) {
        const uint64_t *from = (const uint64_t *)workers[i].counts;
        uint64_t *to = (uint64_t *)sum;
        for (size_t k = 0; k < grid->function->count * (sizeof *sum / sizeof *to); k++)
            to[k] += from[k];
    }
    counters_add_launch(grid, sum);
}

static int run(struct grid *grid)
{
    bool together =
        grid->function->communicates || grid->launch->cooperative || (grid->settings->checks & (CHECK_RACE | CHECK_INIT));
    int count = together || grid->blocks < 2 ? 1 : grid->settings->threads;
    struct worker *workers;
    bool ready = true;

    if ((uint64_t)count > grid->blocks)
        count = (int)grid->blocks;
    workers = calloc((size_t)count, sizeof *workers);
    for (int i = 0; i < count; i++)
        ready &= workers && worker_start(&workers[i], grid);
    if (ready && together)
        run_together(grid, &workers[0]);
    else if (ready)
        run_in_parallel(workers, count);
    if (ready && grid->settings->count)
        add_counts(grid, workers, count);
    if (ready)
        printf_collect(grid, workers, count);
    for (int i = 0; workers && i < count; i++) {
        spent.issued += workers[i].issued;
        free(workers[i].counts);
        free(workers[i].reached);
    }
    free(workers);
    if (ready && grid->fault.set)
        fault_report(grid);
    return !ready ? OUT_OF_MEMORY : grid->fault.set ? grid->fault.error & ~FINDING : SUCCESS;
}

int launch_run(const struct launch *launch)
{
    static _Atomic uint64_t launches;
    const struct function *f = launch->kernel;
    struct grid grid = {.launch = launch,
                        .function = f,
                        .settings = settings(),
                        .blocks = volume(launch->grid),
                        .shared_bytes = f->static_shared + launch->dynamic_shared,
                        .stop_at = UINT64_MAX,
                        .fault_lock = PTHREAD_MUTEX_INITIALIZER};
    double begin = now();
    int result;

    if (f->uses_reserved) { /* on a GPU it lies in the 1 KiB that every block has beside its own */
        grid.reserved = (grid.shared_bytes + 15) / 16 * 16;
        grid.shared_bytes = grid.reserved + RESERVED_BYTES;
    }
    grid.stack_limit = stack_needed(f);
    grid.id = atomic_fetch_add(&launches, 1);
    grid.parameters = pack_parameters(f, launch->arguments);
    if (!grid.parameters)
        return OUT_OF_MEMORY;
    if (launch->cooperative) /* the driver's: cooperative groups keep their grid barrier there */
        grid.workspace = (uintptr_t)memory_allocate(WORKSPACE_BYTES, MEMORY_VARIABLE, "grid barrier");
    if (grid.settings->checks & CHECK_RACE)
        grid.race = race_grid_new(&grid);
    result = run(&grid);
    race_grid_free(grid.race);
    memory_free((void *)(uintptr_t)grid.workspace);
    free(grid.parameters);
    spent.launches++;
    spent.seconds += now() - begin;
    return result;
}
