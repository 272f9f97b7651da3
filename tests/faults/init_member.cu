// one member of a struct is written, both are read by the next kernel; check: init; says: uninitialised global memory
#include "fault.h"

struct mean {
    int sum, count;
};

__global__ void fill(mean *of)
{
    of[threadIdx.x].sum = 6;
#ifdef CORRECT
    of[threadIdx.x].count = 3;
#endif
}

__global__ void divide(const mean *of, int *out)
{
    out[threadIdx.x] = of[threadIdx.x].count ? of[threadIdx.x].sum / of[threadIdx.x].count : 0; /* here */
}

int main()
{
    mean *of = NULL;
    int *out = cleared(32);

    cudaMalloc(&of, 32 * sizeof *of);
    fill<<<1, 32>>>(of);
    divide<<<1, 32>>>(of, out);
    int status = finish(out, 2);
    cudaFree(of);
    cudaFree(out);
    return status;
}
