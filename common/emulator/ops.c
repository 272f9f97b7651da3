/* The opcode table: rows from ops.def, and how an opcode's text finds its row, its variant and its modifiers. */
#define _GNU_SOURCE
#include "ops.h"
#include "warp.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const type_names[TYPE_COUNT] = {
    [T_none] = "",
#define X(name, bytes) [T_##name] = #name,
    PTX_TYPES(X)
#undef X
};
const uint8_t type_bytes[TYPE_COUNT] = {
#define X(name, bytes) [T_##name] = bytes,
    PTX_TYPES(X)
#undef X
};
const char *const space_names[] = {"generic", "global", "shared", "local", "const", "param", "reg"};

#define BIT(t) ((uint64_t)1 << T_##t)
#define TYPES_PRED BIT(pred)
#define TYPES_16 (BIT(b16) | BIT(u16) | BIT(s16))
#define TYPES_32 (BIT(b32) | BIT(u32) | BIT(s32))
#define TYPES_64 (BIT(b64) | BIT(u64) | BIT(s64))
#define TYPES_FLOAT (BIT(f32) | BIT(f64))
#define TYPES_MEMORY (BIT(b8) | BIT(u8) | BIT(s8) | TYPES_16 | TYPES_32 | TYPES_64 | TYPES_FLOAT)
#define TYPES_MOVE (TYPES_16 | TYPES_32 | TYPES_64 | TYPES_FLOAT)

/* Every function a warp row names. */
#define LANE1(...)
#define LANE2(...)
#define LANE3(...)
#define LANE4(...)
#define COMPARE(...)
#define TEST(...)
#define CARRY2(...)
#define CARRY3(...)
#define CHOOSE(...)
#define DIVISION(...)
#define SHIFT(...)
#define RECODE(...)
#define PREDICATE1(...)
#define PREDICATE2(...)
#define CONVERT(...)
#define ATOMIC(id, ...) warp_fn warp_atomic_##id;
#define WARP(id, mnemonic, types, allow, as, signature, function) warp_fn function;
#include "ops.def"

#define LANE(id, mnemonic, allow, as, signature) [OP_##id] = {mnemonic, ROW_LANE, allow, as, signature, 0, NULL},
#define LANE1(id, mnemonic, types, allow, as, ...) LANE(id, mnemonic, allow, as, "00")
#define LANE2(id, mnemonic, types, allow, as, ...) LANE(id, mnemonic, allow, as, "000")
#define LANE3(id, mnemonic, types, allow, as, ...) LANE(id, mnemonic, allow, as, "0000")
#define LANE4(id, mnemonic, types, allow, as, ...) LANE(id, mnemonic, allow, as, "00000")
#define COMPARE(id, mnemonic, ...)                                                                                               \
    [OP_setp_##id] = {"setp." mnemonic, ROW_COMPARE, ALLOW_FTZ | ALLOW_COMBINE, AS_OTHER, "", 0, NULL},                          \
    [OP_set_##id] = {"set." mnemonic, ROW_LANE, ALLOW_FTZ | ALLOW_COMBINE, AS_OTHER, "000", 0, NULL},
#define TEST(id, mnemonic, ...) [OP_##id] = {mnemonic, ROW_COMPARE, 0, AS_OTHER, "", 0, NULL},
#define CARRY2(id, mnemonic, ...) [OP_##id] = {mnemonic, ROW_CARRY, 0, AS_OTHER, "000", 0, NULL},
#define CARRY3(id, mnemonic, ...) [OP_##id] = {mnemonic, ROW_CARRY, 0, AS_OTHER, "0000", 0, NULL},
#define DIVISION(id, mnemonic, ...) LANE(id, mnemonic, 0, AS_DIVISION, "000")
#define SHIFT(id, mnemonic, ...) LANE(id, mnemonic, 0, AS_OTHER, "000")
#define CHOOSE(id, mnemonic, types, kc, allow, ...) LANE(id, mnemonic, allow, AS_OTHER, "0000")
#define RECODE(id, mnemonic, d, s, kd, ka, kb, allow, ...) LANE(id, mnemonic, allow, AS_OTHER, "000")
#define PREDICATE1(id, mnemonic, ...) LANE(id, mnemonic, 0, AS_OTHER, "00")
#define PREDICATE2(id, mnemonic, ...) LANE(id, mnemonic, 0, AS_OTHER, "000")
#define CONVERT(id, mnemonic, destinations, sources, allow, ...) LANE(id, mnemonic, allow, AS_OTHER, "00")
#define WARP(id, mnemonic, types, allow, as, signature, function)                                                                \
    [OP_##id] = {mnemonic, ROW_WARP, allow, as, signature, types, function},
#define ATOMIC(id, mnemonic, types)                                                                                              \
    [OP_atom_##id] = {"atom." mnemonic, ROW_WARP, ACCESS, AS_ATOMIC, "dAa", types, warp_atomic_##id},                            \
    [OP_red_##id] = {"red." mnemonic, ROW_WARP, ACCESS, AS_ATOMIC, "Aa", types, warp_atomic_##id},
const struct op ops[OP_COUNT] = {
#include "ops.def"
};

static unsigned first_variant[OP_COUNT + 1]; /* of each row: the table is grouped by row */
static struct { uint8_t dots, stem; } shape[OP_COUNT]; /* of a row's mnemonic: how many dots, letters before the first */
static pthread_once_t indexed = PTHREAD_ONCE_INIT;

static void index_rows(void)
{
    unsigned op = 0, i = 0;

    for (int id = 0; id < OP_COUNT; id++) {
        shape[id].stem = (uint8_t)strcspn(ops[id].mnemonic, ".");
        for (const char *c = ops[id].mnemonic; *c; c++)
            shape[id].dots += *c == '.';
    }
    for (;; i++) {
        while (op <= variants[i].op)
            first_variant[op++] = i;
        if (variants[i].op == OP_COUNT)
            break;
    }
}

const struct variant *op_variant(enum op_id op, enum type type, enum type type2)
{
    pthread_once(&indexed, index_rows);
    for (unsigned i = first_variant[op]; i < first_variant[op + 1]; i++)
        if (variants[i].types[0] == type && variants[i].types[1] == type2)
            return &variants[i];
    return NULL;
}

/* Modifiers that choose no row: what each sets in struct opcode. */
struct modifier { const char *name; uint32_t allow; size_t field; uint8_t value; };
#define FIELD(name) offsetof(struct opcode, name)
static const struct modifier modifiers[] = {
    {"rn", ALLOW_ROUND | ALLOW_RN, FIELD(round), ROUND_RN}, {"rz", ALLOW_ROUND, FIELD(round), ROUND_RZ},
    {"rm", ALLOW_ROUND, FIELD(round), ROUND_RM}, {"rp", ALLOW_ROUND, FIELD(round), ROUND_RP},
    {"ftz", ALLOW_FTZ, FIELD(ftz), 1}, {"sat", ALLOW_SAT, FIELD(saturate), SATURATE_UNIT},
    {"relu", ALLOW_RELU, FIELD(saturate), SATURATE_RELU},
    {"global", ALLOW_SPACE, FIELD(space), SPACE_GLOBAL}, {"shared", ALLOW_SPACE, FIELD(space), SPACE_SHARED},
    {"shared::cta", ALLOW_SPACE, FIELD(space), SPACE_SHARED}, {"local", ALLOW_SPACE, FIELD(space), SPACE_LOCAL},
    {"const", ALLOW_SPACE, FIELD(space), SPACE_CONST}, {"param", ALLOW_SPACE, FIELD(space), SPACE_PARAM},
    {"volatile", ALLOW_ORDER, FIELD(order), ORDER_VOLATILE}, {"mmio", ALLOW_ORDER, FIELD(order), ORDER_VOLATILE},
    {"relaxed", ALLOW_ORDER, FIELD(order), ORDER_RELAXED}, {"acquire", ALLOW_ORDER, FIELD(order), ORDER_ACQUIRE},
    {"release", ALLOW_ORDER, FIELD(order), ORDER_RELEASE}, {"acq_rel", ALLOW_ORDER, FIELD(order), ORDER_ACQ_REL},
    {"sc", ALLOW_ORDER, FIELD(order), ORDER_SC}, {"weak", ALLOW_ORDER, FIELD(order), ORDER_WEAK},
    {"cta", ALLOW_SCOPE, FIELD(scope), 1}, {"cluster", ALLOW_SCOPE, FIELD(scope), 2}, {"gpu", ALLOW_SCOPE, FIELD(scope), 3},
    {"sys", ALLOW_SCOPE, FIELD(scope), 4}, {"gl", ALLOW_SCOPE, FIELD(scope), 3},
    {"v2", ALLOW_VECTOR, FIELD(vector), 2}, {"v4", ALLOW_VECTOR, FIELD(vector), 4},
    {"and", ALLOW_COMBINE, FIELD(combine), COMBINE_AND}, {"or", ALLOW_COMBINE, FIELD(combine), COMBINE_OR},
    {"xor", ALLOW_COMBINE, FIELD(combine), COMBINE_XOR},
};
static const char *const hints[] = {"ca", "cg", "cs", "cv", "lu", "wb", "wt", "nc", "L1", "L2"}; /* ALLOW_CACHE: no effect on values or counts */

enum { MOST_WORDS = 16 };
struct words { const char *at[MOST_WORDS]; int length[MOST_WORDS]; int count; };

static bool split(const char *text, struct words *words)
{
    words->count = 0;
    for (;;) {
        const char *dot = strchr(text, '.');
        if (words->count == MOST_WORDS)
            return false;
        words->at[words->count] = text;
        words->length[words->count++] = dot ? (int)(dot - text) : (int)strlen(text);
        if (!dot)
            return true;
        text = dot + 1;
    }
}

static bool same(const struct words *words, int i, const char *text, int length)
{
    return words->length[i] == length && !memcmp(words->at[i], text, (size_t)length);
}

static bool take_modifier(const struct words *words, int i, uint32_t allow, struct opcode *out)
{
    for (size_t m = 0; m < sizeof modifiers / sizeof *modifiers; m++)
        if ((allow & modifiers[m].allow) && same(words, i, modifiers[m].name, (int)strlen(modifiers[m].name))) {
            uint8_t *field = (uint8_t *)out + modifiers[m].field;
            bool once = modifiers[m].allow & (ALLOW_ROUND | ALLOW_COMBINE | ALLOW_SAT | ALLOW_RELU);
            if (modifiers[m].field == FIELD(space))
                out->space = (enum space)modifiers[m].value;
            else if (once && *field)
                return false;
            else
                *field = modifiers[m].value;
            return true;
        }
    if (allow & ALLOW_CACHE) {
        for (size_t h = 0; h < sizeof hints / sizeof *hints; h++)
            if (same(words, i, hints[h], 2))
                return true;
        if (words->length[i] > 4 && (!memcmp(words->at[i], "L1::", 4) || !memcmp(words->at[i], "L2::", 4)))
            return true;
    }
    return (allow & ALLOW_UNIFORM) && (same(words, i, "uni", 3) || same(words, i, "aligned", 7));
}

static bool take_type(const struct words *words, int i, enum type types[2], int *count)
{
    for (int t = T_none + 1; t < TYPE_COUNT && *count < 2; t++)
        if (same(words, i, type_names[t], (int)strlen(type_names[t]))) {
            types[(*count)++] = (enum type)t;
            return true;
        }
    return false;
}

static bool is_one_of(enum type type, uint64_t types) { return types >> type & 1; }

/* .ftz and .sat are of .f32 and .f16, and reciprocals of .f64 may say .ftz; a conversion flushes .f32 alone. */
static bool flushes_and_saturates(const struct opcode *o, bool is_cvt, bool is_set)
{
    const uint64_t flushed = BIT(f32) | BIT(f16) | BIT(f16x2) | (strncmp(o->op->mnemonic, "r", 1) ? 0 : BIT(f64));

    if (o->ftz && is_cvt && o->type != T_f32 && o->type2 != T_f32)
        return false;
    if (o->ftz && !is_cvt && !is_one_of(is_set || o->type2 == T_f32 ? o->type2 : o->type, flushed))
        return false;
    return o->saturate != SATURATE_UNIT || (is_cvt ? o->type2 != T_bf16 && o->type != T_bf16 : is_one_of(o->type, flushed));
}

/* A rounding must be named by what can round in several ways, and by conversions that lose something; by no others. */
static bool rounds(const struct opcode *o, bool is_cvt)
{
    static const char *const must[] = {"fma", "mad", "div", "sqrt", "rcp"};
    const uint64_t wide = BIT(f32) | BIT(f64), halves = BIT(f16) | BIT(bf16);

    if (is_cvt && (o->type == o->type2 || (o->type == T_f64 && o->type2 == T_f32)))
        return !o->round;
    if (is_cvt)
        return o->round || (is_one_of(o->type2, halves) && is_one_of(o->type, wide | halves));
    for (size_t i = 0; i < sizeof must / sizeof *must; i++)
        if (!strcmp(o->op->mnemonic, must[i]))
            return o->round;
    return true;
}

/* Modifiers that the row allows, but not with these types. */
static bool goes_together(const struct opcode *o)
{
    bool is_cvt = !strncmp(o->op->mnemonic, "cvt", 3), is_set = !strncmp(o->op->mnemonic, "set.", 4);

    if (o->op->kind == ROW_WARP)
        return o->op->as != AS_ATOMIC || o->order != ORDER_VOLATILE;
    return flushes_and_saturates(o, is_cvt, is_set) && (!(o->op->allow & (ALLOW_ROUND | ALLOW_RN)) || rounds(o, is_cvt));
}

/* Does the opcode belong to this row? Its mnemonic's words must all be there, in order; every other word must be a type or an
 * allowed modifier, and the types must be ones the row has. *bad: the first word that fits nothing, else -1. */
static bool fits(enum op_id id, const struct words *words, struct opcode *out, int *bad)
{
    const struct op *op = &ops[id];
    const char *key = op->mnemonic;
    enum type types[2] = {T_none, T_none};
    int type_count = 0;

    *out = (struct opcode){.op = op, .vector = 1};
    *bad = -1;
    for (int i = 0; i < words->count; i++) {
        size_t length = strcspn(key, ".");
        if (*key && same(words, i, key, (int)length))
            key += length + (key[length] == '.');
        else if (i == 0)
            return false;
        else if (*bad < 0 && !take_modifier(words, i, op->allow, out) && !take_type(words, i, types, &type_count))
            *bad = i;
    }
    if (*key)
        return *bad = -1, false;
    out->type = types[0];
    out->type2 = types[1];
    if (*bad >= 0)
        return false;
    if (op->kind == ROW_WARP)
        return (op->types ? type_count == 1 && (op->types >> types[0] & 1) : type_count == 0) && goes_together(out);
    out->variant = op_variant(id, out->type, out->type2);
    return out->variant && goes_together(out);
}

bool op_resolve(const char *text, struct opcode *out, char **problem)
{
    struct words words;
    int bad, unknown = -1;
    bool stem_known = false, row_known = false;
    static const char rows[] = " (rows: common/emulator/ops.def)";
    char message[160 + sizeof rows];

    if (!split(text, &words)) {
        *problem = strdup("an opcode with more than 15 modifiers");
        return false;
    }
    pthread_once(&indexed, index_rows);
    /* A row whose mnemonic says more comes first: "add.sat" before "add". */
    for (int most = 5; most >= 0; most--)
        for (int id = 0; id < OP_COUNT; id++) {
            if (shape[id].dots != most || !same(&words, 0, ops[id].mnemonic, shape[id].stem))
                continue;
            stem_known = true;
            if (fits((enum op_id)id, &words, out, &bad))
                return true;
            if (bad > unknown)
                unknown = bad;
            row_known |= bad < 0;
        }
    if (!stem_known)
        snprintf(message, 160, "unknown instruction '%.*s'", words.length[0], words.at[0]);
    else if (unknown > 0 && !row_known)
        snprintf(message, 160, "unknown modifier '.%.*s' on '%.*s'", words.length[unknown], words.at[unknown],
                 words.length[0], words.at[0]);
    else
        snprintf(message, 160, "no form '%s' of '%.*s'", text, words.length[0], words.at[0]);
    strcat(message, rows);
    *problem = strdup(message);
    return false;
}
