/* Moves: y = a x + y over two large arrays. Prints a checksum. */
#include <cstdio>
#include <vector>

__global__ void saxpy(size_t n, float a, const float *x, float *y)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main()
{
    const size_t n = (size_t)1 << 25, bytes = n * sizeof(float);
    std::vector<float> host(n);
    float *x, *y;
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        host[i] = (float)(i % 5);
    if (cudaMalloc(&x, bytes) || cudaMalloc(&y, bytes))
        return 3;
    cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(y, host.data(), bytes, cudaMemcpyHostToDevice);
    saxpy<<<(unsigned)((n + 255) / 256), 256>>>(n, 3, x, y);
    if (cudaMemcpy(host.data(), y, bytes, cudaMemcpyDeviceToHost))
        return 3;
    for (float value : host)
        sum += value;
    printf("%.0f\n", sum);
    cudaFree(x), cudaFree(y);
}
