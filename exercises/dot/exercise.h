/* output[0]: the sum of x[i] * y[i] for i from 0 to n-1. Pointers are to device memory. */
#ifndef EXERCISE_H
#define EXERCISE_H
#include <stddef.h>
#ifdef __cplusplus
extern "C"
#endif
void solve(const float *x, const float *y, size_t n, double *output);
#endif
