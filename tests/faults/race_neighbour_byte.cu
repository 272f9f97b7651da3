// warps write bytes of one word: their own is no race, the next one's is; check: race; says: race on shared memory
#include "fault.h"

__global__ void mark(int *out)
{
    __shared__ unsigned char seen[66];
    unsigned tid = threadIdx.x, warp = tid / 32, lane = tid % 32;

#ifdef CORRECT
    seen[2 * lane + warp] = (unsigned char)(warp + 1);
#else
    seen[2 * lane + 2 * warp] = (unsigned char)(warp + 1); /* here */
#endif
    __syncthreads();
    if (tid == 0)
        *out = seen[2] + seen[3];
}

int main()
{
    int *out = cleared(1);

    mark<<<1, 64>>>(out);
    int status = finish(out, 3);
    cudaFree(out);
    return status;
}
