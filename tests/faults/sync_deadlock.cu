// two warps wait for each other at two named barriers, in opposite order; check: sync; says: of the threads it waits for, and no more can come; hangs a GPU
#include "fault.h"

static __device__ void meet(int barrier)
{
    asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory");
}

__global__ void exchange(const int *in, int *out)
{
    __shared__ int tile[64];
    unsigned tid = threadIdx.x;

    tile[tid] = in[tid];
#ifdef CORRECT
    meet(1);
    meet(2);
#else
    if (tid < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory"); /* here */
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
#endif
    out[tid] = tile[63 - tid];
}

int main()
{
    int *in = counted(64), *out = cleared(64);

    exchange<<<1, 64>>>(in, out);
    int status = finish(out, 64);
    cudaFree(in);
    cudaFree(out);
    return status;
}
