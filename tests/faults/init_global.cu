// atomicAdd to a sum from cudaMalloc that nothing cleared; check: init; says: uninitialised global memory
#include "fault.h"

__global__ void sum(const int *in, int *out)
{
    atomicAdd(out, in[threadIdx.x]); /* here */
}

int main()
{
    int *in = counted(32), *out = NULL;

    cudaMalloc(&out, sizeof *out);
#ifdef CORRECT
    cudaMemset(out, 0, sizeof *out);
#endif
    sum<<<1, 32>>>(in, out);
    int status = finish(out, 32 * 33 / 2);
    cudaFree(in);
    cudaFree(out);
    return status;
}
