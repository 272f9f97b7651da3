// Plain loads beside atomics that are no first read of a compare-and-swap loop. The argument chooses one.
#include <cstdio>
#include <cstdlib>

// A loop as it should be, from the value given; VALUE of what was in the word last.
#define LOOP_FROM(first, word, value)                                                                                              \
    int old = first, assumed;                                                                                                      \
    do {                                                                                                                           \
        assumed = old;                                                                                                             \
        old = atomicCAS(word, assumed, value);                                                                                     \
    } while (assumed != old);

#define ME ((int)(blockIdx.x * blockDim.x + threadIdx.x))

__global__ void plain_store_beside(int *p, int *)
{
    if (ME == 0)
        *p = 5;
    LOOP_FROM(*p, p, assumed + 1)
}
__global__ void read_is_the_result(int *p, int *out)
{
    int seen = *p;
    LOOP_FROM(seen, p, assumed + 1)
    out[ME] = seen;
}
__global__ void stored_before_the_loop(int *p, int *out)
{
    int seen = *p;
    out[ME] = seen;
    LOOP_FROM(seen, p, assumed + 1)
}
__global__ void computed_result(int *p, int *out)
{
    int seen = *p, twice = 2 * seen;
    LOOP_FROM(seen, p, assumed + 1)
    out[ME] = twice;
}
__global__ void result_by_choice(int *p, int *out)
{
    int seen = *p, mine = 3;
    if (seen < 40)
        mine = out[ME + 64];
    LOOP_FROM(seen, p, assumed + 1)
    out[ME] = mine;
}
__global__ void result_by_selection(int *p, int *out)
{
    int seen = *p;
    LOOP_FROM(seen, p, assumed + 1)
    out[ME] = seen < 40 ? 1 : 2;
}
__global__ void store_by_decision(int *p, int *out)
{
    int mine = ME;
    out[mine + 64] = mine;
    int seen = *p;
    if (seen < 40)
        out[mine] = mine;
    LOOP_FROM(seen, p, assumed + 1)
}
__global__ void atomic_by_decision(int *p, int *out)
{
    int mine = out[ME];
    atomicAdd(out + 64, mine);
    int seen = *p;
    if (seen < 1000)
        atomicAdd(out + 64, mine);
    LOOP_FROM(seen, p, assumed + 1)
}
__global__ void added_elsewhere(int *p, int *out)
{
    int seen = *p;
    atomicAdd(out, seen);
    LOOP_FROM(seen, p, assumed + 1)
}
__global__ void neighbours_word(int *p, int *)
{
    LOOP_FROM(p[1], p, assumed + 1)
    atomicAdd(&p[1], 1);
}
__global__ void swap_of_another_array(int *p, int *out)
{
    LOOP_FROM(*p, out, assumed + 1)
    atomicAdd(p, 1);
}
__global__ void next_word(int *p, int *out)
{
    int *at = p, *end = p + 2 + out[ME], seen = 0;
#pragma unroll 1
    do { // compares a word with what it read of the word before
        atomicCAS(at, seen, 1);
        seen = *at;
    } while (++at != end);
}
__global__ void read_and_forgotten(int *p, int *)
{
    (void)*(volatile int *)p;
    LOOP_FROM(0, p, assumed + 1)
}
__global__ void no_swap(int *p, int *out)
{
    if (*p < 10)
        atomicAdd(p, 1);
    out[ME] = 1;
}
__global__ void swap_of_a_constant(int *p, int *out)
{
    if (*p == 0)
        out[ME] = atomicCAS(p, 0, 1);
}
__global__ void indexes_with_it(int *p, int *out)
{
    int seen = *p;
    out[seen & 63] = 1;
    LOOP_FROM(seen, p, assumed + 1)
}
__global__ void one_try(int *p, int *out)
{
    int seen = *p;
    atomicCAS(p, seen, seen + 1);
    out[ME] = seen;
}
__global__ void new_value_of_a_stale_one(int *p, int *)
{
    int seen = *p, want = seen + 1;
    LOOP_FROM(seen, p, want)
}
__global__ void half_of_what_is_swapped(int *p, int *)
{
    unsigned short *half = (unsigned short *)p;
    LOOP_FROM(*half, p, assumed + 1)
}
__device__ int peek(int *p)
{
    return *p;
}
__device__ int increment(int *p, int first)
{
    LOOP_FROM(first, p, assumed + 1)
    return old;
}
__global__ void through_functions(int *p, int *out)
{
    int seen = peek(p);
    increment(p, seen);
    out[ME] = seen;
}
__device__ int last_seen(int *p, int most)
{
    int old = *p, assumed;
    do {
        assumed = old;
        if (assumed >= most)
            return assumed; // as it was read
        old = atomicCAS(p, assumed, assumed + 1);
    } while (assumed != old);
    return -1;
}
__global__ void returned_as_read(int *p, int *out)
{
    out[ME] = last_seen(p, 20);
}
__global__ void through_an_array(int *p, int *out)
{
    int kept[4] = {1, 2, 3, 4}, seen = *p;
    kept[out[ME] & 3] = seen;
    LOOP_FROM(seen, p, assumed + 1)
    out[ME] = kept[out[ME + 64] & 3];
}
__global__ void attempts_kept(int *p, int *out)
{
    int kept = 0, old = *p, assumed;
    do {
        assumed = old;
        out[2 * ME + (kept++ & 1)] = assumed;
        old = atomicCAS(p, assumed, assumed + 1);
    } while (assumed != old);
}
__global__ void wider_than_the_swap(int *p, int *out)
{
    LOOP_FROM((int)*(volatile unsigned long long *)p, p, assumed + 1)
    atomicCAS((unsigned long long *)out, 1ull, 2ull);
}
__global__ void through_a_shuffle(int *p, int *out)
{
    int seen = *p, other = __shfl_xor_sync(~0u, seen, 1);
    LOOP_FROM(seen, p, assumed + 1)
    out[ME] = other;
}
__global__ void told(int *p, int *)
{
    int seen = *p;
    printf("%d\n", seen);
    LOOP_FROM(seen, p, assumed + 1)
}
__global__ void not_coherent(int *p, int *)
{
    LOOP_FROM(__ldg(p), p, assumed + 1)
}

#ifdef PAIRS
struct alignas(16) pair {
    long long a, b;
};
__global__ void pair_half_used(int *p, int *out)
{
    pair *word = (pair *)p, old = *word, assumed, first = old;
    do {
        assumed = old;
        pair want = {assumed.a + 1, assumed.b + 2};
        old = atomicCAS(word, assumed, want);
    } while (old.a != assumed.a || old.b != assumed.b);
    out[ME] = (int)first.b;
}
__global__ void pair_half_compared(int *p, int *out)
{
    pair *word = (pair *)p, old = *word, assumed;
    do {
        assumed = old;
        pair want = {assumed.a, assumed.b + 2};
        old = atomicCAS(word, assumed, want);
    } while (old.a != assumed.a);
    out[ME] = (int)assumed.b;
}
#endif

#ifdef PAIRS
#define LAST X(pair_half_used) X(pair_half_compared)
#else
#define LAST
#endif
#define EACH(X)                                                                                                                    \
    X(plain_store_beside)                                                                                                          \
    X(read_is_the_result)                                                                                                          \
    X(stored_before_the_loop)                                                                                                      \
    X(computed_result)                                                                                                             \
    X(result_by_choice) X(result_by_selection) X(store_by_decision) X(atomic_by_decision) X(added_elsewhere) X(neighbours_word)    \
        X(swap_of_another_array) X(next_word) X(read_and_forgotten) X(no_swap) X(swap_of_a_constant) X(indexes_with_it) X(one_try) \
            X(new_value_of_a_stale_one) X(half_of_what_is_swapped) X(through_functions) X(returned_as_read) X(through_an_array)    \
                X(attempts_kept) X(wider_than_the_swap) X(through_a_shuffle) X(told) X(not_coherent) LAST

int main(int argc, char **argv)
{
    int *p, *out, chosen = argc > 1 ? atoi(argv[1]) : -1, number = 0;
    cudaMalloc(&p, 256);
    cudaMalloc(&out, 128 * sizeof *out);
    cudaMemset(p, 0, 256);
    cudaMemset(out, 0, 128 * sizeof *out);
#define X(name)                                                                                                                    \
    if (number++ == chosen)                                                                                                        \
        name<<<2, 32>>>(p, out);
    EACH(X)
    return cudaDeviceSynchronize() != cudaSuccess;
}
