/* Step 0: a tree of additions in global memory, over the input itself.
 * Watch: global_load_sectors, far above the fewest possible (n * sizeof(element) / 32), and divergent_branches. */
#include "harness.h"

__global__ void reduce(element *input, total *sums, size_t n)
{
    unsigned block = blockDim.x;
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * block + tid;

    for (unsigned stride = 1; stride < block; stride *= 2) {
        if (tid % (2 * stride) == 0 && i + stride < n)
            input[i] += input[i + stride];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = i < n ? input[i] : 0;
}

/* How many elements one block sums. */
static size_t tile_of(unsigned block)
{
    return block;
}

static unsigned launch(const struct reduction *r)
{
    unsigned threads = r->block;
    unsigned grid = blocks_for(r->n, tile_of(r->block));
    size_t shared = 0;

    reduce<<<grid, threads, shared>>>(r->input, r->sums, r->n);
    return grid;
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, ONE_PER_TILE, tile_of, launch);
}
