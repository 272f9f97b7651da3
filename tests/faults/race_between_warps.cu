// no barrier between the warps that fill a tile and the thread that adds it up; check: race; says: race on shared memory
#include "fault.h"

__global__ void sum(const int *in, int *out)
{
    __shared__ int tile[256];
    unsigned tid = threadIdx.x;

    tile[tid] = in[tid]; /* here */
#ifdef CORRECT
    __syncthreads();
#endif
    if (tid == 0) {
        int total = 0;
        for (int i = 0; i < 256; i++)
            total += tile[i]; /* here */
        *out = total;
    }
}

int main()
{
    int *in = counted(256), *out = cleared(1);

    sum<<<1, 256>>>(in, out);
    int status = finish(out, 256 * 257 / 2);
    cudaFree(in);
    cudaFree(out);
    return status;
}
