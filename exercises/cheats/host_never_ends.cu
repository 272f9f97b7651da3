// score 0; says: ran too long
#include "exercise.h"

void solve(const int *, size_t, long long *)
{
    volatile int forever = 1;

    while (forever)
        ;
}
