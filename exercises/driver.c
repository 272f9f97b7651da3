/* The main program around a submission: takes cases from the grader, runs solve() on them, hands back bytes and counters.
 *
 * It knows no expected value and says no verdict; grade.py does, in another process. A case comes through file descriptor 3 after
 * every static constructor has run, with a number (nonce) that the answer on descriptor 4 must repeat:
 *     case NONCE REPEAT ARGUMENTS          then a line an argument, in solve()'s order:
 *     in BYTES 0 | out BYTES POISON | size VALUE 0    and, after the last, the bytes of the inputs
 * The arguments of solve() are pointers and sizes alone, all of which calling conventions pass alike in registers, so one call fits
 * every exercise. link.txt lists the functions of a submission that are redirected to the graded_... ones below. */
#define _GNU_SOURCE
#include "../common/emulator/emulator.h"
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 6, COUNTERS = 64, REQUESTS = 3, ANSWERS = 4, FLUSH_BYTES = 256 << 20 };

void solve(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

struct argument {
    char kind[8];   /* "in", "out" or "size" */
    uint64_t value; /* bytes, or the size itself */
    int poison;     /* what every byte of an output holds before */
    void *host;     /* an input's bytes */
    void *device;
};

static FILE *answers;
static uint64_t launches, blocks, warps, block_most, to_host;

/* ---- what a submission calls in place of the runtime's ---- */
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream);

static void count_launch(dim3 grid, dim3 block)
{
    uint64_t count = (uint64_t)grid.x * grid.y * grid.z, threads = (uint64_t)block.x * block.y * block.z;

    launches++;
    blocks += count;
    warps += count * ((threads + 31) / 32);
    block_most = threads > block_most ? threads : block_most;
}

cudaError_t graded_launch_registered(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                     cudaStream_t stream)
{
    count_launch(grid, block);
    return __cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t graded_launch(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream)
{
    count_launch(grid, block);
    return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

cudaError_t graded_launch_cooperative(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                      cudaStream_t stream)
{
    count_launch(grid, block);
    return cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, stream);
}

static bool on_device(const void *address)
{
    struct cudaPointerAttributes attributes;
    bool known = cudaPointerGetAttributes(&attributes, address) == cudaSuccess;

    return known && attributes.type == cudaMemoryTypeDevice;
}

/* Copies to the host are made and counted: the results belong on the device, and what the host computes from a copy earns nothing.
 */
cudaError_t graded_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    to_host += on_device(to) ? 0 : bytes;
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t graded_copy_async(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    to_host += on_device(to) ? 0 : bytes;
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
}

/* ---- a case ---- */
static void answer_error(const char *what, cudaError_t error)
{
    fprintf(answers, "error %s: %s (%s)\nend\n", what, cudaGetErrorName(error), cudaGetErrorString(error));
    fflush(answers);
    exit(0); /* the error may stick: the grader starts a new process for the other cases */
}

static void need(const char *what, cudaError_t error)
{
    if (error != cudaSuccess)
        answer_error(what, error);
}

static void broken(const char *what)
{
    fprintf(stderr, "driver: %s\n", what);
    exit(3);
}

static void read_arguments(FILE *in, struct argument *a, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (fscanf(in, "%7s %lu %d", a[i].kind, &a[i].value, &a[i].poison) != 3 || fgetc(in) != '\n')
            broken("an argument of the case is not understood");
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(a[i].kind, "in") != 0)
            continue;
        a[i].host = malloc(a[i].value + 1);
        if (!a[i].host || fread(a[i].host, 1, a[i].value, in) != a[i].value)
            broken("the input did not come whole");
    }
}

static void poison(const struct argument *a)
{
    if (strcmp(a->kind, "out") == 0 && a->value)
        need("cudaMemset", cudaMemset(a->device, a->poison, a->value));
}

/* Exact sizes: an access beyond the end is outside of the allocation. An empty argument gets a byte, unwritten. */
static void place(struct argument *a)
{
    if (strcmp(a->kind, "size") == 0)
        return;
    need("cudaMalloc", cudaMalloc(&a->device, a->value ? a->value : 1));
    if (a->value == 0)
        return;
    if (a->host)
        need("cudaMemcpy", cudaMemcpy(a->device, a->host, a->value, cudaMemcpyHostToDevice));
    poison(a);
}

static uintptr_t passed(const struct argument *a)
{
    return a->device ? (uintptr_t)a->device : (uintptr_t)a->value;
}

static void call(const struct argument *a)
{
    solve(passed(&a[0]), passed(&a[1]), passed(&a[2]), passed(&a[3]), passed(&a[4]), passed(&a[5]));
}

static bool changed(const struct argument *a)
{
    char *now = malloc(a->value + 1);

    if (!now)
        broken("out of memory");
    if (a->value)
        need("reading the input again", cudaMemcpy(now, a->device, a->value, cudaMemcpyDeviceToHost));
    bool differs = memcmp(now, a->host, a->value) != 0;
    free(now);
    return differs;
}

static void answer_bytes(const struct argument *a)
{
    unsigned char *bytes = malloc(a->value + 1);

    if (!bytes)
        broken("out of memory");
    if (a->value)
        need("reading the output", cudaMemcpy(bytes, a->device, a->value, cudaMemcpyDeviceToHost));
    fprintf(answers, "out ");
    for (uint64_t i = 0; i < a->value; i++)
        fprintf(answers, "%02x", bytes[i]);
    fputc('\n', answers);
    free(bytes);
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* On a GPU: events around solve() alone, the outputs poisoned anew and the L2 cache flushed before each, the median and the least.
 * Once more than asked, to warm up. */
static void answer_time(const struct argument *a, unsigned count, unsigned repeat)
{
    enum { MOST = 1000 };
    static float times[MOST];
    cudaEvent_t start, stop;
    struct cudaDeviceProp device;
    void *flush;

    repeat = repeat > MOST ? MOST : repeat;
    need("cudaMalloc", cudaMalloc(&flush, FLUSH_BYTES));
    need("cudaEventCreate", cudaEventCreate(&start));
    need("cudaEventCreate", cudaEventCreate(&stop));
    for (unsigned i = 0; i <= repeat; i++) {
        for (unsigned k = 0; k < count; k++)
            poison(&a[k]);
        need("cudaMemset", cudaMemset(flush, (int)i, FLUSH_BYTES));
        need("cudaDeviceSynchronize", cudaDeviceSynchronize());
        need("cudaEventRecord", cudaEventRecord(start, 0));
        call(a);
        need("cudaEventRecord", cudaEventRecord(stop, 0));
        need("cudaEventSynchronize", cudaEventSynchronize(stop));
        need("cudaEventElapsedTime", cudaEventElapsedTime(&times[i ? i - 1 : 0], start, stop));
    }
    qsort(times, repeat, sizeof *times, ascending);
    need("cudaGetDeviceProperties", cudaGetDeviceProperties(&device, 0));
    fprintf(answers, "time_us %.3f %.3f\ndevice %s\n", (double)times[repeat / 2] * 1000, (double)times[0] * 1000, device.name);
    need("cudaFree", cudaFree(flush));
}

static void answer_counters(void)
{
    size_t (*read_counters)(struct emulator_counter *, size_t) =
        (size_t(*)(struct emulator_counter *, size_t))(uintptr_t)dlsym(RTLD_DEFAULT, "emulator_counters");
    struct emulator_counter counter[COUNTERS];

    if (!read_counters)
        return; /* a GPU counts nothing */
    size_t count = read_counters(counter, COUNTERS);
    for (size_t i = 0; i < count && i < COUNTERS; i++)
        fprintf(answers, "counter %s %.17g\n", counter[i].name, counter[i].value);
}

static void reset_counters(void)
{
    void (*reset)(void) = (void (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "emulator_counters_reset");

    launches = blocks = warps = block_most = to_host = 0;
    if (reset)
        reset();
}

static void run_case(FILE *in, const char *nonce, unsigned repeat, unsigned count)
{
    struct argument a[ARGUMENTS] = {0};
    bool input_changed = false;

    read_arguments(in, a, count);
    fprintf(answers, "answer %s\n", nonce);
    for (unsigned i = 0; i < count; i++)
        place(&a[i]);
    reset_counters();
    call(a);
    need("a launch", cudaGetLastError());
    need("the kernel", cudaDeviceSynchronize());
    answer_counters();
    fprintf(answers, "counter launches %lu\ncounter blocks %lu\ncounter warps %lu\ncounter block %lu\ncounter to_host %lu\n",
            launches, blocks, warps, block_most, to_host);
    if (repeat)
        answer_time(a, count, repeat); /* so that what is checked is the last timed run's */
    for (unsigned i = 0; i < count; i++)
        if (strcmp(a[i].kind, "out") == 0)
            answer_bytes(&a[i]);
        else if (a[i].host)
            input_changed |= changed(&a[i]);
    fprintf(answers, "counter input_changed %d\n", input_changed);
    for (unsigned i = 0; i < count; i++) {
        if (a[i].device)
            need("cudaFree", cudaFree(a[i].device));
        free(a[i].host);
    }
    fprintf(answers, "end\n");
    fflush(answers);
}

int main(void)
{
    FILE *in = fdopen(REQUESTS, "rb");
    char nonce[64];
    unsigned repeat, count;

    answers = fdopen(ANSWERS, "wb");
    if (!in || !answers)
        broken("this program is run by grade.py");
    while (fscanf(in, " case %63s %u %u", nonce, &repeat, &count) == 3 && fgetc(in) == '\n' && count <= ARGUMENTS)
        run_case(in, nonce, repeat, count);
    return 0;
}
