// score 0; says: device memory cannot be read on the host
#include "exercise.h"

void solve(const int *input, size_t n, long long *output)
{
    *output = 0;
    for (size_t i = 0; i < n; i++)
        *output += input[i];
}
