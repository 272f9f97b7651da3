/* Every way of adding up an array that `make bench` compares, behind one C interface: the steps and the variants, compiled from
 * their own files; CUB and Thrust; and a kernel that only reads. bench.py calls it; PyTorch's sum it adds itself.
 *
 * The steps' files are compiled with their kernel and their main renamed, and linked with the run_step below, which takes a step
 * down in place of running it. CONTENDERS lists their mains: X(main_of_step0_naive) ... */
#include "harness.h"
extern "C" {
#include "measure.h"
}

#include <cub/device/device_reduce.cuh>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

#define X(name) int name(int argc, char **argv);
CONTENDERS
#undef X

/* ---- libraries ---- */

static void *scratch;
static size_t scratch_bytes;

template <typename sum_type>
static unsigned cub_sum(const struct reduction *r)
{
    bench_cuda(cub::DeviceReduce::Sum(scratch, scratch_bytes, r->input, (sum_type *)r->sums, r->n), "cub::DeviceReduce::Sum");
    return 1;
}

extern "C" {
total bench_host_sum;
}

/* The sum comes back to the host, which waits for it; the time has that and an allocation in it. */
static unsigned thrust_sum(const struct reduction *r)
{
    bench_host_sum = thrust::reduce(thrust::device, r->input, r->input + r->n, (total)0);
    return 1;
}

/* ---- the floor: the data are read, and that is all ---- */

/* Never true of the data, but only a run can tell, so that the loads stay. */
static __global__ void read(const int4 *input, total *sums, size_t n)
{
    int4 all = {0, 0, 0, 0};
    size_t stride = (size_t)gridDim.x * blockDim.x, i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * stride < n; i += 4 * stride) {
        int4 a = input[i], b = input[i + stride], c = input[i + 2 * stride], d = input[i + 3 * stride];
        all.x |= a.x & b.x & c.x & d.x;
        all.y |= a.y & b.y & c.y & d.y;
        all.z |= a.z & b.z & c.z & d.z;
        all.w |= a.w & b.w & c.w & d.w;
    }
    for (; i < n; i += stride) {
        all.x |= input[i].x;
        all.y |= input[i].y;
        all.z |= input[i].z;
        all.w |= input[i].w;
    }
    if (all.x == -1 && all.y == -2 && all.z == -3 && all.w == -4)
        sums[0] = 0;
}

static unsigned read_only(const struct reduction *r)
{
    read<<<resident_blocks_for(r, (size_t)r->block * 16), r->block>>>((const int4 *)r->input, r->sums, r->n * sizeof(element) / 16);
    return 1;
}

/* ---- the list ---- */

enum { MOST = 64 };
static struct contender list[MOST];
static int count;

static void add(struct contender c)
{
    if (count == MOST) {
        fprintf(stderr, "bench: more than %d contenders\n", MOST);
        exit(3);
    }
    list[count++] = c;
}

int run_step(int argc, char **argv, const struct step *step)
{
    (void)argc, (void)argv;
    add((struct contender){step->name, OWN, *step});
    return 0;
}

extern "C" void no_kernel_for(unsigned block)
{
    fprintf(stderr, "bench: no kernel for a block of %u\n", block);
    exit(2);
}

static size_t no_tile(unsigned block)
{
    return block;
}

static void add_library(const char *name, enum kind kind, launch_function *launch)
{
    struct step step = {name, "", "", ONE_IN_ALL, no_tile, launch};
    add((struct contender){name, kind, step});
}

extern "C" int bench_contenders(struct contender **out, element *input, total *sums, size_t most)
{
    if (count == 0) {
#define X(name) name(0, NULL);
        CONTENDERS;
#undef X
        add_library("CUB DeviceReduce::Sum", LIBRARY_ELEMENT, cub_sum<element>);
        if (sizeof(element) != sizeof(total))
            add_library("CUB, summed as total", LIBRARY_TOTAL, cub_sum<total>);
        add_library("thrust::reduce", LIBRARY_ON_HOST, thrust_sum);
        add_library("read only", READS_ONLY, read_only);
        size_t bytes = 0;
        bench_cuda(cub::DeviceReduce::Sum(NULL, scratch_bytes, input, (element *)sums, most), "cub::DeviceReduce::Sum");
        bench_cuda(cub::DeviceReduce::Sum(NULL, bytes, input, sums, most), "cub::DeviceReduce::Sum");
        scratch_bytes = bytes > scratch_bytes ? bytes : scratch_bytes;
        bench_cuda(cudaMalloc(&scratch, scratch_bytes), "cudaMalloc");
    }
    *out = list;
    return count;
}

/* ---- before a measurement ---- */

static __global__ void hold_for(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

extern "C" void bench_hold(long long cycles)
{
    hold_for<<<1, 1>>>(cycles);
}

static __global__ void read_all(const int4 *data, size_t n, int *never)
{
    int all = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        all |= data[i].x | data[i].y | data[i].z | data[i].w;
    if (all != 0) /* the data are zeros */
        *never = all;
}

extern "C" void bench_read(const void *data, size_t bytes, unsigned blocks)
{
    read_all<<<blocks, 256>>>((const int4 *)data, bytes / sizeof(int4), (int *)data);
}
