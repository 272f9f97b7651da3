/* The opcode table as C sees it: rows from ops.def, and for lane rows one variant a type from ops_lane.c. */
#ifndef OPS_H
#define OPS_H
#include "ptx.h"

/* Modifiers that do not choose the row but are allowed on it. */
enum {
    ALLOW_ROUND = 1 << 0,    /* .rn .rz .rm .rp */
    ALLOW_FTZ = 1 << 1,
    ALLOW_SAT = 1 << 2,
    ALLOW_SPACE = 1 << 3,    /* .global .shared .local .const .param, ::cta and the like */
    ALLOW_ORDER = 1 << 4,    /* .volatile .relaxed .acquire .release .acq_rel .weak .sc .mmio */
    ALLOW_SCOPE = 1 << 5,    /* .cta .gpu .sys .cluster */
    ALLOW_CACHE = 1 << 6,    /* .ca .cg .cs .cv .lu .wb .wt .nc, L1:: and L2:: hints */
    ALLOW_VECTOR = 1 << 7,   /* .v2 .v4 */
    ALLOW_COMBINE = 1 << 8,  /* .and .or .xor */
    ALLOW_UNIFORM = 1 << 9,  /* .uni .aligned */
    ALLOW_RN = 1 << 10,      /* .rn alone */
    ALLOW_RELU = 1 << 11
};

/* The rows' numbers. */
enum op_id {
#define LANE1(id, ...) OP_##id,
#define LANE2(id, ...) OP_##id,
#define LANE3(id, ...) OP_##id,
#define LANE4(id, ...) OP_##id,
#define COMPARE(id, ...) OP_setp_##id, OP_set_##id,
#define TEST(id, ...) OP_##id,
#define CARRY2(id, ...) OP_##id,
#define CARRY3(id, ...) OP_##id,
#define CHOOSE(id, ...) OP_##id,
#define DIVISION(id, ...) OP_##id,
#define SHIFT(id, ...) OP_##id,
#define RECODE(id, ...) OP_##id,
#define PREDICATE1(id, ...) OP_##id,
#define PREDICATE2(id, ...) OP_##id,
#define CONVERT(id, ...) OP_##id,
#define ATOMIC(id, ...) OP_atom_##id, OP_red_##id,
#define WARP(id, ...) OP_##id,
#include "ops.def"
    OP_COUNT
};

enum row_kind { ROW_LANE, ROW_CARRY, ROW_COMPARE, ROW_WARP };
enum counts_as { AS_OTHER, AS_DIVISION, AS_BRANCH, AS_BARRIER, AS_WARP_BARRIER, AS_SHUFFLE, AS_ATOMIC, AS_MEMORY, AS_COPY, AS_MBARRIER };

struct op {
    const char *mnemonic;
    enum row_kind kind;
    uint32_t allow;
    enum counts_as as;
    const char *signature; /* see ops.def */
    uint64_t types;        /* warp rows: a bit for each type allowed */
    warp_fn *warp;
};
extern const struct op ops[OP_COUNT];

enum { VARIANT_OPERANDS = 5 };
struct variant {
    uint16_t op;
    uint8_t types[2];                   /* as the opcode spells them; T_none if it has fewer */
    uint8_t operands[VARIANT_OPERANDS]; /* of d, a, b, c, e; T_none if it has fewer */
    lane_full_fn *full;
    lane_masked_fn *masked;
};
extern const struct variant variants[]; /* by row; ends with OP_COUNT */

/* An opcode resolved: its row, variant and modifiers. False with *problem (malloc'd) if there is none. */
struct opcode {
    const struct op *op;
    const struct variant *variant; /* lane rows */
    enum type type, type2;
    enum space space;
    uint8_t vector, combine, round, order, scope;
    bool ftz;
    uint8_t saturate;
};
enum { ORDER_WEAK, ORDER_VOLATILE, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL, ORDER_SC };
enum { ROUND_DEFAULT, ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP, ROUND_RNA };
enum { SATURATE_NONE, SATURATE_UNIT, SATURATE_RELU }; /* into [0, 1]; negative becomes 0 */
enum { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };
bool op_resolve(const char *text, struct opcode *out, char **problem);
const struct variant *op_variant(enum op_id op, enum type type, enum type type2); /* NULL if the row has no such type */

/* Wraps a lane instruction whose .ftz, .sat or directed rounding changes operands or result (ops_modify.c). */
void ops_modify(struct inst *in, struct function *function);
/* ops_call.c: ret of a function that was called, where ret of a kernel is exit. */
warp_fn warp_return;
/* ops_control.c: the running group goes on behind the instruction, and others run first. */
warp_fn warp_yield;
warp_fn warp_barrier; /* bar.sync */
#endif
