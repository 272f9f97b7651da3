// cudaMemcpy counts elements where it wants bytes, so the tail is never written; check: init; says: uninitialised global memory
#include "fault.h"

__global__ void scale(const int *in, int *out)
{
    out[threadIdx.x] = 2 * in[threadIdx.x]; /* here */
}

int main()
{
    int host[64], *in = NULL, *out = cleared(64);

    for (int i = 0; i < 64; i++)
        host[i] = i + 1;
    cudaMalloc(&in, sizeof host);
#ifdef CORRECT
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
#else
    cudaMemcpy(in, host, 64, cudaMemcpyHostToDevice);
#endif
    scale<<<1, 64>>>(in, out);
    int status = finish(out, 2);
    cudaFree(in);
    cudaFree(out);
    return status;
}
