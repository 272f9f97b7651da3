// loses: offset 4; the mean of the squares minus the square of the mean
#include "exercise.h"

struct sums {
    double first, second; /* of d and of d * d */
};

__device__ struct sums of_block(struct sums mine)
{
    __shared__ struct sums tile[256];
    unsigned tid = threadIdx.x;

    tile[tid] = mine;
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (tid < stride) {
            tile[tid].first += tile[tid + stride].first;
            tile[tid].second += tile[tid + stride].second;
        }
        __syncthreads();
    }
    return tile[0];
}

__global__ void each_block(const float *input, size_t n, struct sums *parts)
{
    double shift = 0;
    struct sums mine = {0, 0};

    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) {
        double d = input[i] - shift;
        mine.first += d;
        mine.second += d * d;
    }
    mine = of_block(mine);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = mine;
}

__global__ void all_blocks(const struct sums *parts, unsigned count, const float *input, size_t n, double *output)
{
    struct sums none = {0, 0};
    struct sums all = of_block(threadIdx.x < count ? parts[threadIdx.x] : none);

    if (threadIdx.x == 0) {
        output[0] = all.first / n;
        output[1] = (all.second - all.first * all.first / n) / n;
    }
}

void solve(const float *input, size_t n, double *output)
{
    const unsigned blocks = 64;
    struct sums *parts;

    cudaMalloc(&parts, blocks * sizeof *parts);
    each_block<<<blocks, 256>>>(input, n, parts);
    all_blocks<<<1, 256>>>(parts, blocks, input, n, output);
    cudaFree(parts);
}
