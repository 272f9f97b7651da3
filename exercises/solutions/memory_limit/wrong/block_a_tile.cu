// loses: instructions 2, grid 1; a block for every 256 elements
#include "exercise.h"

__device__ long long of_vector(int4 v)
{
    return ((long long)v.x + v.y) + ((long long)v.z + v.w);
}

__device__ long long of_warp(long long sum)
{
    for (unsigned offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    return sum;
}

__global__ void reduce(const int *input, size_t n, long long *output)
{
    __shared__ long long parts[8];
    const int4 *vector = (const int4 *)input;
    size_t vectors = n / 4, threads = (size_t)gridDim.x * 256;
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    long long sum = i < n % 4 ? input[4 * vectors + i] : 0;

    for (; i + 3 * threads < vectors; i += 4 * threads) {
        int4 a = vector[i], b = vector[i + threads], c = vector[i + 2 * threads], d = vector[i + 3 * threads];
        sum += (of_vector(a) + of_vector(b)) + (of_vector(c) + of_vector(d));
    }
    for (; i < vectors; i += threads)
        sum += of_vector(vector[i]);
    sum = of_warp(sum);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = of_warp(threadIdx.x < 8 ? parts[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            atomicAdd((unsigned long long *)output, (unsigned long long)sum);
    }
}

void solve(const int *input, size_t n, long long *output)
{

    cudaMemset(output, 0, sizeof *output);
    reduce<<<(unsigned)((n + 1023) / 1024 + 1) * 4, 256>>>(input, n, output);
}
