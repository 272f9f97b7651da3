/* `make bench` measures a launch; contenders.cu says which there are. bench.py calls the functions of bench_... through ctypes:
 *
 *     bench_open(most, seed)              makes the data: `most` elements, on the host and on the device. 0, or an exit status
 *     bench_close()                       gives all of it back
 *     bench_count(), bench_name(i)        the contenders
 *     bench_own(i)                        is it a step or a variant, which takes a block size?
 *     bench_prepare(n, l2)                puts the input back, makes the L2 cold (enum l2) and gives the host a head start
 *     bench_start(), bench_stop()         events; bench_stop returns the microseconds between them, or a negative number
 *     bench_launch(i, n, block)           enqueues a contender
 *     bench_check(i, n, block, &error)    of the launch before: 1 right, 0 wrong, -1 nothing to check; the error is relative
 *     bench_device(), bench_peak()        the device's name and driver; its memory's bytes a second, or 0 */
#ifndef MEASURE_H
#define MEASURE_H
#include "harness.h"

enum kind {
    OWN,             /* a step or a variant: checked as the harness does */
    LIBRARY_ELEMENT, /* leaves the sum as an `element`: of ints the low 32 bits */
    LIBRARY_TOTAL,   /* leaves it as a `total` */
    LIBRARY_ON_HOST, /* leaves a `total` in bench_host_sum */
    READS_ONLY
};

/* How the L2 is made cold: full of lines that were written and must go back to memory when others need the place, or of lines that
 * were only read and can be dropped. A kernel finds one or the other, whatever ran before it. */
enum l2 { L2_DIRTY, L2_CLEAN };

struct contender {
    const char *name;
    enum kind kind;
    struct step step;
};

void bench_cuda(cudaError_t error, const char *call); /* names the call and the cause, and exits with 3 */
int bench_contenders(struct contender **out, element *input, total *sums, size_t most);
extern total bench_host_sum;
void bench_hold(long long cycles); /* keeps the device busy for so long, so that what is enqueued meanwhile starts without a gap */
void bench_read(const void *data, size_t bytes, unsigned blocks); /* reads zeros */
#endif
