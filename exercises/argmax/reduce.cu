/* Where the largest element stands.
 * What is asked stands in README.md; make grade EX=argmax says how many points this file earns. */
#include "exercise.h"

/* An element and where it stands. */
struct place {
    float value;
    size_t index;
};

__device__ struct place better(struct place a, struct place b)
{
    /* Which of the two? */
    return a;
}

__global__ void largest(const float *input, size_t n, size_t *index)
{
}

void solve(const float *input, size_t n, size_t *index)
{
    largest<<<1, 256>>>(input, n, index);
}
