// loses: reads 3; each thread reads a run of its own
#include "exercise.h"

__global__ void dot(const float *x, const float *y, size_t n, double *output)
{
    __shared__ double tile[256];
    unsigned tid = threadIdx.x;
    double sum = 0;

    size_t each = (n + gridDim.x * 256 - 1) / (gridDim.x * 256), first = ((size_t)blockIdx.x * 256 + tid) * each;
    for (size_t i = first; i < first + each && i < n; i++)
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
    cudaMemset(output, 0, sizeof *output);
    dot<<<128, 256>>>(x, y, n, output);
}
