/* Step 12: each GPU sums its shard with step 11's kernel, and NCCL adds up the sums of all.
 * Watch: the time of the collective beside the kernel's; more GPUs shorten the one, not the other. */
#define main main_of_step11 /* the same code, not a copy of it */
#include "../step11_onepass/reduce.cu"
#undef main

#include "multi/multi.h"

static unsigned launch_on(const struct reduction *r, cudaStream_t stream)
{
    unsigned grid = resident_blocks_for(r, tile_of(r->block));

    reduce<<<grid, r->block, 0, stream>>>(r->input, r->sums, r->n);
    return grid;
}

/* The sum of the chunks so far, for numbers that come from the host in chunks; always in the same order. */
static __global__ void add(total *sum, const total *part, int first)
{
    *sum = first ? *part : *sum + *part;
}

static void add_on(total *sum, const total *part, int first, cudaStream_t stream)
{
    add<<<1, 1, 0, stream>>>(sum, part, first);
}

int main(int argc, char **argv)
{
    struct multi_step step = {{STEP_NAME, STEP_BEFORE, STEP_WATCH, ONE_IN_ALL, tile_of, launch}, launch_on, add_on};
    return run_multi(argc, argv, &step);
}
