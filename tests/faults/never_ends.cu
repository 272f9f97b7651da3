// a loop waits for a flag that nobody sets; check: always; says: the kernel never ends; env: EMULATOR_TIMEOUT=100000; hangs a GPU
#include "fault.h"

__global__ void wait(volatile int *flag, int *out)
{
    if (threadIdx.x == 0) {
        while (*flag == 0) { /* here */
        }
        *out = 1;
    }
#ifdef CORRECT
    if (threadIdx.x == 32)
        *flag = 1;
#endif
}

int main()
{
    int *flag = cleared(1), *out = cleared(1);

    wait<<<1, 64>>>(flag, out);
    int status = finish(out, 1);
    cudaFree(flag);
    cudaFree(out);
    return status;
}
