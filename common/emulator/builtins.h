/* What the driver gives a kernel: printf, assert's message, malloc and free. */
#ifndef BUILTINS_H
#define BUILTINS_H
#include "warp.h"

/* device_printf.c. Text waits in a buffer until the host synchronises. */
void printf_flush(void); /* to stdout */
void printf_collect(struct grid *grid, struct worker *workers,
                    int count); /* a launch has ended: its blocks' text, in their order */

/* builtins.c: memory that kernels took and did not give back. */
void heap_reset(void);

/* Bytes from a generic address on, as lane `lane` of the running group sees it, and how many there are; NULL: none. */
const char *generic_bytes(struct warp *warp, int lane, uint64_t address, size_t *bytes);
#endif
