// loses: any n 4, nothing 1, cancelling 2, reads 3; the output is not cleared
#include "exercise.h"

__global__ void dot(const float *x, const float *y, size_t n, double *output)
{
    __shared__ double tile[256];
    unsigned tid = threadIdx.x;
    double sum = 0;

    for (size_t i = (size_t)blockIdx.x * 256 + tid; i < n; i += (size_t)gridDim.x * 256)
        sum += (double)x[i] * y[i];
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

void solve(const float *x, const float *y, size_t n, double *output)
{
    dot<<<128, 256>>>(x, y, n, output);
}
