// loses: near zero 2, far from zero 2, launch 2, parallel 1, reads 1; sums that belong to different largest elements are added as they are
#include "exercise.h"

struct softmax {
    float largest;
    float sum;
};

__device__ struct softmax combine(struct softmax a, struct softmax b)
{
    struct softmax both;

    if (b.largest > a.largest) {
        struct softmax c = a;
        a = b;
        b = c;
    }
    both.largest = a.largest;
    both.sum = b.sum > 0 ? a.sum + b.sum : a.sum; /* an empty one has no place */
    return both;
}

__device__ struct softmax of_block(struct softmax mine)
{
    __shared__ struct softmax tile[256];
    unsigned tid = threadIdx.x;

    __syncthreads(); /* the tile of the call before */
    tile[tid] = mine;
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] = combine(tile[tid], tile[tid + stride]);
        __syncthreads();
    }
    return tile[0];
}

__global__ void denominator(const float *input, size_t n, struct softmax *parts, unsigned *finished, double *output)
{
    __shared__ bool last;
    struct softmax mine = {-INFINITY, 0};

    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) {
        struct softmax here = {input[i], 1};
        mine = combine(mine, here);
    }
    mine = of_block(mine);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = mine;
        __threadfence();
        last = atomicAdd(finished, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    mine.largest = -INFINITY;
    mine.sum = 0;
    if (threadIdx.x < gridDim.x)
        mine = parts[threadIdx.x];
    mine = of_block(mine);
    if (threadIdx.x == 0) {
        output[0] = mine.largest;
        output[1] = mine.sum;
    }
}

void solve(const float *input, size_t n, double *output)
{
    const unsigned blocks = 64;
    struct softmax *parts;
    unsigned *finished;

    cudaMalloc(&parts, blocks * sizeof *parts);
    cudaMalloc(&finished, sizeof *finished);
    cudaMemset(finished, 0, sizeof *finished);
    denominator<<<blocks, 256>>>(input, n, parts, finished, output);
    cudaFree(parts);
    cudaFree(finished);
}
