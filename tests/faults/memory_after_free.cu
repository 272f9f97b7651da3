// a kernel reads an array that cudaFree gave back; check: always; says: use after free
#include "fault.h"

__global__ void copy(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x]; /* here */
}

int main()
{
    int *in = counted(32), *out = cleared(32);

#ifndef CORRECT
    cudaFree(in);
#endif
    copy<<<1, 32>>>(in, out);
    int status = finish(out, 1);
#ifdef CORRECT
    cudaFree(in);
#endif
    cudaFree(out);
    return status;
}
