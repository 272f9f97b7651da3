/* The sum of a float reduction is not a number. */
#include "harness.h"

__global__ void reduce(const element *input, total *sums, size_t n)
{
    unsigned block = blockDim.x;
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * block + tid;
    extern __shared__ element tile[];

    tile[tid] = i < n ? input[i] : 0;
    __syncthreads();
    for (unsigned stride = block / 2; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = (total)0 / (total)(tile[0] - tile[0]);
}

static size_t tile_of(unsigned block)
{
    return block;
}

static unsigned launch(const struct reduction *r)
{
    unsigned grid = blocks_for(r->n, tile_of(r->block));

    reduce<<<grid, r->block, r->block * sizeof(element)>>>(r->input, r->sums, r->n);
    return grid;
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, ONE_PER_TILE, tile_of, launch);
}
