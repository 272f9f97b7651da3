// an array that nobody gives back; check: leak; says: leak: 1 allocation of device memory never freed; status: 0
#include "fault.h"

__global__ void copy(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x];
}

int main()
{
    int *in = counted(32), *out = cleared(32);

    copy<<<1, 32>>>(in, out);
    int status = finish(out, 1);
    cudaFree(out);
#ifdef CORRECT
    cudaFree(in);
#endif
    return status;
}
