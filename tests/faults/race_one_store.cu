// one instruction stores different values of its lanes to one word; check: race; says: race on shared memory
#include "fault.h"

__global__ void largest(const int *in, int *out)
{
    __shared__ int found;
    unsigned tid = threadIdx.x;

    if (in[tid] > 20)
#ifdef CORRECT
        found = 1; // all the same value: harmless
#else
        found = in[tid]; /* here */
#endif
    __syncwarp();
    if (tid == 0)
        *out = found > 0;
}

int main()
{
    int *in = counted(32), *out = cleared(1);

    largest<<<1, 32>>>(in, out);
    int status = finish(out, 1);
    cudaFree(in);
    cudaFree(out);
    return status;
}
