// blocks add to one word of global memory with += in place of atomicAdd; check: race; says: race on global memory
#include "fault.h"

__global__ void count(int *out)
{
    if (threadIdx.x == 0) {
#ifdef CORRECT
        atomicAdd(out, 1);
#else
        *out += 1; /* here */
#endif
    }
}

int main()
{
    int *out = cleared(1);

    count<<<16, 32>>>(out);
    int status = finish(out, 16);
    cudaFree(out);
    return status;
}
