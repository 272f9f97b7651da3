/* The decoded program: what the parser builds, cfg.c completes and warp.c runs.
 *
 * A register is a row of 32 lanes in the warp's register file, at a byte offset called its slot: 4 bytes a lane up to 32-bit
 * types, 8 bytes a lane for 64-bit ones, two such rows for 128 bits, and one 32-bit mask for a predicate. Immediates, special registers and kernel
 * parameters have slots too, filled before the kernel starts, so that an instruction only ever sees slots. */
#ifndef PTX_H
#define PTX_H
#include "module.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, bytes) */
#define PTX_TYPES(X)                                                                                                             \
    X(b8, 1) X(b16, 2) X(b32, 4) X(b64, 8) X(u8, 1) X(u16, 2) X(u32, 4) X(u64, 8) X(s8, 1) X(s16, 2) X(s32, 4) X(s64, 8)          \
    X(f32, 4) X(f64, 8) X(pred, 0) X(f16, 2) X(f16x2, 4) X(bf16, 2) X(bf16x2, 4) X(b128, 16) X(u16x2, 4) X(s16x2, 4)             \
    X(e4m3x2, 2) X(e5m2x2, 2) X(tf32, 4)

enum type {
    T_none,
#define X(name, bytes) T_##name,
    PTX_TYPES(X)
#undef X
    TYPE_COUNT
};
extern const char *const type_names[TYPE_COUNT];
extern const uint8_t type_bytes[TYPE_COUNT];
static inline bool type_is_signed(enum type t) { return t >= T_s8 && t <= T_s64; }
/* Bytes a lane of a register of this type takes; 0 for a predicate, whose 32 lanes share one mask. */
enum { WIDE_HALF = 256 }; /* from the row of a 128-bit register's low halves to that of the high ones */
static inline unsigned type_lane_bytes(enum type t) { return t == T_pred ? 0 : type_bytes[t] <= 4 ? 4 : type_bytes[t]; }

enum space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM, SPACE_REG };
extern const char *const space_names[];

/* Special registers that have a slot, filled when a block or warp starts. X(id, "name", how often it changes) */
#define PTX_SPECIALS(X)                                                                                                          \
    X(tid_x, "%tid.x") X(tid_y, "%tid.y") X(tid_z, "%tid.z") X(ntid_x, "%ntid.x") X(ntid_y, "%ntid.y") X(ntid_z, "%ntid.z")      \
    X(ctaid_x, "%ctaid.x") X(ctaid_y, "%ctaid.y") X(ctaid_z, "%ctaid.z") X(nctaid_x, "%nctaid.x") X(nctaid_y, "%nctaid.y")       \
    X(nctaid_z, "%nctaid.z") X(laneid, "%laneid") X(warpid, "%warpid") X(nwarpid, "%nwarpid") X(smid, "%smid")                   \
    X(nsmid, "%nsmid") X(gridid, "%gridid") X(lanemask_eq, "%lanemask_eq") X(lanemask_lt, "%lanemask_lt")                        \
    X(lanemask_le, "%lanemask_le") X(lanemask_gt, "%lanemask_gt") X(lanemask_ge, "%lanemask_ge")                                 \
    X(dynamic_smem_size, "%dynamic_smem_size") X(total_smem_size, "%total_smem_size") X(envreg1, "%envreg1")                               \
    X(envreg2, "%envreg2") X(reserved_smem, "%reserved_smem_offset_1")                                                           \
    X(pm0, "%pm0") X(pm1, "%pm1") X(pm2, "%pm2") X(pm3, "%pm3") /* a profiler's, which is not there: 0 */
enum special {
#define X(id, name) SPECIAL_##id,
    PTX_SPECIALS(X)
#undef X
    SPECIAL_COUNT,
    SPECIAL_clock = SPECIAL_COUNT, /* these change while a warp runs: mov reads them anew each time */
    SPECIAL_clock64,
    SPECIAL_globaltimer
};

/* A variable or parameter: a name with a place in some space. */
struct symbol {
    const char *name;
    enum space space;
    enum type type;
    size_t align, bytes; /* bytes is 0 for `extern .shared name[]`, whose size the launch gives */
    uint64_t address;    /* the device address (global, const) or the offset in its space (shared, local, param) */
    bool is_extern, placed;
    bool managed;        /* .attribute(.managed): the host uses it by the same address */
    char *initial;       /* the first `initial_bytes` bytes; zeros follow */
    size_t initial_bytes;
    bool in_frame;       /* a function's parameter or a call's argument: `address` is its offset in the activation's stack frame */
    struct relocation { size_t at; const struct symbol *target; const struct function *function; int64_t addend; } *relocations;
    size_t relocation_count;
};

enum operand_kind { OPERAND_NONE, OPERAND_REGISTER, OPERAND_SPECIAL, OPERAND_IMMEDIATE, OPERAND_SYMBOL, OPERAND_ADDRESS,
                    OPERAND_VECTOR, OPERAND_LABEL, OPERAND_FUNCTION, OPERAND_DISCARD };

struct operand {
    enum operand_kind kind;
    bool negated;                /* !%p */
    bool is_float;               /* an immediate written as a float; `value` holds a double's bits unless `float_bits` */
    uint8_t float_bits;          /* 32 for 0f…, 64 for 0d…, else 0 */
    uint32_t index;              /* register, special, or label number */
    int64_t value;               /* immediate's bits, or the offset of an address */
    const struct symbol *symbol; /* of a symbol, or the base of an address */
    struct function *function;
    bool has_base;               /* an address whose base is register `index` */
    uint8_t part_count;          /* of a vector */
    struct operand *parts;
    uint32_t column;
};

struct reg { const char *name; enum type type; uint32_t slot; /* 0: never used */ };

struct inst;
struct warp;
struct lanes { int32_t mask[32]; uint32_t bits; }; /* -1 for a lane that takes part, else 0; and the same as bits */
static inline void lanes_set(struct lanes *lanes, uint32_t bits)
{
    static const uint32_t bit[32] = {1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
                                     1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
                                     1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
                                     1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};
    lanes->bits = bits;
    for (int i = 0; i < 32; i++)
        lanes->mask[i] = -(int32_t)((bits & bit[i]) != 0);
}
typedef void lane_full_fn(char *regs, const struct inst *in);
typedef void lane_masked_fn(char *regs, const struct inst *in, const struct lanes *lanes);
/* Runs one warp-level instruction for `mask`, a subset of the running group. Returns enum warp_next. */
typedef int warp_fn(struct warp *warp, const struct inst *in, uint32_t mask);

#define NO_PC UINT32_MAX

/* What a loop may wait with: a barrier in memory or nanosleep alone, or an atomic, volatile or acquire access too. */
enum polling { POLLS_NOT, POLLS_BARRIER, POLLS_MEMORY };

/* How the warp loop goes about an instruction. */
enum step {
    STEP_WARP,    /* its `warp` does everything */
    STEP_LANES,   /* the first of a run of unguarded lane instructions */
    STEP_GUARDED, /* a lane instruction with a guard */
    STEP_BARRIER, /* __syncthreads(): the loop itself waits there with a whole warp */
    STEP_BRANCH,  /* a branch in no polling loop: the loop itself takes it while all lanes go one way */
    STEP_LOOP     /* such a branch backwards */
};

/* A load or store whose lanes may be neighbours in memory as in the register: bits of an address, bytes a lane. */
enum row { ROW_NONE, ROW_32_4, ROW_32_8, ROW_64_4, ROW_64_8 };

/* What cp.async reads, beside the address that it writes; behind it, of a bulk copy, the barrier that it tells. */
struct address { uint32_t slot; bool has_base, wide_base; uint8_t space; int64_t offset; };

/* The registers of a vector atomic: what it gives and what it takes. */
enum { MOST_PARTS = 8 };
struct vector_parts { uint32_t given[MOST_PARTS], taken[MOST_PARTS]; };

struct inst { /* first what the lane functions look at, then what the loop does */
    lane_full_fn *full;     /* a lane instruction: NULL in a warp instruction */
    lane_masked_fn *masked;
    uint32_t slot[6];       /* lane rows: d, a, b, c, e; warp rows: decode.c's letter_slot says */
    uint32_t guard, guard_flip; /* takes part where (predicate at `guard` ^ `guard_flip`) is set; guard 0 is always true */
    const struct inst *then; /* behind the run of lane instructions that begins here, or where a branch leads */
    const struct inst *next; /* a lane instruction: what runs after it, in its run or behind */
    uint32_t number;        /* its pc */
    uint8_t step;           /* enum step */
    bool joins;             /* some branch's lanes meet here */
    uint8_t spins;          /* a jump backwards in a loop that may wait for others: enum polling */
    bool for_all;           /* of the run that begins here, lanes that do not take part may be computed too */
    uint8_t barrier;        /* of STEP_BARRIER */
    bool one_amount;        /* shl, shr: by as much as stands in the program */
    bool is_constant;       /* computed once a launch: runs leave it out (registers.c) */
    uint32_t fixed;         /* an access to shared memory at the same addresses in every block: its number from 1 on (registers.c) */
    bool is_local;          /* nobody sees what it leaves in lanes that do not take part (registers.c) */
    const struct inst *first; /* of a run that begins here, what runs first */
    warp_fn *warp;
    uint32_t run;           /* from here, so many lane instructions follow each other without a join, guard or jump */
    uint32_t target;        /* branch: where to; NO_PC if none */
    uint32_t reconv_pc;     /* branch: where its lanes meet again; NO_PC: only at the exit */
    int64_t offset;         /* of an address */
    uint8_t type, type2;
    uint8_t space, bytes, vector; /* memory access: space, bytes an element, elements (1, 2, 4) */
    uint8_t element_lane_bytes;   /* lane bytes of the registers loaded or stored */
    bool has_base, wide_base;     /* the address has a base register; it is 64 bits wide */
    uint8_t access_bytes;         /* of a lane: bytes times vector */
    bool is_store, is_atomic;     /* else a load */
    uint8_t row;                  /* enum row */
    bool is_volatile, is_relaxed, is_acquire, is_release, result_unused;
    bool feeds_cas;         /* a load: the first read of a compare-and-swap loop (first_read.c); race.c alone asks */
    uint8_t combine;        /* setp: 0, or the Boolean operator with a third predicate; atom and shfl: the operation */
    uint8_t flip;           /* bits: negated predicate operands, by their place in the signature */
    uint8_t round;          /* rounding modifier: 0 is the default */
    bool ftz;
    uint8_t saturate;       /* 0, into [0, 1], or negative to 0 */
    uint8_t wide;           /* bits: operands (0 is the destination) whose register is wider than the type (cvt allows it) */
    uint8_t lane_bytes0;    /* of a wide destination's register */
    uint32_t unread;        /* a load: a bit for each of its bytes whose value reaches no other instruction */
    const char *opcode;     /* as written, e.g. "ld.global.v4.u32" */
    const struct op *op;
    const struct variant *variant;
    const struct call *call;        /* call: whom, and with what */
    struct targets *targets;        /* brx.idx: where to */
    const struct address *source;   /* cp.async */
    struct vector_parts *parts;     /* atomics on vectors */
    struct operand *operands;
    uint8_t operand_count;
    uint32_t guard_register; /* the guard's number, where there is one */
    uint32_t line, column, source_line, source_file; /* in the PTX; in the .cu, 0 if unknown */
};

/* Where brx.idx may go: labels as the parser reads them, pcs once decoded. */
struct targets { uint32_t label, count, *pcs; };

/* An argument or a returned value of a call, as the caller or the function called sees it. */
struct passed {
    bool in_row;        /* in a row of the register file; else in the stack frame */
    uint32_t at;        /* the row's slot, or the offset in the frame */
    uint32_t bytes, lane_bytes;
};
struct call {
    const char *name;   /* as written: a function, or the register that holds its address */
    const struct function *target; /* NULL: through a pointer, or outside the module */
    bool indirect;
    uint32_t pointer;   /* slot of the addresses of an indirect call */
    warp_fn *builtin;   /* what the driver gives: vprintf, malloc and their kin */
    struct passed *arguments, *returns;
    uint32_t argument_count, return_count;
};

/* A slot filled before the kernel runs, or when a function is called. */
struct preset {
    enum { PRESET_CONSTANT, PRESET_SPECIAL, PRESET_PARAMETER, PRESET_LOCAL } kind;
    enum type type;
    uint32_t slot;
    uint64_t value; /* the bits, the special's number, the parameter's byte offset, or an offset in the stack frame */
};

struct function {
    const char *name;
    bool is_kernel, has_body;
    uint32_t line;
    const struct module *module;
    uint32_t index; /* in its module */
    struct symbol **parameters, **returns;
    size_t parameter_count, *parameter_sizes, parameter_bytes, return_count;
    struct reg *regs;
    size_t reg_count;
    struct preset *presets;
    size_t preset_count, changing_presets, local_presets; /* first those that differ from block to block, then PRESET_LOCAL */
    struct inst *code;
    uint32_t count;
    uint32_t *labels; /* label number -> pc */
    size_t label_count;
    const char **label_names;
    uint32_t *live_in; /* slots (and lane bytes) that the entry may read before it writes them: cleared for every block */
    size_t live_in_count;
    uint32_t *constants; /* pcs of what is computed once a launch, in that order */
    size_t constant_count;
    uint32_t fixed_count; /* accesses to shared memory at the same addresses in every block */
    uint32_t frame_bytes; /* of the register file */
    struct placed { const struct symbol *symbol; size_t offset; } *shared; /* the shared variables it names */
    size_t shared_count, static_shared, local_bytes;
    size_t stack_bytes, stack_align; /* of an activation's stack frame: local variables, parameters, arguments of its calls */
    struct targets *targets; /* lists of .branchtargets */
    size_t target_count;
    bool address_taken;
    /* A kernel that calls (link.c): its code goes on with that of every function it can reach, decoded anew for it. */
    struct function *kernel;  /* whose program this is part of; a kernel's own is itself */
    struct function **parts;  /* in the order of their code, the kernel first */
    struct function **part_of; /* by function->index; NULL if it cannot be reached */
    uint32_t part_count, part, entry; /* a part: which one, and the pc where it begins */
    size_t stack_limit;       /* a kernel: bytes of a lane's stack, for all activations at once; of one, if it recurses */
    bool deep;                /* a kernel that recurses: how deep shows only when it runs */
    bool dynamic_stack;       /* a kernel: it, or what it calls, has alloca */
    bool ready;               /* a kernel: decoded, or with an error */
    uint32_t scratch; /* slot of five rows that ops_modify.c works in */
    unsigned max_threads, required_threads[3];
    enum polling polls; /* it, or a function it calls, has an instruction that a loop may wait with */
    bool communicates; /* its blocks talk to each other in an order that shows: they run in one fixed interleaving */
    bool uses_float_atomics;
    bool uses_reserved; /* a kernel: cooperative groups keep something behind the block's shared memory (tiles of several warps) */
    char *error;       /* what is wrong with its body; NULL if it can run */
};

struct module {
    char *text;
    const char *name;
    size_t bytes;
    const char **files; /* by .file number */
    size_t file_count;
    struct function **functions;
    size_t function_count;
    struct symbol **symbols;
    size_t symbol_count;
    int ptx_version, target;
    struct arena *arena; /* owns everything above */
};

/* An arena: memory that is freed all at once. Never returns NULL: out of memory ends the program with a sentence. */
struct arena *arena_new(void);
void *arena_take(struct arena *arena, size_t bytes); /* zeroed, 16-byte aligned */
char *arena_string(struct arena *arena, const char *text, size_t bytes);
void arena_free(struct arena *arena);

/* Passes, in the order module.c calls them. Each puts a malloc'd report in *error and returns false, or returns true. */
bool ptx_parse(struct module *module, char **error);                   /* ptx_parse.c: text -> functions, symbols, operands */
bool decode_function(struct function *function, char **error);        /* decode.c: operands -> rows, slots, presets */
void place_shared(struct function *function);                         /* decode.c: shared variables of a kernel and its parts */
void cfg_complete(struct function *function);                         /* cfg.c: joins, runs, live-in slots, constants, spinning loops */
void link_kernel(struct function *kernel);                            /* link.c: all three, for a kernel and what it can call */
size_t stack_needed(const struct function *kernel); /* link.c: bytes a lane, with the stack's limit as it is */
const struct function *function_at(const struct function *kernel, uint32_t pc); /* link.c: which of them a pc belongs to */

/* A function's address: no memory lies there. */
#define WINDOW_FUNCTION 0x0400000000000000u
static inline uint64_t function_address(const struct function *f) { return WINDOW_FUNCTION | ((uint64_t)f->index + 1) << 4; }
enum polling function_polls(const struct function *function); /* cfg.c */
warp_fn *builtin_function(const char *name); /* builtins.c: NULL if it is none */
bool builtin_communicates(warp_fn *builtin); /* its result depends on the order of blocks */

/* "name:line:column: error: TEXT", the line and a caret; malloc'd. */
char *ptx_report(const struct module *module, uint32_t line, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#endif
