/* NCCL's all-reduce alone, of n numbers on every device: how its time grows with the size. Every number is a 1, so that each must
 * become the number of devices, exactly. */
#include "multi/parts.h"

#include <stdlib.h>

struct pair {
    total *send, *receive;
};

static void fill_ones(total *on_device, total *host, size_t n)
{
    for (size_t i = 0; i < n; i++)
        host[i] = 1;
    CUDA(cudaMemcpy(on_device, host, n * sizeof *host, cudaMemcpyHostToDevice));
}

/* On every device, from the first event to the last; the shortest, since that device came last and waited for nobody. */
static double all_reduce_once(struct run *run, const struct pair *pairs, size_t n)
{
    struct part mine[DEVICES_MOST] = {0}, all[run->devices];
    double least = 1e30;
    ranks_barrier();
    watch("the collective");
    for (int i = 0; i < run->shard_count; i++) {
        CUDA(cudaSetDevice(run->shards[i].device));
        CUDA(cudaEventRecord(run->shards[i].start, run->shards[i].compute));
    }
    nccl_group_start();
    for (int i = 0; i < run->shard_count; i++)
        nccl_sum(i, pairs[i].send, pairs[i].receive, n, run->shards[i].compute);
    nccl_group_end();
    for (int i = 0; i < run->shard_count; i++) {
        CUDA(cudaSetDevice(run->shards[i].device));
        CUDA(cudaEventRecord(run->shards[i].combined, run->shards[i].compute));
    }
    wait_for_all(run);
    watch(NULL);
    for (int i = 0; i < run->shard_count && !run->device.emulated; i++) {
        float milliseconds;
        CUDA(cudaEventElapsedTime(&milliseconds, run->shards[i].start, run->shards[i].combined));
        mine[i].collective_us = (double)milliseconds * 1e3;
    }
    gather_parts(run, mine, all);
    for (int i = 0; run->ranks.rank == 0 && i < run->devices; i++)
        least = all[i].collective_us < least ? all[i].collective_us : least;
    return least;
}

static bool all_are(const total *on_device, total *host, size_t n, total want)
{
    CUDA(cudaMemcpy(host, on_device, n * sizeof *host, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++)
        if (host[i] != want)
            return false;
    return true;
}

static void report(const struct run *run, size_t n, double us, bool good)
{
    double p = run->devices, bytes = (double)(n * sizeof(total));
    printf("all-reduce of %zu numbers, %.0f bytes, on %d device%s: %s", n, bytes, run->devices, run->devices == 1 ? "" : "s",
           good ? "verified" : "WRONG");
    if (!run->device.emulated)
        printf(", %.2f us, the median of %u; %.1f GB/s over each link, 2 (p - 1) / p of the data", us, run->options.repeat,
               2 * (p - 1) / p * bytes / us / 1e3);
    printf("\n");
}

bool measure_collective(struct run *run, size_t n)
{
    unsigned repeat = run->device.emulated || run->options.repeat == 0 ? 1 : run->options.repeat;
    struct pair pairs[DEVICES_MOST];
    struct part part = {0}, all[run->devices];
    size_t bytes = (n > 0 ? n : 1) * sizeof(total);
    double *us = malloc(repeat * sizeof *us);
    total *host = malloc(bytes);
    bool good = true;
    if (!us || !host)
        fail(DEVICE_ERROR, "no memory for %zu numbers", n);
    for (int i = 0; i < run->shard_count; i++) {
        CUDA(cudaSetDevice(run->shards[i].device));
        CUDA(cudaMalloc((void **)&pairs[i].send, bytes));
        CUDA(cudaMalloc((void **)&pairs[i].receive, bytes));
        CUDA(cudaMemset(pairs[i].receive, POISON, bytes));
        fill_ones(pairs[i].send, host, n);
        CUDA(cudaDeviceSynchronize()); /* our streams do not wait for the default one */
    }
    for (unsigned i = 0; i < WARM_UPS; i++)
        all_reduce_once(run, pairs, n);
    for (unsigned i = 0; i < repeat; i++)
        us[i] = all_reduce_once(run, pairs, n);
    for (int i = 0; i < run->shard_count; i++) {
        CUDA(cudaSetDevice(run->shards[i].device));
        good &= all_are(pairs[i].receive, host, n, run->devices);
        CUDA(cudaFree(pairs[i].send));
        CUDA(cudaFree(pairs[i].receive));
    }
    part.guard_overwritten = !good;
    if (run->ranks.size > 1) {
        gather_parts(run, &part, all);
        for (int i = 0; run->ranks.rank == 0 && i < run->devices; i++)
            good &= all[i].guard_overwritten == 0;
        ranks_broadcast(&good, sizeof good);
    }
    if (run->ranks.rank == 0)
        report(run, n, quantile(us, repeat, 0.5), good);
    free(us);
    free(host);
    return good;
}
