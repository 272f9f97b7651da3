// expect: error uninitialised shared memory
// An atomicAnd that folds values into a word that nobody set is no way to make its bits: the init check must say so.
#include <cstdio>

__global__ void all_of(const int *in, int *out)
{
    __shared__ int every;
    atomicAnd(&every, in[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = every;
}

int main()
{
    int in[32] = {}, *device;
    cudaMalloc(&device, sizeof in);
    cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice);
    all_of<<<1, 32>>>(device, device);
    cudaDeviceSynchronize();
    cudaFree(device);
    puts("got=ok");
}
