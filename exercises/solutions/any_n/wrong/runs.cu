// loses: reads 3; a thread reads its own run of eight elements, so a load touches 32 sectors
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *output)
{
    __shared__ long long tile[256];
    unsigned tid = threadIdx.x;
    size_t first = ((size_t)blockIdx.x * 256 + tid) * 8;

    tile[tid] = 0;
    for (size_t i = first; i < first + 8 && i < n; i++)
        tile[tid] += input[i];
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        atomicAdd((unsigned long long *)output, (unsigned long long)tile[0]);
}

void solve(const int *input, size_t n, long long *output)
{
    cudaMemset(output, 0, sizeof *output);
    if (n > 0)
        reduce<<<(unsigned)((n + 2047) / 2048), 256>>>(input, n, output);
}
