// the last block adds up partial sums that no fence put before the counter; check: race; says: race on global memory
#include "fault.h"

#ifdef CORRECT
typedef volatile int *partials; // as in the Programming Guide
#else
typedef int *partials;
#endif

__global__ void sum(const int *in, partials partial, unsigned *arrived, int *out)
{
    __shared__ bool last;

    if (threadIdx.x == 0) {
        int mine = 0;
        for (int i = 0; i < 32; i++)
            mine += in[32 * blockIdx.x + i];
        partial[blockIdx.x] = mine; /* here */
#ifdef CORRECT
        __threadfence();
#endif
        last = atomicInc(arrived, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            total += partial[i]; /* here */
        *out = total;
        *arrived = 0;
    }
}

int main()
{
    int *in = counted(256), *partial = cleared(8), *arrived = cleared(1), *out = cleared(1);

    sum<<<8, 32>>>(in, partial, (unsigned *)arrived, out);
    int status = finish(out, 256 * 257 / 2);
    cudaFree(in);
    cudaFree(partial);
    cudaFree(arrived);
    cudaFree(out);
    return status;
}
