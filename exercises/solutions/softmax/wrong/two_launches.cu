// loses: launch 2, reads 1; one launch for the largest, and one for the sum
#include "exercise.h"

__device__ int ordered(float x)
{
    int bits = __float_as_int(x);

    return bits >= 0 ? bits : bits ^ 0x7fffffff;
}

__global__ void largest(const float *input, size_t n, int *most)
{
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256)
        atomicMax(most, ordered(input[i]));
}

__global__ void add_up(const float *input, size_t n, const int *most, double *output)
{
    __shared__ double tile[256];
    unsigned tid = threadIdx.x;
    float top = __int_as_float(*most >= 0 ? *most : *most ^ 0x7fffffff);
    double sum = 0;

    for (size_t i = (size_t)blockIdx.x * 256 + tid; i < n; i += (size_t)gridDim.x * 256)
        sum += expf(input[i] - top);
    tile[tid] = sum;
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid == 0) {
        atomicAdd(output + 1, tile[0]);
        if (blockIdx.x == 0)
            output[0] = top;
    }
}

void solve(const float *input, size_t n, double *output)
{
    int *most;

    cudaMalloc(&most, sizeof *most);
    cudaMemset(most, 0x80, sizeof *most);
    cudaMemset(output, 0, 2 * sizeof *output);
    largest<<<64, 256>>>(input, n, most);
    add_up<<<64, 256>>>(input, n, most, output);
    cudaFree(most);
}
