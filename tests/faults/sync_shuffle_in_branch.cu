// half a warp shuffles with a mask that names the other half, which waits elsewhere; check: sync; says: warp synchronisation; hangs a GPU
#include "fault.h"

__global__ void sum(const int *in, int *out)
{
    unsigned lane = threadIdx.x;
    int total = in[lane];

    if (lane < 16) {
#ifdef CORRECT
        const unsigned mask = 0xffff;
#else
        const unsigned mask = 0xffffffff;
#endif
        for (unsigned step = 8; step > 0; step /= 2)
            total += __shfl_xor_sync(mask, total, step); /* here */
    }
    __syncthreads();
    if (lane == 0)
        *out = total;
}

int main()
{
    int *in = counted(32), *out = cleared(1);

    sum<<<1, 32>>>(in, out);
    int status = finish(out, 16 * 17 / 2);
    cudaFree(in);
    cudaFree(out);
    return status;
}
