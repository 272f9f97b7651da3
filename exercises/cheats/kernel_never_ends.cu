// score 0; says: fault
#include "exercise.h"

__global__ void spin(volatile long long *output)
{
    while (output[0] != 0)
        ;
}

void solve(const int *, size_t, long long *output)
{
    spin<<<1, 32>>>(output);
}
