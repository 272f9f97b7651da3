/* output[0]: the largest of input[0] to input[n-1]; output[1]: the sum of exp(input[i] - output[0]). n is at least 1. Pointers are to device memory. */
#ifndef EXERCISE_H
#define EXERCISE_H
#include <stddef.h>
#ifdef __cplusplus
extern "C"
#endif
void solve(const float *input, size_t n, double *output);
#endif
