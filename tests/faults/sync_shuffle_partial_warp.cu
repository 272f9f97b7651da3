// a block of 48 shuffles with the mask of a full warp; check: sync; says: shuffle from absent lane
#include "fault.h"

__global__ void sum(const int *in, int *out)
{
    unsigned tid = threadIdx.x, lane = tid % 32;
    int total = in[tid];

#ifdef CORRECT
    unsigned lanes = min(32u, blockDim.x - (tid - lane)), mask = lanes == 32 ? 0xffffffff : (1u << lanes) - 1;
    for (unsigned step = 16; step > 0; step /= 2) {
        int other = __shfl_sync(mask, total, lane + step < lanes ? lane + step : lane);
        if (lane + step < lanes)
            total += other;
    }
#else
    for (unsigned step = 16; step > 0; step /= 2)
        total += __shfl_down_sync(0xffffffff, total, step); /* here */
#endif
    if (lane == 0)
        atomicAdd(out, total);
}

int main()
{
    int *in = counted(48), *out = cleared(1);

    sum<<<1, 48>>>(in, out);
    int status = finish(out, 48 * 49 / 2);
    cudaFree(in);
    cudaFree(out);
    return status;
}
