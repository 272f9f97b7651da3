// loses: few 1, two 1, one 2; the skeleton as it was
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *sums)
{
    __shared__ int tile[1024];
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * 1024 + tid;

    tile[tid] = i < n ? input[i] : 0;
    __syncthreads();
    for (unsigned stride = 512; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = tile[0];
}

void solve(const int *input, size_t n, long long *sums)
{
    reduce<<<(unsigned)((n + 1023) / 1024), 1024>>>(input, n, sums);
}
