// expect: got=0 wrong
// Quotients and remainders of 128-bit integers: nvcc's code for them reads the carry of a subtraction by an addition.
#include <cstdio>
#include <cuda_runtime.h>
typedef unsigned __int128 wide;
typedef unsigned long long half;
struct pair { half high, low; };
static __host__ __device__ wide make(pair p) { return (wide)p.high << 64 | p.low; }
static __host__ __device__ pair split(wide x) { return {(half)(x >> 64), (half)x}; }

__global__ void divide(const pair *a, const pair *b, pair *quotient, pair *rest)
{
    int i = threadIdx.x;
    quotient[i] = split(make(a[i]) / make(b[i]));
    rest[i] = split(make(a[i]) % make(b[i]));
}

int main()
{
    enum { N = 256 };
    static const half edges[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x8000000080000000, 0x80000000000000a0, ~0ull};
    pair *m;
    int wrong = 0;
    half x = 1;

    cudaMallocManaged(&m, 4 * N * sizeof *m);
    for (int i = 0; i < 2 * N; i++) {
        x = x * 6364136223846793005ull + 1442695040888963407ull;
        m[i] = {edges[x >> 33 & 7], edges[(x >> 40) % 10] ^ (x >> 60)};
        if (i >= N && !m[i].high && !m[i].low)
            m[i].low = 3;
        if (i >= N && i % 3 == 0)
            m[i].high = 0;
        if (i >= N && !m[i].high && !m[i].low)
            m[i].low = 7;
    }
    divide<<<1, N>>>(m, m + N, m + 2 * N, m + 3 * N);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    for (int i = 0; i < N; i++)
        wrong += make(m[2 * N + i]) != make(m[i]) / make(m[N + i]) || make(m[3 * N + i]) != make(m[i]) % make(m[N + i]);
    cudaFree(m);
    printf("got=%d wrong\n", wrong);
}
