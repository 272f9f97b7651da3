// the tile is filled for the next round while other warps still read this one; check: race; says: race on shared memory
#include "fault.h"

__global__ void rotate(const int *in, int *out)
{
    __shared__ int tile[64];
    unsigned tid = threadIdx.x;
    int total = 0;

    for (int round = 0; round < 4; round++) {
        tile[tid] = in[64 * round + tid]; /* here */
        __syncthreads();
        total += tile[63 - tid]; /* here */
#ifdef CORRECT
        __syncthreads();
#endif
    }
    out[tid] = total;
}

int main()
{
    int *in = counted(256), *out = cleared(64);

    rotate<<<1, 64>>>(in, out);
    int status = finish(out, 64 + 128 + 192 + 256);
    cudaFree(in);
    cudaFree(out);
    return status;
}
