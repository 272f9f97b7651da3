// expect: got=ok
// malloc and free, new and delete in kernels: lists that one kernel builds and another walks and frees, constructors and
// destructors, a block's own scratch memory, and a heap that is full and then has room again.
#include <cstdio>

struct Node {
    int value;
    Node *next;
    __device__ Node(int v, Node *n) : value(v), next(n) {}
    __device__ ~Node() { value = -1; }
};
__device__ Node *heads[64];

__global__ void build(int n)
{
    Node *head = nullptr;
    for (int i = 0; i < (int)threadIdx.x % n; i++)
        head = new Node(i * (int)threadIdx.x, head);
    heads[threadIdx.x] = head;
}
__global__ void walk(int *out)
{
    int sum = 0;
    for (Node *p = heads[threadIdx.x], *next; p; p = next) {
        next = p->next;
        sum += p->value;
        delete p;
    }
    out[threadIdx.x] = sum;
}
__global__ void scratch(int *out)
{
    __shared__ int *memory;
    if (threadIdx.x == 0) {
        memory = (int *)malloc(blockDim.x * sizeof(int));
        memset(memory, 0, blockDim.x * sizeof(int));
    }
    __syncthreads();
    memory[threadIdx.x] += (int)(blockIdx.x * 100 + threadIdx.x);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = memory[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        free(memory);
}
__global__ void exhaust(int *counts)
{
    const int most = 200;
    void **held = (void **)malloc(most * sizeof(void *));
    for (int round = 0; round < 2; round++) {
        int n = 0;
        while (n < most && (held[n] = malloc(100000)))
            n++;
        counts[round] = n;
        for (int i = 0; i < n; i++)
            free(held[i]);
    }
    free(held);
    free(nullptr);
}

int main()
{
    int *out, wrong = 0;
    cudaMallocManaged(&out, 64 * 3 * sizeof *out);
    build<<<1, 64>>>(9);
    walk<<<1, 64>>>(out);
    int error = cudaDeviceSynchronize();
    for (int t = 0; t < 64; t++) {
        int n = t % 9;
        wrong += out[t] != n * (n - 1) / 2 * t;
    }
    scratch<<<3, 64>>>(out);
    error |= cudaDeviceSynchronize();
    for (int t = 0; t < 64 * 3; t++)
        wrong += out[t] != t / 64 * 100 + 63 - t % 64;
    exhaust<<<1, 1>>>(out);
    error |= cudaDeviceSynchronize();
    wrong += out[0] < 70 || out[0] > 84 || out[0] != out[1]; /* 8 MiB, less what the heap needs itself */
    printf(wrong || error ? "got=wrong %d %d\n" : "got=ok\n", error, wrong);
    cudaFree(out);
    return wrong || error;
}
