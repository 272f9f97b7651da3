// expect: error stack overflow
// Recursion that goes deeper than the stack of a thread (1 KiB unless cudaDeviceSetLimit says more). An H200 gives error 700.
#include <cstdio>
__device__ __noinline__ int deep(int n, const int *a) { return n == 0 ? a[0] : deep(n - 1, a) * 3 + a[n & 1] + n; }
__global__ void k(int n, int *a) { a[2] = deep(n, a); }
int main()
{
    int *a;
    cudaMalloc(&a, 16);
    cudaMemset(a, 0, 16);
    k<<<1, 1>>>(20, a);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 0;
    k<<<1, 1>>>(100000, a);
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress;
}
