// loses: divergent 3, lanes 3; an & in place of % spares the division alone
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *sums)
{
    __shared__ int tile[256];
    unsigned block = blockDim.x;
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * block + tid;

    tile[tid] = i < n ? input[i] : 0;
    __syncthreads();
    for (unsigned stride = 1; stride < block; stride *= 2) {
        if ((tid & (2 * stride - 1)) == 0)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = tile[0];
}

void solve(const int *input, size_t n, long long *sums)
{
    reduce<<<(unsigned)((n + 255) / 256), 256>>>(input, n, sums);
}
