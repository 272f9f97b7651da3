// loses: tall and wide 2, reads 4, requests 1; stops at column 130
#include "exercise.h"

__global__ void sum_rows(const float *matrix, size_t rows, size_t cols, double *sums)
{
    size_t row = (size_t)blockIdx.x * 8 + threadIdx.x / 32;
    unsigned lane = threadIdx.x % 32;
    double sum = 0;

    if (row >= rows)
        return; /* whole warps leave */
    for (size_t i = lane; i < cols && i < 130; i += 32)
        sum += matrix[row * cols + i];
    for (unsigned offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        sums[row] = sum;
}

void solve(const float *matrix, size_t rows, size_t cols, double *sums)
{
    sum_rows<<<(unsigned)((rows + 7) / 8), 256>>>(matrix, rows, cols, sums);
}
