// loses: race 2, two 1, one 2; the last stages rely on lockstep
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *sums)
{
    __shared__ int tile[1024];
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * 1024 + tid;

    tile[tid] = i < n ? input[i] : 0;
    __syncthreads();
    for (unsigned stride = 512; stride > 32; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid < 32) {
        volatile int *t = tile;
        t[tid] += t[tid + 32];
        t[tid] += t[tid + 16];
        t[tid] += t[tid + 8];
        t[tid] += t[tid + 4];
        t[tid] += t[tid + 2];
        t[tid] += t[tid + 1];
    }
    if (tid == 0)
        sums[blockIdx.x] = tile[0];
}

void solve(const int *input, size_t n, long long *sums)
{
    reduce<<<(unsigned)((n + 1023) / 1024), 1024>>>(input, n, sums);
}
