/* One warp-level memory access: see struct access in warp.h. */
#ifndef ACCESS_H
#define ACCESS_H
#include "observer.h"
#include "warp.h"

/* Fills in `a` for the instruction and lanes, checks bounds, alignment and kind of memory, tells the observers. False: a fault was
 * recorded and the warp has stopped. The short form leaves the lanes' own addresses out where their shape says them. */
bool access_begin(struct warp *warp, const struct inst *in, uint32_t mask, struct access *a);
bool access_begin_short(struct warp *warp, const struct inst *in, uint32_t mask, struct access *a);
/* What no counter counts: asynchronous copies, barriers in memory. The first tells no observer and no check. */
bool access_reach(struct warp *warp, const struct inst *in, uint32_t mask, struct access *a);
bool access_begin_uncounted(struct warp *warp, const struct inst *in, uint32_t mask, struct access *a);
bool access_watch(struct warp *warp, const struct inst *in, struct access *a); /* the trace and the checks; if warp->watched */
void access_fix(struct warp *warp);   /* once a launch: accesses to shared memory that are the same in every block */
void access_spread(struct access *a); /* fills in what the short form left out */

/* Where an access usually goes: the block's shared memory, or the array that the instruction reached last. NULL: nobody knows. */
static inline const struct allocation *access_usual(const struct warp *w, const struct inst *in)
{
    return in->space == SPACE_SHARED                                 ? &w->block->all_shared
           : in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC ? w->block->worker->reached[in->number].allocation
                                                                     : NULL;
}
#endif
