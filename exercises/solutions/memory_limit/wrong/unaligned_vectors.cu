// loses: any n 2, sectors 1, requests 3, instructions 2, grid 1, conflicts 1; vectors from element 1 on are not aligned to 16 bytes
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *output)
{
    const int4 *vector = (const int4 *)(input + n % 4);
    size_t vectors = n / 4, threads = (size_t)gridDim.x * 256;
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    long long sum = i < n % 4 ? input[i] : 0;

    for (; i < vectors; i += threads)
        sum += (long long)vector[i].x + vector[i].y + vector[i].z + vector[i].w;
    for (unsigned offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd((unsigned long long *)output, (unsigned long long)sum);
}

void solve(const int *input, size_t n, long long *output)
{
    cudaMemset(output, 0, sizeof *output);
    reduce<<<128, 256>>>(input, n, output);
}
