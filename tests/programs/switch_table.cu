// expect: got=ok
// A dense switch, which nvcc may turn into an indirect branch: lanes part by their case and meet behind it.
#include <cstdio>
__host__ __device__ __noinline__ int step(int op, int x)
{
    switch (op) {
    case 0: return x + 17;
    case 1: return x * 31;
    case 2: for (int i = 0; i < (x & 3); i++) x += i * 7; return x;
    case 3: return x ^ 0x5555;
    case 4: return x << 2;
    case 5: return x / 3;
    case 6: x = -x; /* falls through */
    case 7: return x % 1000;
    case 8: return x & 0xfff0;
    case 9: return x | 0x101;
    case 10: return (x >> 3) - 5;
    case 11: return x * x;
    case 12: return 42;
    case 13: return x - 99;
    case 14: return ~x;
    case 15: return x + x / 2;
    default: return 0;
    }
}
__host__ __device__ int all(int t)
{
    int x = t + 1;
    for (int i = 0; i < 20; i++)
        x = step((t * 7 + i * 5 + (x & 3)) % 18, x);
    return x;
}
__global__ void k(int *out) { out[threadIdx.x] = all((int)threadIdx.x); }
int main()
{
    int *out, wrong = 0;
    cudaMallocManaged(&out, 64 * sizeof *out);
    k<<<1, 64>>>(out);
    int error = cudaDeviceSynchronize();
    for (int t = 0; t < 64 && !error; t++)
        wrong += out[t] != all(t);
    printf(wrong || error ? "got=wrong %d %d\n" : "got=ok\n", error, wrong);
    cudaFree(out);
    return wrong || error;
}
