/* The checks that EMULATOR_CHECK turns on: race (race.c), init (init.c), leak (leak.c). They are told what happens and may stop the
 * warp with a fault; they change nothing a kernel computes, and cost nothing when they are off. With race or init on, blocks run
 * in one fixed interleaving. */
#ifndef CHECKS_H
#define CHECKS_H
#include "warp.h"

/* race.c */
struct race_grid *race_grid_new(const struct grid *grid);
void race_grid_free(struct race_grid *race);
void race_block_start(struct block *block); /* also makes block->race the first time */
void race_block_free(struct block *block);
bool race_access(struct warp *warp, const struct inst *in, const struct access *a); /* false: a fault was recorded */
void race_fence(struct warp *warp, uint32_t mask);
void race_syncwarp(struct warp *warp, uint32_t lanes);                /* the lanes that the barrier names */
void race_arrive(struct warp *warp, unsigned barrier, uint32_t mask); /* bar.arrive */
void race_barrier(struct block *block, unsigned barrier);             /* before the groups that wait there go on */
/* Barriers in shared memory, by their address: lanes arrive; how many have so far; lanes go on that waited for the first
 * `arrivals`. */
void race_mbarrier_arrive(struct warp *warp, uint64_t address, uint32_t mask);
uint32_t race_mbarrier_arrivals(struct block *block, uint64_t address);
void race_mbarrier_wait(struct warp *warp, uint64_t address, uint32_t arrivals, uint32_t mask);
/* Always false: `lane` touches a byte that another's copy, issued at `pc`, still brings. */
bool race_with_copy(struct warp *warp, const struct inst *in, const struct access *a, int lane, uint64_t address,
                    const struct warp *copier, int copier_lane, uint32_t pc);

/* ops_async.c: false if the access touches what a copy still brings; a fault was recorded. */
bool copy_untouched(struct warp *warp, const struct inst *in, const struct access *a);

/* init.c */
bool init_access(struct warp *warp, const struct inst *in, const struct access *a); /* false: a fault was recorded */
void init_block_start(struct block *block);
void init_block_free(struct block *block);
void init_allocated(const void *device, size_t bytes); /* cudaMalloc's memory holds nothing yet */
void init_written(const void *device, size_t bytes);   /* the host wrote it: cudaMemcpy, cudaMemset */
void init_forget(const void *device);                  /* cudaFree */

/* leak.c: at exit, what cudaMalloc gave and nobody freed. */
void leak_report(void);
#endif
