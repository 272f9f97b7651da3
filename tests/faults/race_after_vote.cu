// a vote is taken for a barrier, and lockstep for an order; check: race; says: race on shared memory
#include "fault.h"

__global__ void compact(const int *in, int *out)
{
    __shared__ int kept[32];
    unsigned lane = threadIdx.x;
    bool odd = in[lane] % 2;
    unsigned odds = __ballot_sync(0xffffffff, odd);

    if (odd)
        kept[__popc(odds & ((1u << lane) - 1))] = in[lane]; /* here */
    unsigned again = __ballot_sync(0xffffffff, odd);
#ifdef CORRECT
    __syncwarp();
#endif
    if (lane < __popc(again))
        out[lane] = kept[__popc(again) - 1 - lane]; /* here */
}

int main()
{
    int *in = counted(32), *out = cleared(32);

    compact<<<1, 32>>>(in, out);
    int status = finish(out, 31);
    cudaFree(in);
    cudaFree(out);
    return status;
}
