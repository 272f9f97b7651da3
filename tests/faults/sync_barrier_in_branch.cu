// two branches of an if, each with a __syncthreads of its own; check: sync; says: barrier divergence
#include "fault.h"

__global__ void sum(const int *in, int *out)
{
    __shared__ int tile[64];
    unsigned tid = threadIdx.x;

    tile[tid] = in[tid];
#ifdef CORRECT
    __syncthreads();
    if (tid == 0)
        *out = tile[0] + tile[63];
#else
    if (tid < 32) {
        __syncthreads(); /* here */
        if (tid == 0)
            *out = tile[0] + tile[63];
    } else {
        tile[tid] = tile[tid] / 2 + tile[tid] % 3;
        __syncthreads(); /* here */
    }
#endif
}

int main()
{
    int *in = counted(64), *out = cleared(1);

    sum<<<1, 64>>>(in, out);
    int status = finish(out, 65);
    cudaFree(in);
    cudaFree(out);
    return status;
}
