// expect: got=64 64 64 64 64 64
// atomicAdd on half, bfloat16 and pairs of them, in global and in shared memory.
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void add(__half *h, __nv_bfloat16 *b, __half2 *h2, __nv_bfloat162 *b2, float *out)
{
    __shared__ __half sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(h, (__half)1);
    atomicAdd(b, (__nv_bfloat16)1);
    atomicAdd(h2, __half2(1, 2));
    atomicAdd(b2, __nv_bfloat162(2, 1));
    atomicAdd(&sum, (__half)1);
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = *h;
        out[1] = *b;
        out[2] = h2->x;
        out[3] = (float)h2->y / 2;
        out[4] = (float)b2->x / 2;
        out[5] = sum;
    }
}

int main()
{
    float *out, got[6];
    char *places;
    cudaMalloc(&out, sizeof got);
    cudaMalloc(&places, 16);
    cudaMemset(places, 0, 16);
    add<<<1, 64>>>((__half *)places, (__nv_bfloat16 *)(places + 4), (__half2 *)(places + 8), (__nv_bfloat162 *)(places + 12), out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    printf("got=%g %g %g %g %g %g\n", got[0], got[1], got[2], got[3], got[4], got[5]);
    cudaFree(out);
    cudaFree(places);
}
