// loses: extreme 2; a billion is taken for the largest int
#include "exercise.h"
#include <limits.h>

__device__ struct extremes combine(struct extremes a, struct extremes b)
{
    struct extremes both = {min(a.least, b.least), max(a.greatest, b.greatest)};

    return both;
}

__device__ struct extremes of_block(struct extremes mine)
{
    __shared__ struct extremes tile[256];
    unsigned tid = threadIdx.x;

    tile[tid] = mine;
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] = combine(tile[tid], tile[tid + stride]);
        __syncthreads();
    }
    return tile[0];
}

__global__ void each_block(const int *input, size_t n, struct extremes *parts)
{
    struct extremes mine = {1000000000, -1000000000};

    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) {
        int x = max(-1000000000, min(1000000000, input[i]));
        struct extremes here = {x, x};
        mine = combine(mine, here);
    }
    mine = of_block(mine);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = mine;
}

__global__ void all_blocks(const struct extremes *parts, struct extremes *output)
{
    struct extremes mine = of_block(parts[threadIdx.x]);

    if (threadIdx.x == 0)
        output[0] = mine;
}

void solve(const int *input, size_t n, struct extremes *output)
{
    struct extremes *parts;

    cudaMalloc(&parts, 256 * sizeof *parts);
    each_block<<<256, 256>>>(input, n, parts);
    all_blocks<<<1, 256>>>(parts, output);
    cudaFree(parts);
}
