// expect: got=ok
// build for compute_90
// atomicAdd of float2 and float4, with every scope, whose result is used or not; atomicCAS and atomicExch of 16 bytes; one lane of a
// warp elected; a set with a predicate.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
struct alignas(16) pair {
    long long low, high;
};

__global__ void add(float2 *two, float4 *four, float2 *before)
{
    float one = 1, t = (float)threadIdx.x;
    before[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(two, make_float2(one, 2 * one));
    atomicAdd_block(two + 1 + blockIdx.x, make_float2(t, -t));
    atomicAdd_system(four, make_float4(one, t, -t, 0.5f));
    atomicAdd(four + 1, make_float4(0, one, 0, one));
}

__global__ void count(pair *p)
{
    pair seen = {0, 0}, next;
    do {
        next = {seen.low + 1, seen.high - 1};
        pair old = atomicCAS(p, seen, next);
        if (old.low == seen.low && old.high == seen.high)
            break;
        seen = old;
    } while (true);
    if (threadIdx.x == 0)
        atomicExch(p + 1, pair{7, 9});
}

__global__ void lead(int *leaders)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    cg::invoke_one(warp, [&] { atomicAdd(leaders, 1); });
}

int main()
{
    float2 *two, *before, sums[3], first[128];
    float4 *four, quads[2];
    pair *p, pairs[2] = {{0, 0}, {1, 1}};
    int *leaders, found;
    float seen = 0;
    bool right;
    cudaMalloc(&two, sizeof sums);
    cudaMalloc(&four, sizeof quads);
    cudaMalloc(&before, sizeof first);
    cudaMalloc(&p, sizeof pairs);
    cudaMalloc(&leaders, sizeof *leaders);
    cudaMemset(two, 0, sizeof sums);
    cudaMemset(four, 0, sizeof quads);
    cudaMemset(leaders, 0, sizeof *leaders);
    cudaMemcpy(p, pairs, sizeof pairs, cudaMemcpyHostToDevice);
    add<<<2, 64>>>(two, four, before);
    count<<<1, 64>>>(p);
    lead<<<1, 96>>>(leaders);
    cudaMemcpy(sums, two, sizeof sums, cudaMemcpyDeviceToHost);
    cudaMemcpy(quads, four, sizeof quads, cudaMemcpyDeviceToHost);
    cudaMemcpy(first, before, sizeof first, cudaMemcpyDeviceToHost);
    cudaMemcpy(pairs, p, sizeof pairs, cudaMemcpyDeviceToHost);
    cudaMemcpy(&found, leaders, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 128; i++)
        seen += first[i].x;
    right = sums[0].x == 128 && sums[0].y == 256 && sums[1].x == 2016 && sums[2].y == -2016 && seen == 127 * 64;
    right &= quads[0].x == 128 && quads[0].y == 4032 && quads[0].z == -4032 && quads[0].w == 64;
    right &= quads[1].x == 0 && quads[1].y == 128 && quads[1].w == 128;
    right &= pairs[0].low == 64 && pairs[0].high == -64 && pairs[1].low == 7 && pairs[1].high == 9 && found == 3;
    cudaFree(two);
    cudaFree(four);
    cudaFree(before);
    cudaFree(p);
    cudaFree(leaders);
    printf("got=%s\n", cudaGetLastError() ? "error" : right ? "ok" : "wrong");
}
