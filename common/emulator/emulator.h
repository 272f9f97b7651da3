/* What a program can ask of the emulator. A program reaches these with dlsym(RTLD_DEFAULT, "..."): the symbols exist only when
 * the runtime it was loaded with is ours, so the same binary also runs on NVIDIA's. All are safe to call from the host thread
 * between launches; none of them changes what a kernel computes. */
#ifndef EMULATOR_H
#define EMULATOR_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One line that names the emulated device and the host threads in use, e.g. "Emulated H200 (132 SMs, compute capability 9.0)". */
const char *emulator_description(void);

/* Counters summed over every launch since the last reset; `values` are in the order of the names. A ratio (lanes_per_shared_access,
 * global_efficiency, occupancy) is computed from its sums. Counting is on unless EMULATOR_COUNTERS=off. */
struct emulator_counter {
    const char *name;    /* e.g. "global_load_sectors": design's name, a CSV column */
    const char *meaning; /* what it counts, in words */
    const char *ncu;     /* the Nsight Compute metric it equals, or "" for a PTX-level counter */
    double value;        /* exact up to 2^53 */
};
size_t emulator_counters(struct emulator_counter *out, size_t most); /* returns how many there are; fills at most `most` */
void emulator_counters_reset(void);

#ifdef __cplusplus
}
#endif
#endif
