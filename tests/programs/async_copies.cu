// expect: got=ok
// Every way that CUDA C++ has to copy while it computes: pipelines of one thread, of a block, of producers and consumers; barriers
// that are told of copies; cooperative groups. Each sum is right, and no check has anything to say.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
constexpr int threads = 256, tiles = 8, n = threads * tiles;

__global__ void by_barrier(const int *in, int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ alignas(16) int tile[threads];
    auto block = cg::this_thread_block();
    int sum = 0;
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    for (int i = 0; i < tiles; i++) {
        cuda::memcpy_async(block, tile, in + i * threads, cuda::aligned_size_t<16>(sizeof tile), bar);
        bar.arrive_and_wait();
        sum += tile[threadIdx.x ^ 33] * (i + 1);
        bar.wait(bar.arrive());
    }
    if (threadIdx.x >= 100) {
        bar.arrive_and_drop();
        atomicAdd(out, sum);
        return;
    }
    bar.arrive_and_wait();
    bar.arrive_and_wait();
    atomicAdd(out, sum);
}

__global__ void by_block_pipeline(const int *in, int *out)
{
    constexpr int stages = 3;
    __shared__ int tile[stages][threads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0, fetched = 0;
    for (int i = 0; i < tiles; i++) {
        for (; fetched < tiles && fetched < i + stages; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[fetched % stages], in + fetched * threads, sizeof tile[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += tile[i % stages][threadIdx.x ^ 1] * (i + 1);
        pipe.consumer_release();
    }
    atomicAdd(out, sum);
}

__global__ void by_roles(const int *in, int *out)
{
    __shared__ int tile[2][threads / 2];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    bool produces = threadIdx.x < threads / 2;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int sum = 0, half = threads / 2;
    for (int i = 0; i < 2 * tiles; i++)
        if (produces) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[i % 2][threadIdx.x], in + i * half + threadIdx.x, sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += tile[i % 2][(threadIdx.x - half) ^ 5] * (i / 2 + 1);
            pipe.consumer_release();
        }
    atomicAdd(out, sum);
}

__global__ void by_group(const int *in, int *out)
{
    __shared__ alignas(16) int tile[2][threads];
    auto block = cg::this_thread_block();
    int sum = 0;
    cg::memcpy_async(block, tile[0], in, sizeof tile[0]);
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles) {
            cg::memcpy_async(block, tile[(i + 1) & 1], in + (i + 1) * threads, sizeof tile[0]);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        sum += tile[i & 1][threadIdx.x ^ 7] * (i + 1);
        block.sync();
    }
    atomicAdd(out, sum);
}

int main()
{
    int numbers[n], want = 0, got, *in, *out;
    for (int i = 0; i < n; i++)
        want += (numbers[i] = (i * 7 + 3) % 11 - 2) * (i / threads + 1);
    cudaMalloc(&in, sizeof numbers);
    cudaMalloc(&out, sizeof *out);
    cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    void (*kernels[])(const int *, int *) = {by_barrier, by_block_pipeline, by_roles, by_group};
    for (int k = 0; k < 4; k++) {
        cudaMemset(out, 0, sizeof *out);
        kernels[k]<<<1, threads>>>(in, out);
        cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost);
        if (got != want || cudaGetLastError() != cudaSuccess)
            printf("kernel %d: %d, not %d\n", k, got, want), exit(1);
    }
    cudaFree(in);
    cudaFree(out);
    puts("got=ok");
}
