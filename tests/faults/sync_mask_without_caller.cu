// lanes call __shfl_sync with a mask that does not name them; check: sync; says: warp synchronisation; hangs a GPU
#include "fault.h"

__global__ void broadcast(const int *in, int *out)
{
    unsigned lane = threadIdx.x;
#ifdef CORRECT
    const unsigned mask = 0xffffffff;
#else
    const unsigned mask = 0x0000ffff;
#endif

    out[lane] = __shfl_sync(mask, in[lane], 5); /* here */
}

int main()
{
    int *in = counted(32), *out = cleared(32);

    broadcast<<<1, 32>>>(in, out);
    int status = finish(out, 6);
    cudaFree(in);
    cudaFree(out);
    return status;
}
