/* One warp-level memory access: see struct access in warp.h. */
#ifndef ACCESS_H
#define ACCESS_H
#include "warp.h"

/* Fills in `a` for the instruction and lanes, checks bounds, alignment and kind of memory, tells the observers. False: a fault was
 * recorded and the warp has stopped. The short form leaves the lanes' own addresses out where their shape says them. */
bool access_begin(struct warp *warp, const struct inst *in, uint32_t mask, struct access *a);
bool access_begin_short(struct warp *warp, const struct inst *in, uint32_t mask, struct access *a);
/* What no counter counts: asynchronous copies, barriers in memory. The first tells no observer and no check. */
bool access_reach(struct warp *warp, const struct inst *in, uint32_t mask, struct access *a);
bool access_begin_uncounted(struct warp *warp, const struct inst *in, uint32_t mask, struct access *a);
bool access_watch(struct warp *warp, const struct inst *in, struct access *a); /* the trace and the checks; if warp->watched */
/* The usual access, quickly: the lanes are a row in memory, inside the block's shared memory or the array that the instruction
 * reached last, and only counters listen. Returns where lane 0's bytes are or would be. NULL: access_begin knows more. */
char *access_row(struct warp *warp, const struct inst *in, uint32_t mask);
void access_spread(struct access *a); /* fills in what the short form left out */
#endif
