// Ways to write a compare-and-swap loop. None is a race, though each begins with a plain load beside other threads' atomics.
#include <cstdio>
#include <cuda_fp16.h>

#define GUIDE(type, word, f) /* as the Programming Guide has it */                                                                 \
    type old = *(word), assumed;                                                                                                   \
    do {                                                                                                                           \
        assumed = old;                                                                                                             \
        old = atomicCAS(word, assumed, f);                                                                                         \
    } while (assumed != old);

typedef unsigned long long wide;

__device__ double add_double(double *address, double value)
{
    wide *word = (wide *)address;
    GUIDE(wide, word, __double_as_longlong(value + __longlong_as_double(assumed)))
    return __longlong_as_double(old);
}

__device__ float max_float(float *address, float value) // leaves early
{
    int *word = (int *)address;
    int old = *word;
    while (value > __int_as_float(old)) {
        int assumed = old;
        old = atomicCAS(word, assumed, __float_as_int(value));
        if (assumed == old)
            break;
    }
    return __int_as_float(old);
}

__device__ float float_compare(float *address, float value) // compares floats
{
    float old = *address, assumed;
    do {
        assumed = old;
        old = __int_as_float(atomicCAS((int *)address, __float_as_int(assumed), __float_as_int(assumed + value)));
    } while (assumed != old);
    return old;
}

template <typename T, typename F>
__device__ T apply(T *address, F f)
{
    T old = *address, assumed;
    do {
        assumed = old;
        old = atomicCAS(address, assumed, f(assumed));
    } while (old != assumed);
    return f(old);
}

struct plus_one {
    __device__ int operator()(int x) const
    {
        return x + 1;
    }
};

__device__ void add_half_of_word(unsigned short *address, unsigned short value) // 16 bits in the word around them
{
    unsigned *word = (unsigned *)((size_t)address & ~(size_t)2);
    unsigned shift = ((size_t)address & 2) * 8, old = *word, assumed;
    do {
        assumed = old;
        unsigned short sum = (unsigned short)((assumed >> shift & 0xffff) + value);
        old = atomicCAS(word, assumed, (assumed & ~(0xffffu << shift)) | (unsigned)sum << shift);
    } while (assumed != old);
}

__device__ void max_byte_of_word(unsigned char *address, unsigned char value) // 8 bits, leaves early by return
{
    unsigned *word = (unsigned *)((size_t)address & ~(size_t)3);
    unsigned shift = ((size_t)address & 3) * 8, old = *word, assumed;
    do {
        assumed = old;
        if ((unsigned char)(assumed >> shift) >= value)
            return;
        old = atomicCAS(word, assumed, (assumed & ~(0xffu << shift)) | (unsigned)value << shift);
    } while (assumed != old);
}

__device__ void add_short(unsigned short *address,
                          unsigned short value){GUIDE(unsigned short, address, (unsigned short)(assumed + value))}

__device__ void add_half(__half *address, float value)
{
    unsigned short *word = (unsigned short *)address;
    GUIDE(unsigned short, word, __half_as_ushort(__float2half(__half2float(__ushort_as_half(assumed)) + value)))
}

__device__ void read_each_time(int *address)
{
    int old;
    do
        old = *address;
    while (atomicCAS(address, old, old + 1) != old);
}

__device__ void read_volatile(int *address)
{
    int old = *(volatile int *)address;
    for (int assumed = old + 1; assumed != old;) {
        assumed = old;
        old = atomicCAS(address, assumed, assumed + 1);
    }
}

__device__ void endless_for(int *counts, int i)
{
    for (int old = counts[i];;) {
        int got = atomicCAS(&counts[i], old, old + 1);
        if (got == old)
            return;
        old = got;
    }
}

__device__ int ticket(int *next) // uses what it read where the swap went through
{
    while (true) {
        int seen = *next;
        if (atomicCAS(next, seen, seen + 1) == seen)
            return seen;
    }
}

__device__ void push(int *head, int *next, int i) // a list: stores what it read, and again where the swap fails
{
    int old = *head, assumed;
    do {
        assumed = old;
        next[i] = assumed;
        old = atomicCAS(head, assumed, i);
    } while (old != assumed);
}

__device__ int bounded(int *count, int most) // the value decides what is swapped in
{
    int old = *count, assumed;
    do {
        assumed = old;
        int want = assumed + 1;
        if (assumed >= most)
            want = 0;
        old = atomicCAS(count, assumed, want);
    } while (old != assumed);
    return old;
}

__device__ bool raise(int *address, int value) // says whether it changed anything, and gives up by what it read
{
    int old = *address;
    while (old < value) {
        int assumed = old;
        old = atomicCAS(address, assumed, value);
        if (old == assumed)
            return true;
    }
    return false;
}

__device__ void shared_maximum(int *out, int value)
{
    __shared__ int most;
    if (threadIdx.x == 0)
        most = 0;
    __syncthreads();
    int old = most, assumed;
    do {
        assumed = old;
        old = atomicCAS(&most, assumed, max(assumed, value));
    } while (old != assumed);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicMax(out, most);
}

#ifdef PAIRS
struct alignas(16) pair {
    long long sum, count;
};
__device__ long long add_pair(pair *address, long long value)
{
    pair old = *address, assumed;
    do {
        assumed = old;
        pair want = {assumed.sum + value, assumed.count + 1};
        old = atomicCAS(address, assumed, want);
    } while (old.sum != assumed.sum || old.count != assumed.count);
    return assumed.count; // what it compared with
}
#endif

struct results {
    double total;
    float most, sum;
    int applied, each_time, from_volatile, endless[3], next, head, bounded, raised, winners, in_shared;
    unsigned short halves[2], alone;
    __half half;
    unsigned char bytes[4];
    int link[128], tickets[128], applied_by[128], counts[128];
    alignas(16) long long pair[2];
};

__global__ void all(results *r)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    add_double(&r->total, 1.5);
    max_float(&r->most, (float)i);
    float_compare(&r->sum, 2);
    r->applied_by[i] = apply(&r->applied, plus_one());
    add_half_of_word(&r->halves[i & 1], 1);
    max_byte_of_word(&r->bytes[i & 3], (unsigned char)i);
    add_short(&r->alone, 1);
    add_half(&r->half, 1);
    read_each_time(&r->each_time);
    read_volatile(&r->from_volatile);
    endless_for(r->endless, 1);
    r->tickets[ticket(&r->next)] = i;
    push(&r->head, r->link, i);
    bounded(&r->bounded, 9);
    if (raise(&r->raised, i))
        atomicAdd(&r->winners, 1);
    shared_maximum(&r->in_shared, i);
#ifdef PAIRS
    r->counts[add_pair((pair *)r->pair, i)] = i + 1;
#endif
}

#define CHECK(what)                                                                                                                \
    if (!(what))                                                                                                                   \
        printf("wrong: " #what "\n");

int main(int argc, char **)
{
    results *device, r = {};
    r.head = -1;
    cudaMalloc(&device, sizeof r);
    cudaMemcpy(device, &r, sizeof r, cudaMemcpyHostToDevice);
    all<<<2, 64>>>(device);
    cudaError_t error = cudaMemcpy(&r, device, sizeof r, cudaMemcpyDeviceToHost);
    cudaFree(device);
    CHECK(r.total == 192 && r.most == 127 && r.sum == 256 && r.applied == 128 && r.each_time == 128 && r.from_volatile == 128)
    CHECK(r.endless[1] == 128 && r.next == 128 && r.bounded == 128 % 10 && r.raised == 127 && r.winners >= 1 && r.in_shared == 127)
    CHECK(r.halves[0] == 64 && r.halves[1] == 64 && r.alone == 128 && (float)r.half == 128 && r.bytes[0] == 124 &&
          r.bytes[3] == 127)
    int length = 0;
    for (int i = r.head; i >= 0 && length < 200; i = r.link[i])
        length++;
    CHECK(length == 128)
    for (int i = 0; i < 128 && argc > 1; i++)
        CHECK(r.counts[i])
    CHECK(argc == 1 || (r.pair[0] == 127 * 64 && r.pair[1] == 128))
    printf("%s\n", cudaGetErrorName(error));
}
