// score 0; says: uses cudaMallocManaged
#include "exercise.h"

__global__ void copy(const int *input, size_t n, int *to)
{
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        to[i] = input[i];
}

void solve(const int *input, size_t n, long long *output)
{
    int *seen;
    long long sum = 0;

    cudaMallocManaged(&seen, n * sizeof *seen + 1);
    copy<<<1, 256>>>(input, n, seen);
    cudaDeviceSynchronize();
    for (size_t i = 0; i < n; i++)
        sum += seen[i];
    cudaMemcpy(output, &sum, sizeof sum, cudaMemcpyHostToDevice);
}
