/* Kernels for the fuzzers to begin with: each brings statements into the PTX that the steps do not have. */
#include <cstdio>
#include <cuda_fp16.h>

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int counter = 7, *where = &counter;
__managed__ double shared_with_host;

struct point { float x, y; char name[5]; };

__device__ __noinline__ int depth(int n) { return n < 2 ? n : depth(n - 1) + depth(n - 2); }
__device__ __noinline__ point moved(point p, float by) { p.x += by; p.name[1] = 'x'; return p; }
__device__ int twice(int a) { return 2 * a; }
__device__ int thrice(int a) { return 3 * a; }
__device__ int (*const functions[2])(int) = {twice, thrice};

__global__ void calls(int *out, point p, int which)
{
    p = moved(p, weights[which & 3]);
    out[threadIdx.x] = depth(which) + functions[which & 1]((int)p.x) + *where;
    printf("%d %f %s\n", out[threadIdx.x], (double)p.y, "end");
}

__global__ void __launch_bounds__(128) switches(int *out, const int *in, int n)
{
    extern __shared__ int tile[];
    int local[16], i = blockIdx.x * blockDim.x + threadIdx.x;

    for (int k = 0; k < 16; k++)
        local[k] = in[(i + k) % n];
    switch (in[i] % 7) {
    case 0: local[n % 16]++; break;
    case 1: atomicAdd(out, local[n % 16]); break;
    case 2: atomicCAS(out, 1, 2); break;
    case 3: local[n % 16] = __shfl_down_sync(~0u, i, 1); break;
    case 4: local[n % 16] = __popc(__ballot_sync(~0u, i & 1)); break;
    case 5: out[1] = __half2int_rn(__hmul(__int2half_rn(i), __float2half(0.5f))); break;
    default: __trap();
    }
    tile[threadIdx.x] = local[n % 16];
    __syncthreads();
    __threadfence();
    out[i] = tile[threadIdx.x ^ 1] + (int)shared_with_host;
}
