// an index known only at run time leaves a thread's own array; check: always; says: out-of-bounds local
#include "fault.h"

__global__ void pick(const int *in, int n, int *out)
{
    int own[8];

    for (int i = 0; i < n; i++)
        own[in[i] - 1] = (int)threadIdx.x + i; /* here */
    out[threadIdx.x] = own[in[threadIdx.x % 8] - 1];
}

int main()
{
    int *in = counted(64), *out = cleared(32);

#ifdef CORRECT
    pick<<<1, 32>>>(in, 8, out);
#else
    pick<<<1, 32>>>(in, 64, out);
#endif
    int status = finish(out, 0);
    cudaFree(in);
    cudaFree(out);
    return status;
}
