// a maximum by reading, comparing and storing: another thread comes between; check: race; says: race on global memory
#include "fault.h"

// The twin is the Programming Guide's way to make any atomic. Its first read is a plain load beside other threads' atomics, and no
// race: what it got is compared again.
__global__ void maximum(int *out)
{
    int value = (int)(blockIdx.x * blockDim.x + threadIdx.x);
#ifdef CORRECT
    int old = *out, assumed;
    do {
        assumed = old;
        old = atomicCAS(out, assumed, max(assumed, value));
    } while (assumed != old);
#else
    if (*out < value)
        *out = value; /* here */
#endif
}

int main()
{
    int *out = cleared(1);

    maximum<<<16, 32>>>(out);
    int status = finish(out, 511);
    cudaFree(out);
    return status;
}
