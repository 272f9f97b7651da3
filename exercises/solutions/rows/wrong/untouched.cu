// loses: reads 4, requests 1; the skeleton as it was: a thread a row
#include "exercise.h"

__global__ void sum_rows(const float *matrix, size_t rows, size_t cols, double *sums)
{
    size_t row = (size_t)blockIdx.x * 256 + threadIdx.x;
    double sum = 0;

    if (row >= rows)
        return;
    for (size_t i = 0; i < cols; i++)
        sum += matrix[row * cols + i];
    sums[row] = sum;
}

void solve(const float *matrix, size_t rows, size_t cols, double *sums)
{
    sum_rows<<<(unsigned)((rows + 255) / 256), 256>>>(matrix, rows, cols, sums);
}
