// a block larger than the tile that it fills; check: always; says: out-of-bounds shared store
#include "fault.h"

__global__ void reverse(const int *in, int *out)
{
#ifdef CORRECT
    __shared__ int tile[96];
#else
    __shared__ int tile[64];
#endif
    unsigned tid = threadIdx.x;

    tile[tid] = in[tid]; /* here */
    __syncthreads();
    out[tid] = tile[blockDim.x - 1 - tid];
}

int main()
{
    int *in = counted(96), *out = cleared(96);

    reverse<<<1, 96>>>(in, out);
    int status = finish(out, 96);
    cudaFree(in);
    cudaFree(out);
    return status;
}
