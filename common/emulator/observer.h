/* Observers: told what happened, they change nothing. warp.c and access.c call them where something happens; each returns at once
 * when it is off. counters.c sums for the program, annotate.c for each source line, trace.c writes single instructions. */
#ifndef OBSERVER_H
#define OBSERVER_H
#include "warp.h"

/* counters.c */
void count_access(struct inst_counts *counts, const struct access *access);
void count_row(struct inst_counts *counts, const struct inst *in, uint32_t mask, uint64_t start); /* lane 0 is at `start` */
unsigned count_sectors(const struct access *access);                           /* distinct 32-byte sectors of one request */
unsigned count_wavefronts(const struct access *access, unsigned *fewest);      /* passes over the banks, and the fewest possible */
void counters_add_launch(const struct grid *grid, struct inst_counts *counts); /* expands runs, adds to the program's totals */

/* annotate.c: the launch's counts an instruction, after their expansion. */
void annotate_add_launch(const struct grid *grid, const struct inst_counts *counts);

/* trace.c: instructions of the block and warp that EMULATOR_TRACE names. */
bool trace_wants(const struct warp *warp);
void trace_issue(const struct warp *warp, const struct inst *in, unsigned count, uint32_t mask); /* `count` in a row */
void trace_access(const struct warp *warp, const struct inst *in, const struct access *access);
#endif
