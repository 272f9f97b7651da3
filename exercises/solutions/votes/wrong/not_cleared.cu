// loses: any n 3, nothing 1, all or none 1, sync 1, sharing 2, atomics 1, reads 1; the count is not cleared
#include "exercise.h"

__global__ void count_odd(const int *input, size_t n, unsigned long long *count)
{
    __shared__ unsigned of_warp[32];
    unsigned tid = threadIdx.x, lane = tid % 32, mine = 0;

    for (size_t first = (size_t)blockIdx.x * blockDim.x + tid - lane; first < n; first += (size_t)gridDim.x * blockDim.x) {
        bool odd = first + lane < n && (input[first + lane] & 1);
        mine += __popc(__ballot_sync(0xffffffff, odd));
    }
    if (lane == 0)
        of_warp[tid / 32] = mine;
    __syncthreads();
    if (tid == 0) {
        unsigned long long sum = 0;
        for (unsigned w = 0; w < blockDim.x / 32; w++)
            sum += of_warp[w];
        atomicAdd(count, sum);
    }
}

void solve(const int *input, size_t n, unsigned long long *count)
{
    count_odd<<<64, 256>>>(input, n, count);
}
