// expect: got=ok
// Recursion whose depth differs from lane to lane, two functions that call each other, an early return, and a sort in place:
// each lane has its own activations, and all lanes meet behind the call.
#include <cstdio>
#include <cstdlib>
#define BOTH __host__ __device__ __noinline__

BOTH unsigned fibonacci(unsigned n)
{
    if (n < 2)
        return n;
    return fibonacci(n - 1) + fibonacci(n - 2);
}
BOTH unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
BOTH bool odd(unsigned n);
BOTH bool even(unsigned n) { return n == 0 ? true : odd(n - 1); }
BOTH bool odd(unsigned n) { return n == 0 ? false : even(n - 1); }
BOTH void sort(int *a, int low, int high)
{
    if (low >= high)
        return;
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) {
            int t = a[i]; a[i] = a[j]; a[j] = t;
            i++; j--;
        }
    }
    sort(a, low, j);
    sort(a, i, high);
}
BOTH int moves(int disks, int from, int to, int *pegs)
{
    if (disks == 0)
        return 0;
    int n = moves(disks - 1, from, 3 - from - to, pegs);
    pegs[to]++; pegs[from]--;
    return n + 1 + moves(disks - 1, 3 - from - to, to, pegs);
}
BOTH unsigned all(unsigned t)
{
    int a[24], pegs[3] = {0, 0, 0}, n = 4 + (int)t % 20;
    unsigned x = t * 2654435761u + 12345, hash = 17;
    for (int i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        a[i] = (int)(x >> 20);
    }
    sort(a, 0, n - 1);
    for (int i = 0; i < n; i++)
        hash = hash * 31 + (unsigned)a[i];
    hash = hash * 31 + (unsigned)moves((int)t % 5, 0, 2, pegs) + (unsigned)pegs[2];
    hash = hash * 31 + fibonacci(t % 11) + 1000 * ackermann(t % 3, t % 5);
    return hash * 2 + even(t % 20);
}
__global__ void k(unsigned *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = all(blockIdx.x * blockDim.x + threadIdx.x); }

int main()
{
    unsigned *out, wrong = 0;
    cudaDeviceSetLimit(cudaLimitStackSize, 16384);
    cudaMallocManaged(&out, 200 * sizeof *out);
    k<<<2, 100>>>(out);
    int error = cudaDeviceSynchronize();
    for (unsigned t = 0; t < 200 && !error; t++)
        if (out[t] != all(t) && wrong++ < 5)
            printf("thread %u: %u, not %u\n", t, out[t], all(t));
    printf(wrong || error ? "got=wrong %d\n" : "got=ok\n", error);
    cudaFree(out);
    return wrong || error;
}
