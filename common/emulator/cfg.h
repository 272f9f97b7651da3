/* What cfg.c finds out about a function, for registers.c. */
#ifndef CFG_H
#define CFG_H
#include "ptx.h"

struct block_node {
    uint32_t first, end; /* pcs [first, end) */
    uint32_t *next;      /* successors; `count` stands for the exit */
    uint32_t next_count;
    uint32_t order; /* in a walk from the exit backwards; 0 if the exit cannot be reached */
    uint32_t ipdom;
};

struct graph {
    struct function *f;
    struct block_node *blocks; /* blocks[count] is the exit */
    uint32_t count;
    uint32_t *block_of;              /* pc -> block */
    uint32_t *edges;                 /* where blocks[].next points into */
    uint32_t *first_before, *before; /* the same edges backwards: those into block b are before[first_before[b]] and on */
};

static inline bool is_guarded(const struct inst *in)
{
    return in->guard != 0 || in->guard_flip != 0;
}

void *zeroed(size_t count, size_t bytes); /* to be freed; never NULL */

/* registers.c */
void find_live_in(struct graph *graph);
void find_constants(struct function *function); /* after find_live_in */
void find_locals(struct graph *graph);
void find_communication(struct function *function);
int destinations(const struct inst *in); /* how many of the first operands are written */

/* first_read.c: sets `feeds_cas`, for a kernel and all that it calls */
void find_first_reads(struct function *kernel);
#endif
