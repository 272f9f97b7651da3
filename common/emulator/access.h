/* One warp-level memory access: see struct access in warp.h. */
#ifndef ACCESS_H
#define ACCESS_H
#include "warp.h"

/* Fills in `a` for the instruction and lanes, checks bounds, alignment and kind of memory, tells the observers. False: a fault was
 * recorded and the warp has stopped. The short form leaves the lanes' own addresses out where they are in order. */
bool access_begin(struct warp *warp, const struct inst *in, uint32_t mask, struct access *a);
bool access_begin_short(struct warp *warp, const struct inst *in, uint32_t mask, struct access *a);
void access_spread(struct access *a); /* fills in what the short form left out */
#endif
