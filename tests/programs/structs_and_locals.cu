// expect: got=ok
// Structs by value in both directions, small and large, addresses of the caller's variables and arrays in what it calls, narrow
// types, alignment, and memory that alloca gives.
#include <cstdio>
#define BOTH __host__ __device__ __noinline__

struct Small { char a; short b; };
struct Mixed { char tag; double value; float pair[3]; long long big; unsigned char last; };
struct Large { int items[20]; };
struct __align__(16) Four { float x, y, z, w; };

BOTH Small twist(Small s, signed char c) { Small r = {(char)(s.b + c), (short)(s.a * 300)}; return r; }
BOTH Mixed grow(Mixed m, short by)
{
    m.value = m.value * 2 + by;
    m.pair[by & 1] += (float)m.tag;
    m.big -= by;
    m.last = (unsigned char)(m.last + 200);
    m.tag++;
    return m;
}
BOTH Large turn(Large l, int by)
{
    Large r;
    for (int i = 0; i < 20; i++)
        r.items[i] = l.items[(i + by) % 20] + i;
    return r;
}
BOTH Four scale(Four f, float by) { Four r = {f.x * by, f.y * by, f.w, f.z}; return r; }
BOTH void fill(int *array, int n, int *sum, int depth)
{
    int mine[4];
    for (int i = 0; i < 4; i++)
        mine[i] = n * i + depth;
    for (int i = 0; i < n; i++)
        array[i] += mine[i & 3];
    if (depth > 0)
        fill(depth & 1 ? mine : array, 4, sum, depth - 1);
    *sum += mine[0] + mine[3];
}
BOTH bool both(bool a, unsigned char b, unsigned short c) { return a && b > 100 && c > 40000; }
BOTH long long wide(long long a, int b, long long c) { return a * b + c; }

__host__ __device__ long long all(int t)
{
    Small s = {(char)(t - 20), (short)(t * 1000)};
    Mixed m = {(char)t, t * 0.5, {1, 2, 3}, 1LL << 40, (unsigned char)t};
    Large l;
    Four f = {t + 0.5f, 2, 3, 4};
    int array[9], sum = 0;
    for (int i = 0; i < 20; i++)
        l.items[i] = i * t;
    for (int i = 0; i < 9; i++)
        array[i] = i - t;
    for (int i = 0; i < 1 + t % 3; i++) {
        s = twist(s, (signed char)(t - 16));
        m = grow(m, (short)(t - 7));
        l = turn(l, t);
        f = scale(f, 1.5f);
        fill(array, 1 + t % 9, &sum, t % 4);
    }
    long long r = s.a * 3 + s.b + (long long)(m.value * 4) + (long long)(m.pair[0] + m.pair[1]) + m.big + m.last + m.tag + l.items[t % 20];
    for (int i = 0; i < 9; i++)
        r = r * 7 + array[i];
    r += (long long)(f.x * 16 + f.y + f.z) + sum + both(t & 1, (unsigned char)(t * 5), (unsigned short)(t * 3000));
    return wide(r, t - 16, 1LL << 50);
}
__device__ __noinline__ int on_stack(int n)
{
    int *p = (int *)alloca((n + 1) * sizeof(int)), r = 0;
    for (int i = 0; i <= n; i++)
        p[i] = i * i;
    if (n > 3)
        r = on_stack(n / 2);
    return r * 3 + p[n / 2] + p[n];
}
int on_host(int n) { return (n > 3 ? on_host(n / 2) : 0) * 3 + (n / 2) * (n / 2) + n * n; }
__global__ void k(long long *out, int *stack) { out[threadIdx.x] = all((int)threadIdx.x); stack[threadIdx.x] = on_stack((int)threadIdx.x); }

int main()
{
    long long *out;
    int *stack, wrong = 0;
    cudaMallocManaged(&out, 40 * sizeof *out);
    cudaMallocManaged(&stack, 40 * sizeof *stack);
    k<<<1, 40>>>(out, stack);
    int error = cudaDeviceSynchronize();
    for (int t = 0; t < 40 && !error; t++)
        if ((out[t] != all(t) || stack[t] != on_host(t)) && wrong++ < 5)
            printf("thread %d: %lld, not %lld; %d, not %d\n", t, out[t], all(t), stack[t], on_host(t));
    printf(wrong || error ? "got=wrong %d\n" : "got=ok\n", error);
    cudaFree(out);
    cudaFree(stack);
    return wrong || error;
}
