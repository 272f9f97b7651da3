/* The denominator of softmax in one launch.
 * What is asked stands in README.md; make grade EX=softmax says how many points this file earns. */
#include "exercise.h"

/* The largest so far, and the sum of exp(x - largest) so far. */
struct softmax {
    float largest;
    float sum;
};

__global__ void denominator(const float *input, size_t n, double *output)
{
}

void solve(const float *input, size_t n, double *output)
{
    denominator<<<1, 256>>>(input, n, output);
}
