/* Step 12's harness: one sum over several devices. multi.c runs the protocol, shard.c one device's part of it, nccl.c and ranks.c
 * the ways to combine. Two ways to run: one process drives all devices; or mpirun starts one process a device, and these are ranks.
 */
#ifndef MULTI_H
#define MULTI_H
#include "harness.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the step brings: its kernel on a stream, which leaves the sum in r->sums[0]; and *sum += *part, or = if it is the first. */
struct multi_step {
    struct step step;
    unsigned (*launch)(const struct reduction *r, cudaStream_t stream);
    void (*add)(total *sum, const total *part, int first, cudaStream_t stream);
};

int run_multi(int argc, char **argv, const struct multi_step *step);

#ifdef __cplusplus
}
#endif
#endif
