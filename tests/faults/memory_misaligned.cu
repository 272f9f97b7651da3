// 16-byte loads from an address that is a multiple of 4; check: always; says: misaligned global load
#include "fault.h"

__global__ void sum(const int *in, int *out)
{
    int4 four = reinterpret_cast<const int4 *>(in)[threadIdx.x]; /* here */

    atomicAdd(out, four.x + four.y + four.z + four.w);
}

int main()
{
    int *in = counted(160), *out = cleared(1);

#ifdef CORRECT
    sum<<<1, 32>>>(in + 4, out);
#else
    sum<<<1, 32>>>(in + 1, out);
#endif
    int status = finish(out, 132 * 133 / 2 - 10);
    cudaFree(in);
    cudaFree(out);
    return status;
}
