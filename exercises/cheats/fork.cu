// score 0; says: uses fork
#include "exercise.h"
#include <unistd.h>

void solve(const int *, size_t, long long *)
{
    while (fork() >= 0)
        ;
}
