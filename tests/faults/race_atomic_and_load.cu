// an atomic sum is read with a plain load while other blocks still add; check: race; says: race on global memory
#include "fault.h"

__global__ void count(int *total, int *copy)
{
    if (threadIdx.x == 0)
        atomicAdd(total, 1); /* here */
#ifndef CORRECT
    if (blockIdx.x == 3 && threadIdx.x == 0)
        *copy = *total; /* here */
#endif
}

__global__ void take(const int *total, int *copy)
{
    *copy = *total;
}

int main()
{
    int *total = cleared(1), *copy = cleared(1);

    count<<<8, 32>>>(total, copy);
#ifdef CORRECT
    take<<<1, 1>>>(total, copy);
#endif
    int status = finish(copy, 8);
    cudaFree(total);
    cudaFree(copy);
    return status;
}
