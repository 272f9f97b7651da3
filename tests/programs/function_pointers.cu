// expect: got=ok
// Addresses of functions: in tables of __device__ and __constant__ memory, copied to the host and passed back as a parameter, stored
// by one kernel and called by the next, and taken where the function is used.
#include <cstdio>

typedef int (*function)(int, int);
__host__ __device__ __noinline__ int add(int a, int b) { return a + b; }
__host__ __device__ __noinline__ int sub(int a, int b) { return a - b; }
__host__ __device__ __noinline__ int mul(int a, int b) { return a * b; }
__host__ __device__ __noinline__ int power(int a, int b)
{
    int r = 1;
    for (int i = 0; i < (b & 3); i++)
        r *= a;
    return r;
}
__device__ function table[4] = {add, sub, mul, power};
__constant__ function constant_table[2] = {mul, add};
__device__ function chosen = sub;
static const function host_table[4] = {add, sub, mul, power};

__host__ __device__ __noinline__ int fold(function f, const int *a, int n)
{
    int r = a[0];
    for (int i = 1; i < n; i++)
        r = f(r, a[i]);
    return r;
}
__global__ void store(function *out) { out[threadIdx.x] = threadIdx.x % 2 ? table[threadIdx.x % 4] : power; }
__global__ void k(function given, const function *stored, int *out)
{
    int t = (int)threadIdx.x, a[6];
    for (int i = 0; i < 6; i++)
        a[i] = t * 3 + i;
    out[t] = fold(table[t % 4], a, 1 + t % 6) + 7 * constant_table[t / 16 % 2](t, 3) + 11 * given(t, 5) + 13 * stored[t](t, 2);
}

int main()
{
    function given, *stored;
    int *out, wrong = 0;
    cudaMallocManaged(&out, 64 * sizeof *out);
    cudaMalloc(&stored, 64 * sizeof *stored);
    cudaMemcpyFromSymbol(&given, chosen, sizeof given);
    store<<<1, 64>>>(stored);
    k<<<1, 64>>>(given, stored, out);
    int error = cudaDeviceSynchronize();
    for (int t = 0; t < 64 && !error; t++) {
        int a[6];
        for (int i = 0; i < 6; i++)
            a[i] = t * 3 + i;
        int want = fold(host_table[t % 4], a, 1 + t % 6) + 7 * (t / 16 % 2 ? add : mul)(t, 3) + 11 * sub(t, 5) +
                   13 * (t % 2 ? host_table[t % 4] : power)(t, 2);
        if (out[t] != want && wrong++ < 5)
            printf("thread %d: %d, not %d\n", t, out[t], want);
    }
    printf(wrong || error ? "got=wrong %d\n" : "got=ok\n", error);
    cudaFree(out);
    cudaFree(stored);
    return wrong || error;
}
