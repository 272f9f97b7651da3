// a grid of whole blocks and no guard: a load past the end of an array; check: always; says: out-of-bounds global load
#include "fault.h"

__global__ void copy(const int *in, int n, int *out)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

#ifdef CORRECT
    if (i < n)
#endif
        out[i] = in[i]; /* here */
}

int main()
{
    int *in = counted(100), *out = cleared(128);

    copy<<<2, 64>>>(in, 100, out);
    int status = finish(out, 1);
    cudaFree(in);
    cudaFree(out);
    return status;
}
