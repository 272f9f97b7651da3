// the textbook's last warp: volatile in place of a warp barrier; check: race; says: race on shared memory
#include "fault.h"

__global__ void sum(const int *in, int *out)
{
    __shared__ int shared[64];
    unsigned lane = threadIdx.x;

    shared[lane] = in[lane];
    shared[lane + 32] = in[lane + 32];
    __syncwarp();
#ifdef CORRECT
    int total = shared[lane];
    for (unsigned stride = 32; stride > 0; stride /= 2) {
        total += shared[lane + stride];
        __syncwarp();
        shared[lane] = total;
        __syncwarp();
    }
#else
    volatile int *tile = shared;
    tile[lane] += tile[lane + 32]; /* here */
    tile[lane] += tile[lane + 16]; /* here */
    tile[lane] += tile[lane + 8];
    tile[lane] += tile[lane + 4];
    tile[lane] += tile[lane + 2];
    tile[lane] += tile[lane + 1];
#endif
    if (lane == 0)
        *out = shared[0];
}

int main()
{
    int *in = counted(64), *out = cleared(1);

    sum<<<1, 32>>>(in, out);
    int status = finish(out, 64 * 65 / 2);
    cudaFree(in);
    cudaFree(out);
    return status;
}
