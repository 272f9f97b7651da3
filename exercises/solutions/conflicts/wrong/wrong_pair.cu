// loses: sums 2, conflicts 5, accesses 2, reads 1; the last stage adds the wrong element
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *sums)
{
    __shared__ int tile[256];
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * 256 + tid;

    tile[tid] = i < n ? input[i] : 0;
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride + (stride == 1)];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = tile[0];
}

void solve(const int *input, size_t n, long long *sums)
{
    reduce<<<(unsigned)((n + 255) / 256), 256>>>(input, n, sums);
}
