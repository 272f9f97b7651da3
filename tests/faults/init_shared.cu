// a tile is filled up to n and added up to its end; check: init; says: uninitialised shared memory
#include "fault.h"

__global__ void sum(const int *in, int n, int *out)
{
    __shared__ int tile[64];
    int tid = (int)threadIdx.x;

#ifdef CORRECT
    tile[tid] = tid < n ? in[tid] : 0;
#else
    if (tid < n)
        tile[tid] = in[tid];
#endif
    __syncthreads();
    if (tid == 0) {
        int total = 0;
        for (int i = 0; i < 64; i++)
            total += tile[i]; /* here */
        *out = total;
    }
}

int main()
{
    int *in = counted(50), *out = cleared(1);

    sum<<<1, 64>>>(in, 50, out);
    int status = finish(out, 50 * 51 / 2);
    cudaFree(in);
    cudaFree(out);
    return status;
}
