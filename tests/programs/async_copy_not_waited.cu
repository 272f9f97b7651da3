// expect: error which nobody has waited for
// The barrier of the block does not wait for asynchronous copies; here nothing does before the tile is read.
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
    __pipeline_memcpy_async(&tile[t], &in[t], sizeof(int));
    __pipeline_commit();
    __syncthreads();
    out[t] = tile[63 - t];
    __pipeline_wait_prior(0);
    if (t > 64)
        init(&bar, 64);
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
