/* Step 1: the same tree in shared memory; every element is read from global memory once.
 * Watch: global_load_sectors fall to the fewest possible. */
#include "harness.h"

__global__ void reduce(element *input, total *sums, size_t n)
{
    extern __shared__ element tile[];
    unsigned block = blockDim.x;
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * block + tid;

    tile[tid] = i < n ? input[i] : 0;
    __syncthreads();
    for (unsigned stride = 1; stride < block; stride *= 2) {
        if (tid % (2 * stride) == 0)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = tile[0];
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
    size_t shared = threads * sizeof(element);

    reduce<<<grid, threads, shared>>>(r->input, r->sums, r->n);
    return grid;
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, ONE_PER_TILE, tile_of, launch);
}
