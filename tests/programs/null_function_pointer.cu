// expect: error call through a pointer
// A function pointer that nobody set.
#include <cstdio>
__device__ int (*nobody)(int);
__device__ __noinline__ int somebody(int x) { return x; }
__device__ int (*used)(int) = somebody;
__global__ void k(int *out) { out[threadIdx.x] = threadIdx.x < 3 ? used(1) : nobody(2); }
int main()
{
    int *out;
    cudaMalloc(&out, 32 * sizeof *out);
    k<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
