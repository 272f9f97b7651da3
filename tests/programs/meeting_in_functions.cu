// expect: got=ok
// What lanes do together, inside functions: block barriers, shuffles and warp barriers reached by different call paths, lanes that
// return early or exit, and a loop that calls. Whatever they did, all live lanes meet behind the call.
#include <cstdio>

__device__ __noinline__ int exchange(int x)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = x;
    __syncthreads();
    int y = tile[63 - threadIdx.x];
    __syncthreads();
    return y;
}
__device__ __noinline__ int sum_warp(int x)
{
    for (int d = 16; d; d /= 2)
        x += __shfl_xor_sync(0xffffffff, x, d);
    return x;
}
__device__ __noinline__ int early(int x)
{
    if (x % 3 == 0)
        return x;
    for (int i = 0; i < x % 5; i++) {
        if (i == 3)
            return -i;
        x += i;
    }
    return x * 2;
}
__device__ __noinline__ int meet(int lane) /* all lanes come, by two ways */
{
    return __popc(__ballot_sync(0xffffffff, lane % 3 == 0));
}
__device__ __noinline__ int left(int lane) { return meet(lane) + 100; }
__device__ __noinline__ int right(int lane) { return meet(lane) + 200; }
__device__ __noinline__ void leave(int t)
{
    if (t % 4 == 1)
        asm volatile("exit;");
}
__global__ void k(int *out)
{
    int t = (int)threadIdx.x, lane = t % 32, r;
    r = exchange(t * 2);
    r += 1000 * sum_warp(lane);
    for (int i = 0; i < lane % 4; i++)
        r += early(t + i);
    r += 100000 * __popc(__activemask());
    r += lane & 1 ? left(lane) : right(lane);
    out[t] = r;
    leave(t);
    r += __popc(__activemask());
    out[t] = r + exchange(7);
}
static int early_host(int x)
{
    if (x % 3 == 0)
        return x;
    for (int i = 0; i < x % 5; i++) {
        if (i == 3)
            return -i;
        x += i;
    }
    return x * 2;
}

int main()
{
    int *out, wrong = 0;
    cudaMallocManaged(&out, 64 * sizeof *out);
    k<<<1, 64>>>(out);
    int error = cudaDeviceSynchronize();
    for (int t = 0; t < 64 && !error; t++) {
        int lane = t % 32, want = (63 - t) * 2 + 1000 * 496;
        for (int i = 0; i < lane % 4; i++)
            want += early_host(t + i);
        want += 100000 * 32 + (lane & 1 ? 100 : 200) + 11;
        if (t % 4 != 1)
            want += 24 + ((63 - t) % 4 == 1 ? 2 * (63 - t) : 7); /* who has left keeps its first value in the tile */
        if (out[t] != want && wrong++ < 5)
            printf("thread %d: %d, not %d\n", t, out[t], want);
    }
    printf(wrong || error ? "got=wrong %d\n" : "got=ok\n", error);
    cudaFree(out);
    return wrong || error;
}
