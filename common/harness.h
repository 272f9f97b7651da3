/* What a step needs: the types of its numbers, the description of one launch, and the harness that does everything else.
 * A step hands harness_main two functions: tile_of says how many elements a block sums at a time, launch starts the kernel. */
#ifndef HARNESS_H
#define HARNESS_H
#include <cuda_runtime_api.h>
#include <stddef.h>

/* `element` is the input's type, `total` the type of sums: 64-bit for int, so nothing overflows; double for the others. */
#if defined TYPE_float
typedef float element;
typedef double total;
#elif defined TYPE_double
typedef double element;
typedef double total;
#else
typedef int element;
typedef long long total;
#endif

/* One launch. `input` and `sums` are on the device. */
struct reduction {
    element *input; /* n elements; a step may overwrite them, the harness restores them before every launch */
    total *sums;    /* one a block of the grid */
    size_t n;
    unsigned block;            /* what --block says: a power of two from 32 to 1024 */
    unsigned resident_threads; /* the most that the device holds at a time */
};

/* What a launch leaves in `sums`, and so what the harness checks. Tile t is input[t * tile_of(block)] and those that follow. */
enum sums_are {
    ONE_PER_TILE,    /* sums[t] is the sum of tile t, added up as `element` */
    ONE_PER_BLOCK,   /* sums[b] is the sum of the tiles b, b + grid, b + 2 * grid ..., added up as `total` */
    ONE_IN_ALL,      /* sums[0] is the whole sum: those of the blocks, as above, added up by one block */
    ONE_IN_ANY_ORDER /* the same, added up one after another in any order */
};

static inline size_t sums_written(enum sums_are sums_are, size_t tiles, unsigned grid)
{
    return sums_are == ONE_PER_TILE ? tiles : sums_are == ONE_PER_BLOCK ? grid : 1;
}

typedef size_t tile_function(unsigned block);
typedef unsigned launch_function(const struct reduction *r); /* returns the grid: how many blocks it started */

/* A step, with what the Makefile knows about it: its folder, the folder before, and its "Watch:" line. */
struct step {
    const char *name;
    const char *before; /* "" for the first */
    const char *watch;
    enum sums_are sums_are;
    tile_function *tile_of;
    launch_function *launch;
};

#ifdef __cplusplus
extern "C" {
#endif

int run_step(int argc, char **argv, const struct step *step);

/* The end of a switch over block sizes: says so on stderr and exits with status 2. */
void no_kernel_for(unsigned block);

#ifdef __cplusplus
}
#endif

/* The grid: enough tiles for n elements, and one block even for none, so that a sum of nothing is written too. */
static inline unsigned blocks_for(size_t n, size_t tile)
{
    return n == 0 ? 1 : (unsigned)((n - 1) / tile + 1);
}

/* The same for blocks that share the tiles: no more than have room for their threads on the device at a time. (Of blocks of 32 an
 * SM holds fewer than that, and the others follow.) */
static inline unsigned resident_blocks_for(const struct reduction *r, size_t tile)
{
    unsigned needed = blocks_for(r->n, tile), resident = r->resident_threads / r->block;
    return needed < resident ? needed : resident;
}

#ifdef __CUDACC__
#ifndef STEP_NAME /* compiled by hand, without the Makefile */
#define STEP_NAME "this program"
#define STEP_BEFORE ""
#define STEP_WATCH ""
#endif
static inline int harness_main(int argc, char **argv, enum sums_are sums_are, tile_function *tile_of, launch_function *launch)
{
    struct step step = {STEP_NAME, STEP_BEFORE, STEP_WATCH, sums_are, tile_of, launch};
    return run_step(argc, argv, &step);
}
#endif
#endif
