/* Between the files of step 12's harness. */
#ifndef MULTI_PARTS_H
#define MULTI_PARTS_H
#include "protocol.h" /* first, as it says */

#include "multi/multi.h"

enum { DEVICES_MOST = 64 };

/* ---- ranks.c: the processes of one run, joined by sockets as a star around rank 0 ---- */
struct ranks {
    int rank, size;        /* 0 of 1: no mpirun, or one process alone */
    int local, local_size; /* which process of its host this is, of how many */
    bool by_mpirun;
};

struct ranks ranks_found(void); /* from the environment; joins nobody yet */
void ranks_join(const struct ranks *r, const char *meet, unsigned wait_seconds, unsigned kind); /* kind: must be equal in all */
void ranks_gather(const void *mine, void *all, size_t bytes); /* rank 0 gets everybody's, in order */
void ranks_broadcast(void *data, size_t bytes);               /* everybody gets rank 0's */
void ranks_barrier(void);

/* While something is watched (in a call that waits for other devices), the end of another rank, or the time's, ends this process.
 */
void watch_start(unsigned wait_seconds); /* after ranks_join */
void watch(const char *what);            /* NULL: it is over */

/* ---- nccl.c ---- */
bool nccl_load(char *why, size_t most); /* why: the reason why not */
const char *nccl_version(void);
void nccl_start_all(int devices);                /* this process drives devices 0, 1, ... */
void nccl_start_rank(const struct ranks *ranks); /* this process drives the current device */
void nccl_group_start(void);
void nccl_sum(int index, const total *send, total *receive, size_t count,
              cudaStream_t stream); /* the same for every device, in a group */
void nccl_group_end(void);
void nccl_check(int index); /* has it failed behind our back? */
void nccl_stop(void);

/* ---- shard.c: one device and its part of the numbers ---- */
enum from { FROM_DEVICE, FROM_HOST, FROM_HOST_OVERLAPPED };

struct shard {
    int device;      /* as CUDA numbers them in this process */
    size_t first, n; /* its elements among all */
    size_t chunk;    /* elements of a chunk, FROM_HOST_OVERLAPPED */
    enum from from;
    element *input; /* all of its elements, or two chunks */
    total *sums;    /* one a block and the guard; the sum itself in the first */
    size_t sum_count;
    total *partial; /* of the chunks so far, FROM_HOST_OVERLAPPED */
    total *whole;   /* what the collective leaves */
    void *flush;
    size_t flush_bytes;
    unsigned grid; /* the largest of the launches */
    cudaStream_t compute, copy;
    cudaEvent_t start, reduced, combined, filled[2], used[2];
};

size_t shard_size(size_t n, int devices, int which);
size_t shard_first(size_t n, int devices, int which);
size_t shard_bytes(size_t n, enum from from, size_t chunk, const struct device *d); /* on the device */
void shard_open(struct shard *s, size_t most, const struct device *d);
void shard_close(struct shard *s);
void shard_fill(struct shard *s, const element *host); /* once a size: step 11 leaves its input as it was */
void shard_prepare(struct shard *s);                   /* outputs poisoned, L2 cold */
void shard_reduce(struct shard *s, const element *host, const struct multi_step *step, unsigned block, unsigned resident);
const total *shard_sum(const struct shard *s); /* where the sum is, on the device */
/* The most additions that an element passes through on its way into the shard's sum. */
size_t shard_additions(const struct shard *s, const struct multi_step *step, unsigned block, unsigned resident);
size_t shard_guard_overwritten(const struct shard *s);
/* ---- multi.c: the protocol ---- */
enum combined { BY_NOBODY, BY_HOST, BY_NCCL };
enum { WARM_UPS = 3 };

struct own_options {
    unsigned devices; /* 0: all there are */
    enum from from;
    size_t chunk; /* elements */
    unsigned wait;
    const char *meet; /* or NULL */
    bool collective;  /* the collective alone, by size */
};

struct run {
    struct options options;
    struct own_options own;
    const struct multi_step *step;
    struct device device;
    struct ranks ranks;
    struct shard shards[DEVICES_MOST]; /* of this process */
    int shard_count, devices;          /* here, and in all processes */
    enum combined combined;
    element *host; /* the elements of this process's shards */
    FILE *csv;
    int argc;
    char **argv;
};

/* What rank 0 has to know of each shard. */
struct part {
    struct reference want;
    total sum, whole;
    size_t guard_overwritten, additions;
    double all_us, kernel_us, collective_us;
};

void wait_for_all(struct run *run);                                            /* for what is on the devices' streams */
void gather_parts(struct run *run, const struct part *mine, struct part *all); /* rank 0 gets every shard's */
double quantile(double *values, unsigned count, double part);                  /* sorts them */

/* ---- collective.c ---- */
bool measure_collective(struct run *run, size_t n);
#endif
