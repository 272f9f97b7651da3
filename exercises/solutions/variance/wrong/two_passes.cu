// loses: reads 3; a first pass for the mean, a second for the variance
#include "exercise.h"

__global__ void add_up(const float *input, size_t n, const double *mean, double *output)
{
    __shared__ double tile[256];
    unsigned tid = threadIdx.x;
    double sum = 0;

    for (size_t i = (size_t)blockIdx.x * 256 + tid; i < n; i += (size_t)gridDim.x * 256)
        sum += mean ? (input[i] - mean[0]) * (input[i] - mean[0]) : input[i];
    tile[tid] = sum;
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        atomicAdd(output, tile[0]);
}

__global__ void divide(double *x, size_t n)
{
    *x /= n;
}

void solve(const float *input, size_t n, double *output)
{
    cudaMemset(output, 0, 2 * sizeof *output);
    add_up<<<64, 256>>>(input, n, nullptr, output);
    divide<<<1, 1>>>(output, n);
    add_up<<<64, 256>>>(input, n, output, output + 1);
    divide<<<1, 1>>>(output + 1, n);
}
