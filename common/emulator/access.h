/* One warp-level memory access: see struct access in warp.h. */
#ifndef ACCESS_H
#define ACCESS_H
#include "warp.h"
#include <stdio.h>

/* Fills in `a` for the instruction and lanes, checks bounds, alignment and kind of memory, tells the observers. False: a fault was
 * recorded and the warp has stopped. */
bool access_begin(struct warp *warp, const struct inst *in, uint32_t mask, struct access *a);
/* From mask, bytes, space and addresses to host pointers. */
bool access_reach(struct warp *warp, const struct inst *in, struct access *a);
#endif
