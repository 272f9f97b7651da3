/* Dot product.
 * What is asked stands in README.md; make grade EX=dot says how many points this file earns. */
#include "exercise.h"

__global__ void dot(const float *x, const float *y, size_t n, double *output)
{
}

void solve(const float *x, const float *y, size_t n, double *output)
{
    dot<<<1, 256>>>(x, y, n, output);
}
