// a flag says that data are ready, and no fence stands between them; check: race; says: race on global memory
#include "fault.h"

__global__ void hand_over(int *data, volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *data = 42; /* here */
#ifdef CORRECT
        __threadfence();
#endif
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
#ifdef CORRECT
        __threadfence();
#endif
        *out = *data; /* here */
    }
}

int main()
{
    int *data = cleared(1), *flag = cleared(1), *out = cleared(1);

    hand_over<<<2, 1>>>(data, flag, out);
    int status = finish(out, 42);
    cudaFree(data);
    cudaFree(flag);
    cudaFree(out);
    return status;
}
