// expect: got=64 64 64 64
// atomicAdd on half and pairs of halves, in global and in shared memory.
#include <cstdio>
#include <cuda_fp16.h>

__global__ void add(__half *h, __half2 *h2, float *out)
{
    __shared__ __half sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(h, (__half)1);
    atomicAdd(h2, __half2(1, 2));
    atomicAdd(&sum, (__half)1);
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = *h;
        out[1] = h2->x;
        out[2] = (float)h2->y / 2;
        out[3] = sum;
    }
}

int main()
{
    float *out, got[4];
    char *places;
    cudaMalloc(&out, sizeof got);
    cudaMalloc(&places, 16);
    cudaMemset(places, 0, 16);
    add<<<1, 64>>>((__half *)places, (__half2 *)(places + 8), out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    printf("got=%g %g %g %g\n", got[0], got[1], got[2], got[3]);
    cudaFree(out);
    cudaFree(places);
}
