/* Remove the bank conflicts.
 * What is asked stands in README.md; make grade EX=conflicts says how many points this file earns. */
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *sums)
{
    __shared__ int tile[256];
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * 256 + tid;

    tile[tid] = i < n ? input[i] : 0;
    __syncthreads();
    for (unsigned stride = 1; stride < 256; stride *= 2) {
        unsigned left = 2 * stride * tid;
        if (left < 256)
            tile[left] += tile[left + stride];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = tile[0];
}

void solve(const int *input, size_t n, long long *sums)
{
    reduce<<<(unsigned)((n + 255) / 256), 256>>>(input, n, sums);
}
