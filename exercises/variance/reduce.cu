/* Mean and variance in one pass.
 * What is asked stands in README.md; make grade EX=variance says how many points this file earns. */
#include "exercise.h"

__global__ void moments(const float *input, size_t n, double *output)
{
}

void solve(const float *input, size_t n, double *output)
{
    moments<<<1, 256>>>(input, n, output);
}
