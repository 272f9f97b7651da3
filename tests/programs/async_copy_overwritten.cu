// expect: error race on shared memory
// The next tile is on its way before all have read the last one.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda_pipeline.h>

__global__ void k(const int *in, int *out)
{
    __shared__ int tile[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    int t = threadIdx.x;
    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&tile[t], &in[t], sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        out[t] = tile[63 - t];
    }
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
