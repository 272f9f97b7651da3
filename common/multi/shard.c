/* One device's part. Where the numbers start on the host, chunks are copied on one stream while another sums those before; two
 * buffers take turns. All kernels of a device stay on one stream: step 11 counts its finished blocks in one variable a device,
 * which two launches at a time would share. */
#include "multi/parts.h"

size_t shard_size(size_t n, int devices, int which)
{
    size_t p = (size_t)devices, i = (size_t)which;
    return n / p + (i < n % p);
}

size_t shard_first(size_t n, int devices, int which)
{
    size_t p = (size_t)devices, i = (size_t)which;
    return n / p * i + (i < n % p ? i : n % p);
}

static size_t input_elements(size_t n, enum from from, size_t chunk)
{
    size_t held = from == FROM_HOST_OVERLAPPED ? 2 * chunk : n;
    return held > 0 ? held : 1;
}

static size_t most_sums(const struct device *d)
{
    return d->resident_threads / 32 + GUARD; /* a block of 32 gives the largest grid */
}

size_t shard_bytes(size_t n, enum from from, size_t chunk, const struct device *d)
{
    return input_elements(n, from, chunk) * sizeof(element) + (most_sums(d) + 2) * sizeof(total) + 2 * d->l2_bytes;
}

void shard_open(struct shard *s, size_t most, const struct device *d)
{
    CUDA(cudaSetDevice(s->device));
    CUDA(cudaMalloc((void **)&s->input, input_elements(most, s->from, s->chunk) * sizeof(element)));
    s->sum_count = most_sums(d);
    CUDA(cudaMalloc((void **)&s->sums, s->sum_count * sizeof(total)));
    CUDA(cudaMalloc((void **)&s->partial, sizeof(total)));
    CUDA(cudaMalloc((void **)&s->whole, sizeof(total)));
    s->flush_bytes = 2 * d->l2_bytes;
    if (s->flush_bytes)
        CUDA(cudaMalloc(&s->flush, s->flush_bytes));
    CUDA(cudaStreamCreateWithFlags(&s->compute, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&s->copy, cudaStreamNonBlocking));
    cudaEvent_t *events[] = {&s->start, &s->reduced, &s->combined};
    for (unsigned i = 0; i < 3; i++)
        CUDA(cudaEventCreate(events[i]));
    for (unsigned i = 0; i < 2; i++) {
        CUDA(cudaEventCreateWithFlags(&s->filled[i], cudaEventDisableTiming));
        CUDA(cudaEventCreateWithFlags(&s->used[i], cudaEventDisableTiming));
    }
}

void shard_close(struct shard *s)
{
    cudaEvent_t events[] = {s->start, s->reduced, s->combined, s->filled[0], s->filled[1], s->used[0], s->used[1]};
    void *memory[] = {s->input, s->sums, s->partial, s->whole, s->flush};
    CUDA(cudaSetDevice(s->device));
    for (unsigned i = 0; i < sizeof events / sizeof *events; i++)
        CUDA(cudaEventDestroy(events[i]));
    CUDA(cudaStreamDestroy(s->compute));
    CUDA(cudaStreamDestroy(s->copy));
    for (unsigned i = 0; i < sizeof memory / sizeof *memory; i++)
        CUDA(cudaFree(memory[i]));
}

static void copy_in(element *to, const element *from, size_t count, cudaStream_t stream)
{
    if (count > 0)
        CUDA(cudaMemcpyAsync(to, from, count * sizeof(element), cudaMemcpyHostToDevice, stream));
}

void shard_fill(struct shard *s, const element *host)
{
    CUDA(cudaSetDevice(s->device));
    if (s->from == FROM_DEVICE)
        copy_in(s->input, host, s->n, s->compute);
    CUDA(cudaStreamSynchronize(s->compute));
}

void shard_prepare(struct shard *s)
{
    CUDA(cudaSetDevice(s->device));
    CUDA(cudaMemsetAsync(s->sums, POISON, s->sum_count * sizeof(total), s->compute));
    CUDA(cudaMemsetAsync(s->partial, POISON, sizeof(total), s->compute));
    CUDA(cudaMemsetAsync(s->whole, POISON, sizeof(total), s->compute));
    if (s->flush)
        CUDA(cudaMemsetAsync(s->flush, 0, s->flush_bytes, s->compute));
    CUDA(cudaStreamSynchronize(s->compute));
}

static void reduce_one(struct shard *s, element *input, size_t n, const struct multi_step *step, unsigned block, unsigned resident)
{
    struct reduction r = {input, s->sums, n, block, resident};
    unsigned grid = step->launch(&r, s->compute);
    s->grid = grid > s->grid ? grid : s->grid;
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        fail(DEVICE_ERROR, "the launch on device %d with %zu elements, block %u failed: %s (%s)", s->device, n, block,
             cudaGetErrorString(error), cudaGetErrorName(error));
}

static size_t chunks_of(const struct shard *s)
{
    return s->n == 0 ? 1 : (s->n - 1) / s->chunk + 1;
}

static void reduce_overlapped(struct shard *s, const element *host, const struct multi_step *step, unsigned block,
                              unsigned resident)
{
    CUDA(cudaStreamWaitEvent(s->copy, s->start, 0));
    for (size_t c = 0, chunks = chunks_of(s); c < chunks; c++) {
        size_t done = c * s->chunk, n = s->n - done < s->chunk ? s->n - done : s->chunk, turn = c % 2;
        element *buffer = s->input + turn * s->chunk;
        if (c >= 2) /* the kernel that read this buffer has to be through with it */
            CUDA(cudaStreamWaitEvent(s->copy, s->used[turn], 0));
        copy_in(buffer, host + done, n, s->copy);
        CUDA(cudaEventRecord(s->filled[turn], s->copy));
        CUDA(cudaStreamWaitEvent(s->compute, s->filled[turn], 0));
        reduce_one(s, buffer, n, step, block, resident);
        step->add(s->partial, s->sums, c == 0, s->compute);
        CUDA(cudaEventRecord(s->used[turn], s->compute));
    }
}

void shard_reduce(struct shard *s, const element *host, const struct multi_step *step, unsigned block, unsigned resident)
{
    CUDA(cudaSetDevice(s->device));
    s->grid = 0;
    CUDA(cudaEventRecord(s->start, s->compute));
    if (s->from == FROM_HOST)
        copy_in(s->input, host, s->n, s->compute);
    if (s->from == FROM_HOST_OVERLAPPED)
        reduce_overlapped(s, host, step, block, resident);
    else
        reduce_one(s, s->input, s->n, step, block, resident);
    CUDA(cudaEventRecord(s->reduced, s->compute));
}

const total *shard_sum(const struct shard *s)
{
    return s->from == FROM_HOST_OVERLAPPED ? s->partial : s->sums;
}

size_t shard_additions(const struct shard *s, const struct multi_step *step, unsigned block, unsigned resident)
{
    bool chunked = s->from == FROM_HOST_OVERLAPPED;
    struct reduction r = {NULL, NULL, chunked && s->n > s->chunk ? s->chunk : s->n, block, resident};
    size_t tile = step->step.tile_of(block);
    return additions_to_sum(ONE_IN_ALL, r.n, tile, block, resident_blocks_for(&r, tile)) + (chunked ? chunks_of(s) - 1 : 0);
}

size_t shard_guard_overwritten(const struct shard *s)
{
    total guard[GUARD];
    size_t count = 0;
    CUDA(cudaSetDevice(s->device));
    CUDA(cudaMemcpy(guard, s->sums + s->grid, sizeof guard, cudaMemcpyDeviceToHost));
    for (const unsigned char *byte = (const unsigned char *)guard; byte < (const unsigned char *)(guard + GUARD); byte++)
        count += *byte != POISON;
    return count;
}
