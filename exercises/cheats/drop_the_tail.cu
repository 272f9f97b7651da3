// score 2; says: n = 31
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *output)
{
    __shared__ long long tile[256];
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * 256 + tid;

    tile[tid] = i < n ? input[i] : 0;
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
        reduce<<<(unsigned)(n / 256), 256>>>(input, n, output);
}
