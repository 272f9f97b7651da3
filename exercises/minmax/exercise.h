/* output[0]: the least and the greatest of input[0] to input[n-1]. n is at least 1. Pointers are to device memory. */
#ifndef EXERCISE_H
#define EXERCISE_H
#include <stddef.h>
struct extremes {
    int least;
    int greatest;
};
#ifdef __cplusplus
extern "C"
#endif
void solve(const int *input, size_t n, struct extremes *output);
#endif
