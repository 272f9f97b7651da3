/* The protocol, as run_step reads it: options, device, allocate, make the numbers; then for every size and block: poison the sums,
 * launch, verify, time, verify again, report. Exit status: 0 verified, 1 wrong result, 2 bad usage, 3 device, launch or memory. */
#include "protocol.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    CHUNK = 1 << 16, /* sums checked at a time, so that they are not held twice */
    WARM_UPS = 3
};

/* Everything that is allocated once, for the largest size. */
struct buffers {
    element *host;         /* the input; the reference is computed from it */
    element *input;        /* the device's, which a kernel may overwrite */
    enum allocation alloc; /* of the input */
    element *pristine;     /* a copy on the device to restore it from, or NULL */
    total *sums;           /* on the device: one a tile, and the guard */
    total *chunk;          /* on the host */
    void *flush;           /* twice the L2 cache, or NULL */
    size_t flush_bytes;
};

/* ---- allocation ---- */

/* The most tiles that any size and block asked for has. */
static size_t most_tiles(const struct options *o, const struct step *step)
{
    size_t n = largest_size(o), most = 1;
    for (size_t i = 0; i < o->block_count; i++) {
        size_t tile = step->tile_of(o->blocks[i]);
        size_t tiles = n == 0 ? 1 : (n - 1) / tile + 1;
        if (tiles > 2147483647)
            fail(BAD_USAGE, "--n %zu with --block %u makes %zu blocks; a grid has at most 2147483647", n, o->blocks[i], tiles);
        most = tiles > most ? tiles : most;
    }
    return most;
}

/* In pages of 2 MiB where the kernel has them: touching 8 GiB for the first time takes seconds in pages of 4 KiB. */
static void *allocate_host(size_t bytes)
{
    size_t page = (size_t)2 << 20;
    size_t rounded = bytes < page ? bytes : (bytes + page - 1) / page * page;
    void *memory = bytes < page ? malloc(bytes) : aligned_alloc(page, rounded);
    if (memory && bytes >= page)
        madvise(memory, rounded, MADV_HUGEPAGE); /* a wish: without it everything is the same, only slower */
    return memory;
}

/* Managed memory could exceed the device's, and would then be moved in and out for ever; require_memory has seen to it that it
 * fits. */
static void allocate_input(struct buffers *b, size_t bytes)
{
    int prefetches = 0;
    if (b->alloc == ALLOC_DEVICE) {
        CUDA(cudaMalloc((void **)&b->input, bytes));
        return;
    }
    CUDA(cudaDeviceGetAttribute(&prefetches, cudaDevAttrConcurrentManagedAccess, 0));
    if (b->alloc == ALLOC_PREFETCH && !prefetches)
        fail(DEVICE_ERROR, "--alloc prefetch: this system cannot send managed memory ahead (WSL and Windows cannot)");
    CUDA(cudaMallocManaged((void **)&b->input, bytes, cudaMemAttachGlobal));
}

static struct buffers allocate(const struct options *o, const struct step *step, const struct device *d)
{
    struct buffers b = {.alloc = o->alloc};
    size_t n = largest_size(o);
    size_t data = (n > 0 ? n : 1) * sizeof(element); /* no more than n, so that the emulator sees a read past the end */
    size_t sums = (most_tiles(o, step) + GUARD) * sizeof(total);
    size_t available = 0, all = 0;

    b.flush_bytes = 2 * d->l2_bytes;
    require_memory(data + CHUNK * sizeof(total), data + sums + b.flush_bytes, d->emulated);
    b.host = allocate_host(data);
    b.chunk = malloc(CHUNK * sizeof(total));
    if (!b.host || !b.chunk)
        fail(DEVICE_ERROR, "the host did not give %zu bytes of memory", data);
    allocate_input(&b, data);
    CUDA(cudaMalloc((void **)&b.sums, sums));
    if (d->emulated)
        return b; /* it makes one launch and has no caches: nothing to restore or flush */
    if (b.flush_bytes)
        CUDA(cudaMalloc(&b.flush, b.flush_bytes));
    CUDA(cudaMemGetInfo(&available, &all));
    if (o->alloc == ALLOC_DEVICE && available > data + data / 16)
        CUDA(cudaMalloc((void **)&b.pristine, data));
    return b;
}

static void release(struct buffers *b)
{
    CUDA(cudaFree(b->input));
    CUDA(cudaFree(b->sums));
    CUDA(cudaFree(b->pristine));
    CUDA(cudaFree(b->flush));
    free(b->host);
    free(b->chunk);
}

/* ---- one launch ---- */

static void prefetch(const struct buffers *b, size_t n)
{
#if CUDART_VERSION >= 13000
    struct cudaMemLocation device = {.type = cudaMemLocationTypeDevice, .id = 0};
    CUDA(cudaMemPrefetchAsync(b->input, n * sizeof(element), device, 0, NULL));
#else
    CUDA(cudaMemPrefetchAsync(b->input, n * sizeof(element), 0, NULL));
#endif
    CUDA(cudaDeviceSynchronize());
}

static void restore_input(const struct buffers *b, size_t n)
{
    if (n > 0 && b->alloc != ALLOC_DEVICE)
        memcpy(b->input, b->host, n * sizeof(element)); /* the host writes: that brings the pages back to it */
    else if (n > 0 && b->pristine)
        CUDA(cudaMemcpy(b->input, b->pristine, n * sizeof(element), cudaMemcpyDeviceToDevice));
    else if (n > 0)
        CUDA(cudaMemcpy(b->input, b->host, n * sizeof(element), cudaMemcpyHostToDevice));
}

static void prepare(const struct buffers *b, const struct result *r)
{
    restore_input(b, r->n);
    CUDA(cudaMemset(b->sums, POISON, (r->tiles + GUARD) * sizeof(total)));
    if (b->alloc == ALLOC_PREFETCH && r->n > 0)
        prefetch(b, r->n);
    if (b->flush)
        CUDA(cudaMemset(b->flush, 0, b->flush_bytes));
}

static void launch(const struct buffers *b, struct result *r)
{
    struct reduction reduction = {b->input, b->sums, r->n, r->block, r->device->resident_threads};
    r->grid = r->step->launch(&reduction);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        fail(DEVICE_ERROR, "the launch with n = %zu, block %u failed: %s (%s)", r->n, r->block, cudaGetErrorString(error),
             cudaGetErrorName(error));
    if (r->grid == 0 || r->grid > r->tiles)
        fail(DEVICE_ERROR, "the launch says that it started %u blocks for %zu tiles", r->grid, r->tiles);
}

static void wait_for_kernel(const struct result *r)
{
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        fail(DEVICE_ERROR, "the kernel with n = %zu, block %u failed: %s (%s)", r->n, r->block, cudaGetErrorString(error),
             cudaGetErrorName(error));
}

/* ---- verification ---- */

static size_t overwritten_guard(const struct buffers *b, const struct result *r)
{
    total guard[GUARD], untouched;
    size_t count = 0;
    memset(&untouched, POISON, sizeof untouched);
    CUDA(cudaMemcpy(guard, b->sums + r->grid, sizeof guard, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < GUARD; i++)
        count += memcmp(&guard[i], &untouched, sizeof untouched) != 0;
    return count;
}

static void check_sum(struct verdict *v, size_t index, total got, struct reference want)
{
    if (!agrees(got, want) && v->wrong++ == 0) {
        v->first = index;
        v->got = got;
        v->want = want.sum;
        v->bound = want.bound;
    }
    v->sum += got;
    add_reference(&v->reference, want);
}

/* What the sum of the tiles first, first + stride, first + 2 * stride ... must be. */
static struct reference reference_of(const struct buffers *b, const struct result *r, size_t first, size_t stride)
{
    struct reference want = {0};
    for (size_t tile = first; tile < r->tiles; tile += stride) {
        size_t start = tile * r->tile; /* n = 0 has one tile of no elements */
        size_t length = r->n - start < r->tile ? r->n - start : r->tile;
        add_reference(&want, reference_sum(b->host + start, length));
    }
    want.bound = error_bound(want.magnitude, additions_to_sum(r->step->sums_are, r->n, r->tile, r->block, r->grid),
                             r->step->sums_are != ONE_PER_TILE);
    return want;
}

static struct verdict verify(const struct buffers *b, const struct result *r)
{
    struct verdict v = {.sums = sums_written(r->step->sums_are, r->tiles, r->grid)};
    for (size_t done = 0; done < v.sums;) {
        size_t count = v.sums - done < CHUNK ? v.sums - done : CHUNK;
        CUDA(cudaMemcpy(b->chunk, b->sums + done, count * sizeof(total), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < count; i++, done++)
            check_sum(&v, done, b->chunk[i], reference_of(b, r, done, v.sums));
        progress("verifying", done, v.sums);
    }
    v.guard_overwritten = overwritten_guard(b, r);
    return v;
}

/* ---- timing, on a GPU only ---- */

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which `part` of the sorted ones lie, between neighbours in proportion. */
static double quantile(const double *sorted, unsigned count, double part)
{
    double at = part * (count - 1);
    unsigned below = (unsigned)at;
    unsigned above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

static double time_launch(const struct buffers *b, struct result *r, cudaEvent_t start, cudaEvent_t stop)
{
    float milliseconds = 0;
    prepare(b, r);
    CUDA(cudaEventRecord(start, NULL));
    launch(b, r);
    CUDA(cudaEventRecord(stop, NULL));
    wait_for_kernel(r);
    CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
    return (double)milliseconds * 1e3;
}

static void time_copy_and_cpu(const struct buffers *b, const struct result *r, struct timing *t)
{
    if (r->n > 0 && b->alloc != ALLOC_DEVICE)
        memcpy(b->input, b->host, r->n * sizeof(element));
    double start = now_us();
    if (r->n > 0 && b->alloc == ALLOC_PREFETCH)
        prefetch(b, r->n);
    else if (r->n > 0 && b->alloc == ALLOC_DEVICE)
        CUDA(cudaMemcpy(b->input, b->host, r->n * sizeof(element), cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    double middle = now_us();
    volatile total sum = cpu_sum(b->host, r->n); /* volatile: nobody reads it, and it must be computed all the same */
    (void)sum;
    t->copy = middle - start;
    t->cpu = now_us() - middle;
}

static struct timing time_launches(const struct buffers *b, struct result *r, unsigned repeat)
{
    struct timing t = {.count = repeat};
    cudaEvent_t start, stop;
    double *us = malloc(repeat * sizeof *us);
    if (!us)
        fail(DEVICE_ERROR, "no memory for %u times", repeat);
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    for (unsigned i = 0; i < WARM_UPS; i++)
        time_launch(b, r, start, stop);
    for (unsigned i = 0; i < repeat; i++) {
        us[i] = time_launch(b, r, start, stop);
        progress("timing", i + 1, repeat);
    }
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    qsort(us, repeat, sizeof *us, by_value);
    t.median = quantile(us, repeat, 0.5);
    t.minimum = us[0];
    t.q1 = quantile(us, repeat, 0.25);
    t.q3 = quantile(us, repeat, 0.75);
    free(us);
    return t;
}

/* ---- the protocol ---- */

/* One size and block: launch, verify; on a GPU time and verify the last timed launch too. */
static void measure(struct result *r, const struct buffers *b, const struct options *o)
{
    prepare(b, r);
    reset_counters();
    if (r->device->emulated && one_measurement(o))
        busy("the emulator is at work");
    launch(b, r);
    wait_for_kernel(r);
    busy(NULL);
    r->verdict = verify(b, r);
    if (r->device->emulated || !is_verified(&r->verdict) || o->repeat == 0)
        return;
    r->timing = time_launches(b, r, o->repeat);
    r->verdict = verify(b, r);
    time_copy_and_cpu(b, r, &r->timing);
}

struct run {
    const struct options *options;
    const struct step *step;
    const struct device *device;
    const struct buffers *buffers;
    FILE *csv; /* or NULL */
    int argc;
    char **argv;
};

static bool measure_and_report(const struct run *run, size_t n, unsigned block)
{
    struct emulator_counter counters[128];
    size_t tile = run->step->tile_of(block);
    struct result r = {.step = run->step,
                       .device = run->device,
                       .alloc = run->options->alloc,
                       .n = n,
                       .block = block,
                       .tile = tile,
                       .tiles = blocks_for(n, tile),
                       .seed = run->options->seed};
    measure(&r, run->buffers, run->options);
    r.counter_count = read_counters(counters, sizeof counters / sizeof *counters);
    r.counters = counters;
    if (!run->options->quiet || !is_verified(&r.verdict))
        (one_measurement(run->options) ? report_full : report_line)(&r);
    if (run->csv)
        csv_row(run->csv, &r, run->argc, run->argv);
    if (one_measurement(run->options) && is_verified(&r.verdict))
        remember_counters(&r);
    return is_verified(&r.verdict);
}

static bool measure_all(const struct run *run)
{
    const struct options *o = run->options;
    bool all_verified = true;
    for (size_t block = 0; block < o->block_count; block++)
        for (size_t i = 0; i < o->size_ranges; i++)
            for (size_t n = o->sizes[i].first;; n++) {
                all_verified &= measure_and_report(run, n, o->blocks[block]);
                if (n == o->sizes[i].last)
                    break;
            }
    return all_verified;
}

int run_step(int argc, char **argv, const struct step *step)
{
    fail_name(step->name);
    struct options options = parse_options(argc, argv, step);
    FILE *csv = options.csv ? csv_open(options.csv) : NULL;
    struct device device = choose_device(&options, argv);
    device_properties(&device);
    if (!options.quiet)
        report_device(&device);

    struct buffers buffers = allocate(&options, step, &device);
    size_t n = largest_size(&options);
    random_fill(buffers.host, n, options.seed);
    if (buffers.pristine && n > 0)
        CUDA(cudaMemcpy(buffers.pristine, buffers.host, n * sizeof(element), cudaMemcpyHostToDevice));

    struct run run = {&options, step, &device, &buffers, csv, argc, argv};
    bool all_verified = measure_all(&run);

    release(&buffers);
    free(options.sizes);
    if (csv)
        fclose(csv);
    return all_verified ? VERIFIED : WRONG_RESULT;
}
