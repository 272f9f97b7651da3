// loses: atomics 1; an atomic a warp
#include "exercise.h"

__global__ void count_odd(const int *input, size_t n, unsigned long long *count)
{
    unsigned tid = threadIdx.x, lane = tid % 32, mine = 0;

    for (size_t first = (size_t)blockIdx.x * blockDim.x + tid - lane; first < n; first += (size_t)gridDim.x * blockDim.x) {
        bool odd = first + lane < n && (input[first + lane] & 1);
        mine += __popc(__ballot_sync(0xffffffff, odd));
    }
    if (lane == 0)
        atomicAdd(count, (unsigned long long)mine);
}

void solve(const int *input, size_t n, unsigned long long *count)
{
    cudaMemset(count, 0, sizeof *count);
    count_odd<<<64, 256>>>(input, n, count);
}
