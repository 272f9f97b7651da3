/* Step 5: step 4's kernel with half the threads a block, over a tile as large as step 3's: only the launch changes.
 * Watch: barriers fall a little: twice the blocks, but each has half the warps and one round less. */
#include "harness.h"

__global__ void reduce(element *input, total *sums, size_t n)
{
    extern __shared__ element tile[];
    unsigned block = blockDim.x;
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * (2 * block) + tid;

    tile[tid] = (i < n ? input[i] : 0) + (i + block < n ? input[i + block] : 0);
    __syncthreads();
    for (unsigned stride = block / 2; stride > 0; stride /= 2) {
        if (tid < stride)
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
    unsigned threads = r->block / 2;
    unsigned grid = blocks_for(r->n, tile_of(r->block));
    size_t shared = threads * sizeof(element);

    reduce<<<grid, threads, shared>>>(r->input, r->sums, r->n);
    return grid;
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, ONE_PER_TILE, tile_of, launch);
}
