/* Count by votes.
 * What is asked stands in README.md; make grade EX=votes says how many points this file earns. */
#include "exercise.h"

__global__ void count_odd(const int *input, size_t n, unsigned long long *count)
{
}

void solve(const int *input, size_t n, unsigned long long *count)
{
    count_odd<<<1, 256>>>(input, n, count);
}
