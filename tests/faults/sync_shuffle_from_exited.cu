// a shuffle reads lanes that have returned; check: sync; says: shuffle from absent lane
#include "fault.h"

__global__ void sum(const int *in, int n, int *out)
{
    int lane = (int)threadIdx.x, total;

#ifdef CORRECT
    total = lane < n ? in[lane] : 0;
#else
    if (lane >= n)
        return;
    total = in[lane];
#endif
    for (unsigned step = 16; step > 0; step /= 2)
        total += __shfl_down_sync(0xffffffff, total, step); /* here */
    if (lane == 0)
        *out = total;
}

int main()
{
    int *in = counted(20), *out = cleared(1);

    sum<<<1, 32>>>(in, 20, out);
    int status = finish(out, 20 * 21 / 2);
    cudaFree(in);
    cudaFree(out);
    return status;
}
