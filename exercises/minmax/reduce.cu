/* The least and the greatest, as a struct.
 * What is asked stands in README.md; make grade EX=minmax says how many points this file earns. */
#include "exercise.h"

__device__ struct extremes combine(struct extremes a, struct extremes b)
{
    return a;
}

__global__ void reduce(const int *input, size_t n, struct extremes *output)
{
}

void solve(const int *input, size_t n, struct extremes *output)
{
    reduce<<<1, 256>>>(input, n, output);
}
