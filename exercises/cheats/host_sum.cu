// score 0; says: bytes were copied to the host
#include "exercise.h"
#include <stdlib.h>

void solve(const int *input, size_t n, long long *output)
{
    int *copy = (int *)malloc(n * sizeof *copy);
    long long sum = 0;

    cudaMemcpy(copy, input, n * sizeof *copy, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < n; i++)
        sum += copy[i];
    cudaMemcpy(output, &sum, sizeof sum, cudaMemcpyHostToDevice);
    free(copy);
}
