// __syncwarp waits for lanes that wait at the block's barrier; check: sync; says: warp synchronisation; hangs a GPU
#include "fault.h"

__global__ void rotate(const int *in, int *out)
{
    __shared__ int tile[64];
    unsigned tid = threadIdx.x;

    tile[tid] = in[tid];
    if (tid % 32 < 8) {
#ifdef CORRECT
        __syncwarp(0xff);
#else
        __syncwarp(); /* here */
#endif
        tile[tid] += tid % 32;
    }
    __syncthreads();
    out[tid] = tile[63 - tid];
}

int main()
{
    int *in = counted(64), *out = cleared(64);

    rotate<<<1, 64>>>(in, out);
    int status = finish(out, 64);
    cudaFree(in);
    cudaFree(out);
    return status;
}
