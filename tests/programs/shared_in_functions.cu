// expect: got=ok
// Shared variables of functions, static, templated and extern: each kernel's layout holds those of every function it can reach,
// through a pointer too, and none lies on another.
#include <cstdio>

template <int n, int which> __device__ __noinline__ int reverse(int x)
{
    __shared__ int tile[n];
    tile[threadIdx.x % n] = x;
    __syncthreads();
    int y = tile[(n - 1) - threadIdx.x % n];
    __syncthreads();
    return y;
}
__device__ __noinline__ double accumulate(int x)
{
    extern __shared__ double dynamic[];
    dynamic[threadIdx.x] = x;
    __syncthreads();
    double sum = 0;
    for (unsigned i = 0; i < blockDim.x; i++)
        sum += dynamic[i];
    __syncthreads();
    return sum;
}
__device__ int (*through)(int) = reverse<64, 1>;

__global__ void first(int *out)
{
    __shared__ int own[3];
    if (threadIdx.x < 3)
        own[threadIdx.x] = 5;
    __syncthreads();
    out[threadIdx.x] = reverse<64, 0>((int)threadIdx.x) + 1000 * through((int)threadIdx.x) + (int)accumulate(1) * 100000 + own[threadIdx.x % 3];
}
__global__ void second(int *out)
{
    extern __shared__ char bytes[];
    bytes[threadIdx.x] = (char)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = reverse<64, 0>(bytes[threadIdx.x]);
}

int main()
{
    int *out, wrong = 0;
    cudaFuncAttributes a, b;
    cudaFuncGetAttributes(&a, first);
    cudaFuncGetAttributes(&b, second);
    cudaMallocManaged(&out, 128 * sizeof *out);
    first<<<1, 64, 64 * sizeof(double)>>>(out);
    second<<<1, 64, 64>>>(out + 64);
    int error = cudaDeviceSynchronize();
    for (int t = 0; t < 64 && !error; t++)
        wrong += out[t] != 63 - t + 1000 * (63 - t) + 6400000 + 5 || out[64 + t] != 63 - t;
    wrong += a.sharedSizeBytes < 2 * 64 * 4 + 12 || b.sharedSizeBytes < 64 * 4 || b.sharedSizeBytes > 64 * 4 + 64;
    printf(wrong || error ? "got=wrong %d %d\n" : "got=ok\n", error, wrong);
    cudaFree(out);
    return wrong || error;
}
