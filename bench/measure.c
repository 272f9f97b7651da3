/* How one launch is measured; see measure.h. */
#include "protocol.h"

#include "measure.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HOLD_CYCLES = 100000 }; /* some 50 us, more than enqueuing a launch takes, also from Python */

static struct {
    struct contender *list;
    int count;
    element *host, *input, *pristine;
    total *sums;
    size_t most, sums_most;
    unsigned grid;
    void *flush;
    struct cudaDeviceProp device;
    cudaEvent_t start, stop;
    struct reference reference; /* of the first reference_n elements */
    size_t reference_n;
} bench;

void bench_cuda(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "bench: %s: %s (%s)\n", call, cudaGetErrorString(error), cudaGetErrorName(error));
    exit(DEVICE_ERROR);
}

/* random.c says how far it is; here the next line says it. */
void progress(const char *what, size_t done, size_t all)
{
    (void)what, (void)done, (void)all;
}

#define BENCH(call) bench_cuda((call), #call)

int bench_open(size_t most, unsigned long long seed)
{
    bench.most = most;
    bench.sums_most = most / 32 + 2; /* the smallest tile is a block of 32 */
    BENCH(cudaSetDevice(0));
    BENCH(cudaGetDeviceProperties(&bench.device, 0));
    bench.host = malloc(most * sizeof(element));
    if (!bench.host) {
        fprintf(stderr, "bench: the host did not give %zu bytes\n", most * sizeof(element));
        return DEVICE_ERROR;
    }
    BENCH(cudaMalloc((void **)&bench.input, most * sizeof(element)));
    BENCH(cudaMalloc((void **)&bench.pristine, most * sizeof(element)));
    BENCH(cudaMalloc((void **)&bench.sums, bench.sums_most * sizeof(total)));
    BENCH(cudaMalloc(&bench.flush, 2 * (size_t)bench.device.l2CacheSize));
    BENCH(cudaMemset(bench.flush, 0, 2 * (size_t)bench.device.l2CacheSize));
    BENCH(cudaEventCreate(&bench.start));
    BENCH(cudaEventCreate(&bench.stop));
    random_fill(bench.host, most, seed);
    BENCH(cudaMemcpy(bench.pristine, bench.host, most * sizeof(element), cudaMemcpyHostToDevice));
    bench.count = bench_contenders(&bench.list, bench.input, bench.sums, most);
    return 0;
}

void bench_close(void)
{
    BENCH(cudaFree(bench.input));
    BENCH(cudaFree(bench.pristine));
    BENCH(cudaFree(bench.sums));
    BENCH(cudaFree(bench.flush));
    free(bench.host);
}

int bench_own(int i)
{
    return bench.list[i].kind == OWN;
}

int bench_count(void)
{
    return bench.count;
}

const char *bench_name(int i)
{
    return bench.list[i].name;
}

void *bench_input(void)
{
    return bench.input;
}

const char *bench_device(void)
{
    return bench.device.name;
}

/* The memory clock is in kHz and moves data on both edges; the bus width is in bits. */
double bench_peak(void)
{
    int clock = 0, bits = 0;
    BENCH(cudaDeviceGetAttribute(&clock, cudaDevAttrMemoryClockRate, 0));
    BENCH(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    return 2e3 * clock * bits / 8;
}

/* Clears the error of a launch before. The sums that a contender of this n can write become POISON. */
void bench_prepare(size_t n, int l2)
{
    size_t flush_bytes = 2 * (size_t)bench.device.l2CacheSize;
    BENCH(cudaMemcpyAsync(bench.input, bench.pristine, n * sizeof(element), cudaMemcpyDeviceToDevice, 0));
    BENCH(cudaMemsetAsync(bench.sums, POISON, (n / 32 + 2) * sizeof(total), 0));
    if (l2 == L2_DIRTY)
        BENCH(cudaMemsetAsync(bench.flush, 0, flush_bytes, 0));
    else
        bench_read(bench.flush, flush_bytes, 8 * (unsigned)bench.device.multiProcessorCount);
    bench_hold(HOLD_CYCLES);
    BENCH(cudaGetLastError());
}

void bench_start(void)
{
    BENCH(cudaEventRecord(bench.start, 0));
}

double bench_stop(void)
{
    float milliseconds = -1;
    BENCH(cudaEventRecord(bench.stop, 0));
    BENCH(cudaEventSynchronize(bench.stop));
    BENCH(cudaEventElapsedTime(&milliseconds, bench.start, bench.stop));
    return (double)milliseconds * 1e3;
}

void bench_launch(int i, size_t n, unsigned block)
{
    unsigned resident = (unsigned)(bench.device.multiProcessorCount * bench.device.maxThreadsPerMultiProcessor);
    struct reduction reduction = {bench.input, bench.sums, n, block, resident};
    bench.grid = bench.list[i].step.launch(&reduction);
    bench_cuda(cudaGetLastError(), bench.list[i].name);
}

/* ---- is it right? ---- */

/* The sizes come in rising order, so that every element is added once. */
static struct reference reference_of_first(size_t n)
{
    if (n < bench.reference_n)
        bench.reference = (struct reference){0}, bench.reference_n = 0;
    add_reference(&bench.reference, reference_sum(bench.host + bench.reference_n, n - bench.reference_n));
    bench.reference_n = n;
    return bench.reference;
}

static struct reference added_up(size_t count)
{
    struct reference got = {0};
    total *sums = malloc(count * sizeof *sums);
    if (!sums) {
        fprintf(stderr, "bench: the host did not give %zu bytes\n", count * sizeof *sums);
        exit(DEVICE_ERROR);
    }
    BENCH(cudaMemcpy(sums, bench.sums, count * sizeof *sums, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        add_reference(&got, (struct reference){.sum = sums[i]});
    free(sums);
    return got;
}

static total library_sum(enum kind kind)
{
    element as_element;
    total sum;
    BENCH(cudaMemcpy(&as_element, bench.sums, sizeof as_element, cudaMemcpyDeviceToHost));
    BENCH(cudaMemcpy(&sum, bench.sums, sizeof sum, cudaMemcpyDeviceToHost));
    return kind == LIBRARY_ELEMENT ? (total)as_element : kind == LIBRARY_TOTAL ? sum : bench_host_sum;
}

/* Ours keep the harness's bound, and of ints a library's sum must be equal. Its order of adding float and double is its own
 * business, and so unknown: there only a relative error above the square root of the type's epsilon is called wrong, which finds a
 * gross loss and not a lost tile of a large array. The error itself is in the CSV. */
int bench_check(int i, size_t n, unsigned block, double *relative_error)
{
    const struct contender *c = &bench.list[i];
    struct reference want = reference_of_first(n);
    struct reference got = {0};
    *relative_error = NAN;
    if (c->kind == READS_ONLY)
        return -1;
    size_t tile = c->step.tile_of(block);
    bool as_total = c->step.sums_are != ONE_PER_TILE;
    if (c->kind == OWN) {
        got = added_up(sums_written(c->step.sums_are, blocks_for(n, tile), bench.grid));
        want.bound = error_bound(want.magnitude, additions_to_sum(c->step.sums_are, n, tile, block, bench.grid), as_total);
    } else {
        got.sum = library_sum(c->kind);
        want.bound =
            TYPE_IS_INT ? 0 : sqrt(c->kind == LIBRARY_ELEMENT && sizeof(element) == 4 ? FLT_EPSILON : DBL_EPSILON) * want.magnitude;
    }
    if (TYPE_IS_INT && c->kind == LIBRARY_ELEMENT)
        want.sum = (total)(int)(unsigned)want.sum;
    double difference = (double)(got.sum - want.sum) + (got.low - want.low);
    *relative_error = want.sum != 0 ? fabs(difference / (double)want.sum) : fabs(difference);
    return close_enough(difference, want.bound);
}
