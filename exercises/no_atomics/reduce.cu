/* One number without atomics.
 * What is asked stands in README.md; make grade EX=no_atomics says how many points this file earns. */
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *sums)
{
}

void solve(const int *input, size_t n, long long *output)
{
    reduce<<<1, 256>>>(input, n, output);
}
