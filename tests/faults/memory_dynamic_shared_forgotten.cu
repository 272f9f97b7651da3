// a kernel with dynamic shared memory, launched without its size; check: always; says: out-of-bounds shared store
#include "fault.h"

__global__ void reverse(const int *in, int *out)
{
    extern __shared__ int tile[];
    unsigned tid = threadIdx.x;

    tile[tid] = in[tid]; /* here */
    __syncthreads();
    out[tid] = tile[blockDim.x - 1 - tid];
}

int main()
{
    int *in = counted(64), *out = cleared(64);

#ifdef CORRECT
    reverse<<<1, 64, 64 * sizeof(int)>>>(in, out);
#else
    reverse<<<1, 64>>>(in, out);
#endif
    int status = finish(out, 64);
    cudaFree(in);
    cudaFree(out);
    return status;
}
