// a block of 2048 threads, and nobody asks whether it was launched; check: always; says: a block of 2048 threads; status: 0
#include "fault.h"

__global__ void count(int *out)
{
    if (threadIdx.x == 0)
        atomicAdd(out, (int)blockDim.x);
}

int main()
{
    int *out = cleared(1);

#ifdef CORRECT
    count<<<2, 1024>>>(out);
#else
    count<<<1, 2048>>>(out);
#endif
    int status = finish(out, 2048);
    cudaFree(out);
    return status;
}
