// expect: error race on shared memory
// To arrive is not to wait.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda_pipeline.h>

__global__ void k(const int *in, int *out)
{
    __shared__ int tile[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    if (t == 0)
        init(&bar, 64);
    __syncthreads();
    tile[t] = in[t];
    auto token = bar.arrive();
    out[t] = tile[63 - t];
    bar.wait(std::move(token));
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof *in);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(in, 1, 64 * sizeof *in);
    k<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
