// score 0; says: global store
#include "exercise.h"

__global__ void fill(const int *input, size_t n, long long *output)
{
    for (int i = -1000; i < 1000; i++)
        output[i] = input[0];
}

void solve(const int *input, size_t n, long long *output)
{
    fill<<<1, 1>>>(input, n, output);
}
