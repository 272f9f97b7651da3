/* count[0]: how many of input[0] to input[n-1] are odd. Pointers are to device memory. */
#ifndef EXERCISE_H
#define EXERCISE_H
#include <stddef.h>
#ifdef __cplusplus
extern "C"
#endif
void solve(const int *input, size_t n, unsigned long long *count);
#endif
