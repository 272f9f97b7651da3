/* Computes: the product of two square matrices by tiles in shared memory. Prints a checksum. */
#include <cstdio>
#include <vector>

enum { TILE = 16, SIDE = 768 };

__global__ void product(const float *a, const float *b, float *c, int side)
{
    __shared__ float x[TILE][TILE], y[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;

    for (int k = 0; k < side; k += TILE) {
        x[threadIdx.y][threadIdx.x] = a[row * side + k + threadIdx.x];
        y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * side + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += x[threadIdx.y][i] * y[i][threadIdx.x];
        __syncthreads();
    }
    c[row * side + column] = sum;
}

int main()
{
    const size_t bytes = sizeof(float) * SIDE * SIDE;
    std::vector<float> host(SIDE * SIDE);
    float *a, *b, *c;
    double sum = 0;

    for (int i = 0; i < SIDE * SIDE; i++)
        host[i] = (float)(i % 7);
    if (cudaMalloc(&a, bytes) || cudaMalloc(&b, bytes) || cudaMalloc(&c, bytes))
        return 3;
    cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host.data(), bytes, cudaMemcpyHostToDevice);
    product<<<dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, TILE)>>>(a, b, c, SIDE);
    if (cudaMemcpy(host.data(), c, bytes, cudaMemcpyDeviceToHost))
        return 3;
    for (float x : host)
        sum += x;
    printf("%.0f\n", sum);
    cudaFree(a), cudaFree(b), cudaFree(c);
}
