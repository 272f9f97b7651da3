// loses: any n 2, large 2, atomics 2, parallel 2, reads 1; only whole multiples of 32 are added
#include "exercise.h"

template <class element>
__global__ void reduce(const element *input, size_t n, long long *sums)
{
    __shared__ long long tile[256];
    unsigned tid = threadIdx.x;
    long long sum = 0;

    for (size_t i = (size_t)blockIdx.x * 256 + tid; i < n / 32 * 32; i += (size_t)gridDim.x * 256)
        sum += input[i];
    tile[tid] = sum;
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = tile[0];
}

void solve(const int *input, size_t n, long long *output)
{
    const unsigned blocks = 264;
    long long *parts;

    cudaMalloc(&parts, blocks * sizeof *parts);
    reduce<<<blocks, 256>>>(input, n, parts);
    reduce<<<1, 256>>>((const long long *)parts, blocks, output);
    cudaFree(parts);
}
