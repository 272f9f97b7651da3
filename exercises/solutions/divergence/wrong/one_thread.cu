// loses: lanes 3; one thread adds the tile by itself
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *sums)
{
    __shared__ int tile[256];
    unsigned block = blockDim.x;
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * block + tid;

    tile[tid] = i < n ? input[i] : 0;
    __syncthreads();
    if (tid == 0)
        for (unsigned k = 1; k < block; k++)
            tile[0] += tile[k];
    if (tid == 0)
        sums[blockIdx.x] = tile[0];
}

void solve(const int *input, size_t n, long long *sums)
{
    reduce<<<(unsigned)((n + 255) / 256), 256>>>(input, n, sums);
}
