// expect: error which nobody has waited for
// build for compute_90
// The barrier that the copy tells is waited for after the tile is read, not before.
#include <cstdio>
#include <cuda/barrier>

__global__ void k(const int *in, int *out)
{
    __shared__ alignas(16) int tile[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    if (threadIdx.x == 0)
        cuda::memcpy_async(tile, in, cuda::aligned_size_t<16>(sizeof tile), bar);
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
    bar.arrive_and_wait();
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof *in);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(in, 1, 64 * sizeof *in);
    k<<<1, 64>>>(in, out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return cudaGetLastError() != cudaSuccess;
}
