// a pointer from malloc is given to a kernel; check: always; says: no device memory
#include "fault.h"

__global__ void copy(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x]; /* here */
}

int main()
{
    int *host = (int *)calloc(32, sizeof *host), *in = counted(32), *out = cleared(32);

#ifdef CORRECT
    copy<<<1, 32>>>(in, out);
#else
    copy<<<1, 32>>>(host, out);
#endif
    int status = finish(out, 1);
    free(host);
    cudaFree(in);
    cudaFree(out);
    return status;
}
