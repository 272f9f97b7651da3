// loses: sums 2, race 5, sync 1; threads beyond the end do not come to the first barrier
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *sums)
{
    __shared__ int tile[256];
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * 512 + tid;

    tile[tid] = 0;
    if (i < n) {
        tile[tid] = input[i] + (i + 256 < n ? input[i + 256] : 0);
        __syncthreads();
    }
    for (unsigned stride = 128; stride > 32; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid < 32) {
        int sum = tile[tid];
        for (unsigned stride = 32; stride > 0; stride /= 2) {
            sum += tile[tid + stride];
            __syncwarp();
            tile[tid] = sum;
            __syncwarp();
        }
    }
    if (tid == 0)
        sums[blockIdx.x] = tile[0];
}

void solve(const int *input, size_t n, long long *sums)
{
    reduce<<<(unsigned)((n + 511) / 512), 256>>>(input, n, sums);
}
