/* At the memory limit.
 * What is asked stands in README.md; make grade EX=memory_limit says how many points this file earns. */
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *output)
{
}

void solve(const int *input, size_t n, long long *output)
{
    reduce<<<1, 256>>>(input, n, output);
}
