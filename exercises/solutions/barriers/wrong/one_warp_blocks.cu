// loses: block 1; blocks of one warp
#include "exercise.h"

__device__ int of_warp(int sum)
{
    for (unsigned offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    return sum;
}

__global__ void reduce(const int *input, size_t n, long long *sums)
{
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * 1024 + tid;
    int sum = 0;

    for (unsigned k = 0; k < 1024; k += 32)
        sum += i + k < n ? input[i + k] : 0;
    sum = of_warp(sum);
    if (tid == 0)
        sums[blockIdx.x] = sum;
}

void solve(const int *input, size_t n, long long *sums)
{
    reduce<<<(unsigned)((n + 1023) / 1024), 32>>>(input, n, sums);
}
