// expect: got=ok
// Bytes that are read and whose value cannot matter: nvcc reads three neighbours with one load of four where the place allows it, or a
// member with the padding behind it, and warps that clear each its own bit of a word make those bits. The init check must be silent.
#include <cstdio>

__global__ void three(const int *in, int *out)
{
    __shared__ __align__(16) int tile[4];
    if (threadIdx.x < 3)
        tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[0] + tile[1] * tile[2];
}

__global__ void own_bits(int *out)
{
    __shared__ unsigned word;
    unsigned mine = 1u << threadIdx.x / 32;
    if (threadIdx.x % 32 == 0)
        asm volatile("red.and.b32 [%0], %1;" ::"l"(&word), "r"(~mine) : "memory"); // as cooperative groups do
    __syncthreads();
    if (threadIdx.x % 32 == 1)
        out[threadIdx.x / 32] = (atomicOr(&word, mine) & mine) == 0;
}

struct __align__(8) padded {
    int key; // 4 bytes of padding follow
    long long value;
};

__global__ void write(padded *all) { all[threadIdx.x].key = threadIdx.x, all[threadIdx.x].value = 3; }

__global__ void read(const padded *all, padded *copies, int *out)
{
    const long long *words = (const long long *)(all + threadIdx.x); // as CUB reads what it has no better load for
    out[threadIdx.x] = (int)words[0] + (int)words[1];
    ((long long *)copies)[2 * threadIdx.x] = words[0];
}

int main()
{
    int in[3] = {1, 2, 3}, out[32], *device_in, *device_out, right = 1;
    cudaMalloc(&device_in, sizeof in);
    cudaMalloc(&device_out, sizeof out);
    cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice);
    three<<<1, 32>>>(device_in, device_out);
    cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int value : out)
        right &= value == 7;
    own_bits<<<1, 1024>>>(device_out);
    cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int value : out)
        right &= value == 1;
    padded *all, *copies;
    cudaMalloc(&all, 32 * sizeof *all);
    cudaMalloc(&copies, 32 * sizeof *all);
    write<<<1, 32>>>(all);
    read<<<1, 32>>>(all, copies, device_out);
    cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        right &= out[i] == i + 3;
    cudaFree(all);
    cudaFree(copies);
    cudaFree(device_in);
    cudaFree(device_out);
    puts(right ? "got=ok" : "got=wrong");
}
