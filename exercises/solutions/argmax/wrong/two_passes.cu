// loses: reads 2; the array is searched again for the largest value
#include "exercise.h"

__device__ unsigned ordered(float x)
{
    unsigned bits = __float_as_uint(x);

    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__global__ void largest(const float *input, size_t n, unsigned *most)
{
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256)
        atomicMax(most, ordered(input[i]));
}

__global__ void find(const float *input, size_t n, const unsigned *most, size_t *index)
{
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256)
        if (ordered(input[i]) == *most)
            atomicMin((unsigned long long *)index, (unsigned long long)i);
}

void solve(const float *input, size_t n, size_t *index)
{
    unsigned *most;

    cudaMalloc(&most, sizeof *most);
    cudaMemset(most, 0, sizeof *most);
    cudaMemset(index, 0xff, sizeof *index);
    largest<<<64, 256>>>(input, n, most);
    find<<<64, 256>>>(input, n, most, index);
    cudaFree(most);
}
