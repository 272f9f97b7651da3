// expect: error assert_in_function.cu:9: int half(int): block: [1,0,0], thread: [5,0,0] Assertion `x % 2 == 0 && "even"` failed.
// An assertion in a function that a kernel calls: CUDA's own line on stderr, and error 710.
#undef NDEBUG
#include <cassert>
#include <cstdio>

__device__ __noinline__ int half(int x)
{
    assert(x % 2 == 0 && "even");
    return x / 2;
}
__global__ void k(int *out) { out[threadIdx.x] = half(blockIdx.x == 1 && threadIdx.x == 5 ? 7 : 8); }
int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof *out);
    k<<<2, 64>>>(out);
    return cudaDeviceSynchronize() == cudaErrorAssert;
}
