/* What a step needs: the types of its numbers, the description of one launch, and the harness that does everything else.
 * A step hands harness_main two functions: tile_of says how many elements a block sums, launch starts the kernel. */
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

/* One launch. `input` and `sums` are on the device; sums[b] becomes the sum of the b-th tile. */
struct reduction {
    element *input; /* n elements; a step may overwrite them, the harness restores them before every launch */
    total *sums;    /* one a tile */
    size_t n;
    unsigned block; /* what --block says: a power of two from 32 to 1024 */
};

typedef size_t tile_function(unsigned block);
typedef void launch_function(const struct reduction *r);

/* A step, with what the Makefile knows about it: its folder, the folder before, and its "Watch:" line. */
struct step {
    const char *name;
    const char *before; /* "" for the first */
    const char *watch;
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

#ifdef __CUDACC__
#ifndef STEP_NAME /* compiled by hand, without the Makefile */
#define STEP_NAME "this program"
#define STEP_BEFORE ""
#define STEP_WATCH ""
#endif
static inline int harness_main(int argc, char **argv, tile_function *tile_of, launch_function *launch)
{
    struct step step = {STEP_NAME, STEP_BEFORE, STEP_WATCH, tile_of, launch};
    return run_step(argc, argv, &step);
}
#endif
#endif
