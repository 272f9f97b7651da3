/* A sum that works for any n.
 * What is asked stands in README.md; make grade EX=any_n says how many points this file earns. */
#include "exercise.h"

__global__ void reduce(const int *input, size_t n, long long *output)
{
    /* Add up the elements of this block and add the result to output[0]. */
}

void solve(const int *input, size_t n, long long *output)
{
    /* Set output[0], and launch. One block of one thread is not enough. */
    reduce<<<1, 1>>>(input, n, output);
}
