/* What runs: a grid's blocks, a block's warps, a warp's groups of lanes.
 *
 * launch.c owns the grid, block.c the blocks, warp.c the loop that steps a warp, reconverge.c how lanes part and meet, ops_*.c
 * what instructions do. Includes point downwards only; observers (counters.c) are told what happened and change nothing. */
#ifndef WARP_H
#define WARP_H
#include "device.h"
#include "launch.h"
#include "memory.h"
#include "ops.h"
#include "ptx.h"
#include "settings.h"
#include <pthread.h>
#include <stdatomic.h>

/* What an instruction tells the loop. */
enum warp_next {
    WARP_NEXT,  /* go on behind this instruction */
    WARP_MOVED, /* the running group's pc, or the running group, was changed */
    WARP_STOP   /* nothing of this warp can run now: see warp->status */
};
enum warp_status {
    STATUS_READY,   /* can run */
    STATUS_YIELDED, /* spins: let others run first */
    STATUS_WAITING, /* all its live lanes wait at block barriers */
    STATUS_DONE,
    STATUS_FAULT
};

/* Lanes that run together. */
enum group_state { GROUP_FREE, GROUP_RUNNABLE, GROUP_AT_BARRIER, GROUP_AT_MEETING };
struct group {
    uint8_t state; /* enum group_state */
    uint8_t barrier;
    uint32_t pc, mask;
    int join;            /* where its lanes meet others again: index into warp->joins, or -1 */
    struct frame *frame; /* the activation they are in */
    uint64_t since;      /* the warp's turn when it began to wait */
    void (*finish)(struct warp *, const struct inst *, uint32_t mask); /* at a meeting */
};

/* One activation of a function, for lanes that called it together (ops_call.c). */
struct frame {
    struct frame *caller; /* NULL: the kernel's own */
    const struct function *function;
    char *regs;     /* its rows of the register file */
    uint32_t lanes; /* those that are in it, or in what it called */
    uint32_t return_pc;
    int join;                         /* where its lanes wait for each other once they have returned */
    uint64_t stack, top;              /* where it begins and ends in the stack of each of its lanes */
    uint64_t charged;                 /* the least that it and its callers take of a GPU's stack */
    uint64_t block_number;            /* for which the special registers were filled */
    struct frame *next, *made_before; /* of those that are free; of all */
};

/* A place where lanes that parted at a branch or called a function wait for each other. */
struct join {
    bool used;
    uint32_t pc; /* the branch's immediate post-dominator, or the instruction behind the call */
    struct frame *frame;
    uint32_t expected; /* lanes that are still to come or have come */
    uint32_t arrived;
    int parent; /* the join of the group that parted or called */
    uint64_t since;
};

/* Where the lanes of an access to shared memory are in every block, all of them within it. */
struct fixed {
    bool known;  /* else some lane would be outside or misaligned */
    bool is_row; /* lane 0, 1, 2 … stand behind each other */
    int32_t near[WARP_SIZE];
};

enum { MOST_GROUPS = 32 };

struct warp { /* first what the loop looks at */
    struct block *block;
    const struct inst *code;
    uint64_t most_issues;       /* EMULATOR_TIMEOUT */
    uint64_t issued;            /* warp instructions since the block began */
    struct inst_counts *counts; /* the worker's, one an instruction; NULL when nobody counts */
    struct group *now;          /* the running one */
    struct group *all_wait;     /* all live lanes, at one of the block's barriers */
    bool whole;                 /* the running group is all live lanes */
    bool traced;                /* EMULATOR_TRACE names it and its block */
    bool watched;               /* a check or the trace wants to see every access */
    unsigned index;             /* in its block */
    char *regs;                 /* the running group's activation's rows of the register file */
    char *local;                /* the lanes' stacks, stack_limit bytes each: local memory, and what calls pass */
    size_t stack_limit;
    struct fixed *fixed;                       /* by inst->fixed */
    struct frame bottom, **free_frames, *made; /* the kernel's own; for each part of its program; all but the kernel's */
    uint32_t present, live;                    /* lanes that exist; those of them that have not exited */
    enum warp_status status;
    struct group groups[MOST_GROUPS];
    struct join *joins;
    int group_top, join_top;  /* beyond these none was used since the block began */
    int join_room, join_free; /* below join_free all are used */
    struct lanes lanes;       /* of a group that ran: see warp_lanes */
    uint64_t turn;            /* counts changes of group, so that waits can be ordered by age */
    unsigned turns_within;    /* that groups gave each other since the warp let others run */
    unsigned spins;           /* jumps back in a polling loop since this group began to run */
    struct {
        uint64_t value;
        uint32_t b, c, mask;
    } meeting[WARP_SIZE]; /* what each lane brought to a shuffle, vote or match */
};

/* One of a block's 16 barriers. */
struct barrier {
    uint32_t threads_here;
    uint32_t pc;             /* of the first to come */
    uint16_t threads_needed; /* 0 is all live threads of the block (__syncthreads) */
    uint16_t votes;          /* bar.red: of those here, how many brought a true predicate */
    bool answers;            /* bar.red: those that wait are given a result */
};

struct block {
    struct grid *grid;
    struct worker *worker;
    uint64_t number; /* in launch order, x fastest */
    unsigned id[3];
    unsigned warp_count, threads;
    struct warp *warps;
    char *shared;
    struct allocation all_shared; /* the same, as if it were an array */
    struct barrier barriers[DEVICE_BLOCK_BARRIERS];
    uint32_t barriers_used; /* a bit for each at which somebody waits */
    uint32_t live;          /* threads that have not exited */
    uint64_t random;
    struct printed *printed; /* what it has printed (device_printf.c) */
    struct race_block *race; /* race.c's, when it watches */
    uint8_t *shared_written; /* init.c's: a bit a byte */
    struct async *async;     /* ops_async.c's: copies under way, barriers in memory */
};

/* What happened at one instruction, over a launch. Of a run of lane instructions only the first is counted while it goes on. */
struct inst_counts {
    uint64_t issues, lanes, divergent;
    uint64_t global_requests, global_bytes, sectors;
    uint64_t shared_requests, shared_lanes, wavefronts, fewest_wavefronts;
};

/* Where an instruction reached global memory last. */
struct reached {
    const struct allocation *allocation;
    const char *row; /* the host's bytes of lane 0, if the lanes were a row */
};

/* One host thread that runs blocks. */
struct worker {
    struct grid *grid;
    uint64_t issued;            /* warp instructions of the blocks that have ended */
    struct inst_counts *counts; /* one an instruction, or NULL when nobody counts */
    struct reached *reached;    /* one an instruction */
    struct printed *printed;    /* by its blocks */
    pthread_t thread;
};

struct fault {
    bool set;
    int error; /* cudaError_t, perhaps | FINDING */
    uint64_t block_number;
    char *report;
};

/* One launch. */
struct grid {
    const struct launch *launch;
    const struct function *function;
    const struct settings *settings;
    char *parameters;
    size_t shared_bytes; /* static and dynamic, of a block, and what is reserved behind them */
    size_t reserved;     /* where that begins */
    size_t stack_limit;  /* bytes of a lane's stack */
    uint64_t workspace;  /* of a cooperative launch: the device address of the grid barrier's words, as %envreg1 and 2 say it */
    uint64_t blocks, id;
    _Atomic uint64_t next_block;
    _Atomic uint64_t stop_at; /* blocks from here on need not run: an earlier one has a fault */
    struct race_grid *race;   /* race.c's, when it watches */
    pthread_mutex_t fault_lock;
    struct fault fault;
};

/* warp.c */
void warp_prepare(struct warp *warp);                       /* once a launch, after block_new gave it a register file and stacks */
void frame_prepare(struct warp *warp, struct frame *frame); /* fills the rows that stay, once a launch */
void frame_start(struct warp *warp, struct frame *frame, bool new_block,
                 bool moved);       /* the rows that change; clears what it may read unwritten */
void warp_start(struct warp *warp); /* all present lanes at the kernel's first instruction */
/* Each that can run, in this order (NULL: their own), until it stops. A bit for each status that one of them has now; where one
 * has a fault, those behind it did not run. */
unsigned warps_run(struct block *block, const uint8_t *order);

/* block.c */
struct block *block_new(struct worker *worker);
void block_free(struct block *block);
void block_start(struct block *block, uint64_t number);
enum block_result { BLOCK_DONE, BLOCK_YIELDED, BLOCK_FAULT };
enum block_result block_run(struct block *block);
void block_release_barriers(struct block *block);

/* reconverge.c: how lanes part and meet. All but the last change the running group. */
void group_part(struct warp *warp, uint32_t taken, uint32_t target, uint32_t next_pc, uint32_t reconv_pc);
bool group_arrive(struct warp *warp);              /* the running group stands where lanes meet: true if another group now runs */
bool group_next(struct warp *warp);                /* the running group cannot go on: choose another; false if none can run */
void group_exit(struct warp *warp, uint32_t mask); /* these lanes of the running group end */
bool group_yield(struct warp *warp);               /* the running group spins: let the one that has waited longest run, if any */
void group_run(struct warp *warp, struct group *group);
struct group *group_new(struct warp *warp, struct frame *frame, uint32_t pc, uint32_t mask, int join);
int join_new(struct warp *warp, struct frame *frame, uint32_t pc, uint32_t expected, int parent);

/* ops_call.c: lanes of the running group leave this activation and its callers for good. */
void frames_forget(struct warp *warp, struct frame *frame, uint32_t lanes);
void frames_free(struct warp *warp);
/* What a call passes or gets back for a lane of the running group, up to 8 bytes. */
uint64_t passed_value(struct warp *warp, const struct frame *frame, const struct passed *passed, int lane);
void passed_set(struct warp *warp, const struct frame *frame, const struct passed *passed, int lane, uint64_t value);

/* ops_control.c: some lanes of the running group branch, the others do not. */
void branch_apart(struct warp *warp, const struct inst *in, uint32_t mask);

/* ops_control.c: bar.red's result, for lanes of a barrier that opens. */
void barrier_answer(char *regs, const struct inst *in, uint32_t mask, const struct barrier *barrier);

/* ops_sync.c: lanes have exited, so some that wait for them may go on. */
void meeting_check(struct warp *warp);

/* ops_async.c */
void async_start(struct block *block); /* a new block: nothing is under way */
void async_free(struct block *block);
void async_progress(struct block *block); /* something happened for which a barrier in memory may wait */

/* fault.c: "FILE.ptx:LINE (SOURCE.cu:LINE)" of an instruction, in a buffer that four calls share. */
const char *fault_place(const struct function *function, uint32_t pc);
enum { FINDING = 1 << 16 }; /* with an error: a check's finding, after which the program ends with a status of its own */
/* fault.c: records a fault of `lane` at `in` and stops the warp. `kind` begins the text, `advice` is the line that says how to mend
 * it. */
int warp_fault(struct warp *warp, const struct inst *in, int lane, int error, const char *advice, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
void fault_preface(struct warp *warp, const char *text); /* what stands before the report of the fault that this warp recorded */
void fault_report(struct grid *grid);                    /* writes the launch's first fault to stderr */

/* Where the lanes of an access are. NEAR: in one array, `near` bytes behind where it starts. APART: address[] and host[] say it. */
enum shape { SHAPE_NEAR, SHAPE_APART, SHAPE_MIXED };
struct access {
    uint32_t mask;
    unsigned bytes; /* a lane: element times vector */
    enum space space;
    enum shape shape;
    bool is_store, is_atomic;
    uint64_t start;
    char *host_start;
    int32_t near[WARP_SIZE];
    uint64_t address[WARP_SIZE]; /* in its space; filled in for those who ask (access_begin) */
    char *host[WARP_SIZE];
    uint8_t space_of[WARP_SIZE]; /* mixed: of generic addresses in several spaces */
    const char (*data)[16];      /* of an asynchronous copy: what each lane writes */
};
static inline uint64_t access_address(const struct access *a, int lane)
{
    return a->shape == SHAPE_NEAR ? a->start + (uint64_t)(int64_t)a->near[lane] : a->address[lane];
}

/* `mask` as lanes: those of the running group are kept for its next instructions. */
static inline const struct lanes *warp_lanes(struct warp *w, uint32_t mask, struct lanes *others)
{
    struct lanes *lanes = mask == w->now->mask ? &w->lanes : others;

    if (lanes == others || lanes->bits != mask)
        lanes_set(lanes, mask);
    return lanes;
}

/* The running group waits at a barrier. True: it is all that the warp has, so the warp waits. */
static inline bool barrier_wait(struct warp *w, uint8_t id, uint32_t mask)
{
    struct group *now = w->now;

    w->block->barriers[id].threads_here += (uint32_t)__builtin_popcount(mask);
    now->state = GROUP_AT_BARRIER;
    now->barrier = id;
    now->since = w->turn++;
    if (mask != w->live)
        return false;
    w->all_wait = now;
    w->now = NULL;
    w->status = STATUS_WAITING;
    return true;
}

static inline uint32_t *warp_predicate(struct warp *w, uint32_t slot)
{
    return (uint32_t *)(void *)(w->regs + slot);
}
static inline uint32_t *warp_row32(struct warp *w, uint32_t slot)
{
    return (uint32_t *)(void *)(w->regs + slot);
}
static inline uint64_t *warp_row64(struct warp *w, uint32_t slot)
{
    return (uint64_t *)(void *)(w->regs + slot);
}
#endif
