// loses: negative 3; the bits of negative floats rise where the floats fall
#include "exercise.h"

__global__ void largest(const float *input, size_t n, float *output)
{
    __shared__ float tile[256];
    unsigned tid = threadIdx.x;
    float most = -INFINITY;

    for (size_t i = (size_t)blockIdx.x * 256 + tid; i < n; i += (size_t)gridDim.x * 256)
        most = __int_as_float(max(__float_as_int(most), __float_as_int(input[i])));
    tile[tid] = most;
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] = fmaxf(tile[tid], tile[tid + stride]);
        __syncthreads();
    }
    if (tid == 0)
        output[blockIdx.x] = tile[0];
}

void solve(const float *input, size_t n, float *output)
{
    const unsigned blocks = 128;
    float *parts;

    cudaMalloc(&parts, blocks * sizeof *parts);
    largest<<<blocks, 256>>>(input, n, parts);
    largest<<<1, 256>>>(parts, blocks, output);
    cudaFree(parts);
}
