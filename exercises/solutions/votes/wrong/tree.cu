// loses: sharing 2; a tree in shared memory in place of votes
#include "exercise.h"

__global__ void count_odd(const int *input, size_t n, unsigned long long *count)
{
    __shared__ unsigned tile[256];
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * 256 + tid;

    tile[tid] = i < n && (input[i] & 1);
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        atomicAdd(count, (unsigned long long)tile[0]);
}

void solve(const int *input, size_t n, unsigned long long *count)
{
    cudaMemset(count, 0, sizeof *count);
    if (n > 0)
        count_odd<<<(unsigned)((n + 255) / 256), 256>>>(input, n, count);
}
