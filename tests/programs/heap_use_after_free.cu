// expect: error use after free
// Memory that one kernel frees and another reads.
#include <cstdio>
__device__ volatile int *shared_pointer;
__global__ void give() { shared_pointer = new int[4]; shared_pointer[1] = 3; delete[] (int *)shared_pointer; }
__global__ void take(int *out) { *out = shared_pointer[1]; }
int main()
{
    int *out;
    cudaMalloc(&out, 4);
    give<<<1, 1>>>();
    take<<<1, 1>>>(out);
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress;
}
