// lanes of one warp exchange through shared memory with no __syncwarp; check: race; says: race on shared memory
#include "fault.h"

__global__ void reverse(const int *in, int *out)
{
    __shared__ int tile[32];
    unsigned lane = threadIdx.x;

    tile[lane] = in[lane]; /* here */
#ifdef CORRECT
    __syncwarp();
#endif
    out[lane] = tile[31 - lane]; /* here */
}

int main()
{
    int *in = counted(32), *out = cleared(32);

    reverse<<<1, 32>>>(in, out);
    int status = finish(out, 32);
    cudaFree(in);
    cudaFree(out);
    return status;
}
