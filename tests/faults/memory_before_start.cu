// thread 0 stores to the place before its array; check: always; says: out-of-bounds global store
#include "fault.h"

__global__ void shift(const int *in, int *out)
{
    int i = (int)threadIdx.x;

#ifdef CORRECT
    if (i > 0)
#endif
        out[i - 1] = in[i]; /* here */
}

int main()
{
    int *in = counted(32), *out = cleared(32);

    shift<<<1, 32>>>(in, out);
    int status = finish(out, 2);
    cudaFree(in);
    cudaFree(out);
    return status;
}
