// threads leave before they write the place that others read: leaving is legal, the hole is not; check: init; says: uninitialised shared memory
#include "fault.h"

__global__ void sum(const int *in, int n, int *out)
{
    __shared__ int tile[64];
    int tid = (int)threadIdx.x;

#ifdef CORRECT
    tile[tid] = tid < n ? in[tid] : 0;
    if (tid >= n)
        return;
#else
    if (tid >= n)
        return;
    tile[tid] = in[tid];
#endif
    __syncthreads();
    if (tid < 16)
        atomicAdd(out, tile[tid] + tile[tid + 16] + tile[tid + 32] + tile[tid + 48]); /* here */
}

int main()
{
    int *in = counted(40), *out = cleared(1);

    sum<<<1, 64>>>(in, 40, out);
    int status = finish(out, 40 * 41 / 2);
    cudaFree(in);
    cudaFree(out);
    return status;
}
