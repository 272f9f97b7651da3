// loses: sums 2, race 2, block 1, few 1, two 1, one 2, reads 1; the last warp reads before the others have written
#include "exercise.h"

__device__ int of_warp(int sum)
{
    for (unsigned offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    return sum;
}

__global__ void reduce(const int *input, size_t n, long long *sums)
{
    __shared__ int parts[32];
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * 1024 + tid;
    int sum = of_warp(i < n ? input[i] : 0);

    if (tid % 32 == 0)
        parts[tid / 32] = sum;
    if (tid < 32) {
        sum = of_warp(parts[tid]);
        if (tid == 0)
            sums[blockIdx.x] = sum;
    }
}

void solve(const int *input, size_t n, long long *sums)
{
    reduce<<<(unsigned)((n + 1023) / 1024), 1024>>>(input, n, sums);
}
