// expect: got=ok
// build for compute_90
// Copies of whole tiles into shared memory, which tell a barrier, and back into global memory; by a group of threads, by one thread,
// and with a barrier that is told how many bytes will come. Each value is right, and no check has anything to say.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int threads = 128, tile = 512, blocks = 3, n = tile * blocks;

__global__ void add_one(int *data)
{
    __shared__ alignas(16) int here[tile];
    __shared__ barrier bar;
    int *mine = data + blockIdx.x * tile;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cuda::memcpy_async(here, mine, cuda::aligned_size_t<16>(sizeof here), bar);
    bar.wait(bar.arrive());
    for (int i = threadIdx.x; i < tile; i += blockDim.x)
        here[i] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, mine, here, sizeof here);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

__global__ void in_turn(const int *in, int *out)
{
    __shared__ alignas(16) int here[2][threads];
    __shared__ barrier bar[2];
    auto block = cg::this_thread_block();
    int sum = 0;
    if (threadIdx.x < 2)
        init(&bar[threadIdx.x], blockDim.x);
    __syncthreads();
    cuda::memcpy_async(block, here[0], in, cuda::aligned_size_t<16>(sizeof here[0]), bar[0]);
    for (int i = 0; i < n / threads; i++) {
        if (i + 1 < n / threads)
            cuda::memcpy_async(block, here[(i + 1) & 1], in + (i + 1) * threads, cuda::aligned_size_t<16>(sizeof here[0]), bar[(i + 1) & 1]);
        bar[i & 1].arrive_and_wait();
        sum += here[i & 1][threadIdx.x ^ 1] * (i + 1);
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

__global__ void announced(const int *in, int *out)
{
    __shared__ alignas(16) int here[tile];
    __shared__ barrier bar;
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(here, in, cuda::aligned_size_t<16>(sizeof here), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof here);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    out[threadIdx.x] = here[tile - 1 - threadIdx.x];
}

int main()
{
    static int want[n], got[n], sums[threads], last[threads];
    int *data, *out;
    bool right = true;
    cudaMalloc(&data, sizeof want);
    cudaMalloc(&out, 2 * threads * sizeof *out);
    for (int i = 0; i < n; i++)
        want[i] = i * 7 - 100;
    cudaMemcpy(data, want, sizeof want, cudaMemcpyHostToDevice);
    add_one<<<blocks, threads>>>(data);
    in_turn<<<1, threads>>>(data, out);
    announced<<<1, threads>>>(data, out + threads);
    cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost);
    cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
    cudaMemcpy(last, out + threads, sizeof last, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        right &= got[i] == want[i] + 1;
    for (int t = 0; t < threads; t++) {
        int sum = 0;
        for (int i = 0; i < n / threads; i++)
            sum += got[i * threads + (t ^ 1)] * (i + 1);
        right &= sums[t] == sum && last[t] == got[tile - 1 - t];
    }
    cudaFree(data);
    cudaFree(out);
    printf("got=%s\n", cudaGetLastError() ? "error" : right ? "ok" : "wrong");
}
