/* The largest element.
 * What is asked stands in README.md; make grade EX=max says how many points this file earns. */
#include "exercise.h"

__global__ void largest(const float *input, size_t n, float *output)
{
    /* Find the largest element of this block. */
}

void solve(const float *input, size_t n, float *output)
{
    largest<<<1, 256>>>(input, n, output);
}
