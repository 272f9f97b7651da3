// loses: distinct 3, ties 4, negative 1; only whole multiples of 256 are looked at
#include "exercise.h"

struct place {
    float value;
    size_t index;
};

__device__ struct place better(struct place a, struct place b)
{
    return a.value > b.value || (a.value == b.value && a.index < b.index) ? a : b;
}

__device__ struct place of_block(struct place mine)
{
    __shared__ struct place tile[256];
    unsigned tid = threadIdx.x;

    tile[tid] = mine;
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] = better(tile[tid], tile[tid + stride]);
        __syncthreads();
    }
    return tile[0];
}

__global__ void each_block(const float *input, size_t n, struct place *parts)
{
    struct place mine = {-INFINITY, n};

    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n / 256 * 256; i += (size_t)gridDim.x * 256) {
        struct place here = {input[i], i};
        mine = better(mine, here);
    }
    mine = of_block(mine);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = mine;
}

__global__ void all_blocks(const struct place *parts, size_t *index)
{
    struct place mine = of_block(parts[threadIdx.x]);

    if (threadIdx.x == 0)
        index[0] = mine.index;
}

void solve(const float *input, size_t n, size_t *index)
{
    struct place *parts;

    cudaMalloc(&parts, 256 * sizeof *parts);
    each_block<<<256, 256>>>(input, n, parts);
    all_blocks<<<1, 256>>>(parts, index);
    cudaFree(parts);
}
