/* Operands to slots: every instruction finds its row in ops.def, and each operand its place in the register file. What an
 * instruction does not allow is reported here, with its place in the PTX. */
#define _GNU_SOURCE
#include "ops.h"
#include "ptx.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The register file begins with an always-true predicate at slot 0, a row that takes results nobody wants, and one with
 * each lane's carry. */
enum {
    SLOT_TRUE = 0,
    SLOT_DISCARD = 64,
    SLOT_CARRY = SLOT_DISCARD + 512,
    SLOT_FIRST = SLOT_CARRY + 128,
    SCRATCH_ROWS = 5,
    MOST_TARGETS = 1 << 20
};

struct decoder {
    struct function *f;
    struct inst *in;
    uint32_t next_slot, next_predicate; /* the latter a multiple of 64: none is begun */
    struct preset *presets;
    size_t preset_count, preset_room, target_count;
    uint32_t buckets[1024], *older; /* by value: one more than the number of the newest preset; of each, the one before */
    struct {
        const char *text;
        struct opcode opcode;
    } seen[256]; /* opcodes resolved before */
    char **error;
    jmp_buf failed;
};

#define FAIL(d, column_, ...)                                                                                                      \
    do {                                                                                                                           \
        *(d)->error = ptx_report((d)->f->module, (d)->in->line, (column_), __VA_ARGS__);                                           \
        longjmp((d)->failed, 1);                                                                                                   \
    } while (0)

/* Rows start on cache lines; predicates share one. */
static uint32_t take_row(struct decoder *d, unsigned lane_bytes)
{
    uint32_t slot = d->next_slot;

    if (lane_bytes == 0 && d->next_predicate % 64)
        return (d->next_predicate += 4) - 4;
    if (lane_bytes == 0)
        d->next_predicate = slot + 4;
    d->next_slot += lane_bytes ? 32 * lane_bytes : 64;
    return slot;
}

static uint32_t preset(struct decoder *d, int kind, enum type type, uint64_t value)
{
    uint32_t *bucket = &d->buckets[(value * 0x9E3779B97F4A7C15u >> 54 ^ (unsigned)kind) % 1024];

    for (uint32_t i = *bucket; i; i = d->older[i - 1]) {
        const struct preset *p = &d->presets[i - 1];
        if ((int)p->kind == kind && p->value == value && p->type == type)
            return p->slot;
    }
    if (d->preset_count == d->preset_room) {
        d->preset_room = d->preset_room ? 2 * d->preset_room : 32;
        d->presets = realloc(d->presets, d->preset_room * sizeof *d->presets);
        d->older = realloc(d->older, d->preset_room * sizeof *d->older);
        if (!d->presets || !d->older)
            abort();
    }
    uint32_t slot = take_row(d, type_lane_bytes(type));
    d->presets[d->preset_count] = (struct preset){.kind = kind, .type = type, .value = value, .slot = slot};
    d->older[d->preset_count] = *bucket;
    *bucket = (uint32_t)++d->preset_count;
    return slot;
}

/* A register gets its row when it is first used: programs may declare far more than they use. */
static uint32_t row_of(struct decoder *d, size_t index)
{
    struct reg *reg = &d->f->regs[index];

    if (!reg->slot)
        reg->slot = take_row(d, type_lane_bytes(reg->type));
    return reg->slot;
}

static uint64_t immediate_bits(struct decoder *d, const struct operand *o, enum type type)
{
    bool is_float = type == T_f32 || type == T_f64;
    uint64_t bits = (uint64_t)o->value;
    double wide;
    float narrow;

    if (!is_float && o->is_float && !(o->float_bits == 32 && type_bytes[type] == 4) &&
        !(o->float_bits == 64 && type_bytes[type] == 8))
        FAIL(d, o->column, "a float stands where '%s' takes an integer", d->in->opcode);
    if (!is_float)
        return type_bytes[type] == 8 ? bits : bits & (((uint64_t)1 << 8 * type_bytes[type]) - 1);
    if (!o->is_float)
        FAIL(d, o->column, "an integer stands where '%s' takes a float", d->in->opcode);
    if (o->float_bits == 8 * type_bytes[type])
        return bits;
    if (o->float_bits == 32) { /* 0f… in an f64 instruction */
        memcpy(&narrow, &o->value, sizeof narrow);
        wide = narrow;
        memcpy(&bits, &wide, sizeof bits);
        return bits;
    }
    memcpy(&wide, &o->value, sizeof wide);
    narrow = (float)wide;
    bits = 0;
    memcpy(&bits, &narrow, sizeof narrow);
    return bits;
}

static uint64_t symbol_address(struct decoder *d, const struct operand *o)
{
    const struct symbol *s = o->symbol;

    if (s->space == SPACE_SHARED)
        for (size_t i = 0; i < d->f->kernel->shared_count; i++)
            if (d->f->kernel->shared[i].symbol == s)
                return d->f->kernel->shared[i].offset + (uint64_t)o->value;
    if (s->is_extern && !s->placed && s->space != SPACE_SHARED)
        FAIL(d, o->column, "'%s' is declared .extern and defined in no module", s->name);
    return s->address + (uint64_t)o->value;
}

static uint32_t register_slot(struct decoder *d, const struct operand *o, enum type type, int place)
{
    const struct reg *reg = &d->f->regs[o->index];
    bool may_widen = d->in->op && (!strncmp(d->in->op->mnemonic, "cvt", 3) && strncmp(d->in->op->mnemonic, "cvta", 4));

    if ((reg->type == T_pred) != (type == T_pred))
        FAIL(d, o->column, "'%s' takes a .%s here, and %s is a .%s", d->in->opcode, type_names[type], reg->name,
             type_names[reg->type]);
    if (type_lane_bytes(reg->type) != type_lane_bytes(type)) {
        if (!may_widen || type_lane_bytes(reg->type) < type_lane_bytes(type))
            FAIL(d, o->column, "'%s' takes a .%s here, and %s is a .%s", d->in->opcode, type_names[type], reg->name,
                 type_names[reg->type]);
        d->in->wide |= (uint8_t)(1u << place);
        d->in->lane_bytes0 = place == 0 ? (uint8_t)type_lane_bytes(reg->type) : d->in->lane_bytes0;
    }
    if (may_widen && (d->in->type == T_bf16 || d->in->type2 == T_bf16) && type_bytes[reg->type] != type_bytes[type])
        FAIL(d, o->column, "'%s' takes a register of %d bits here, and %s is a .%s", d->in->opcode, 8 * type_bytes[type], reg->name,
             type_names[reg->type]);
    return row_of(d, o->index);
}

static uint32_t source_slot(struct decoder *d, const struct operand *o, enum type type, int place)
{
    if (type == T_b128 && o->kind != OPERAND_REGISTER)
        FAIL(d, o->column, "'%s' takes a .b128 register here", d->in->opcode);
    switch (o->kind) {
    case OPERAND_REGISTER:
        if (o->negated) {
            if (type != T_pred)
                FAIL(d, o->column, "'!' stands before a register that is no predicate");
            d->in->flip |= (uint8_t)(1u << place);
        }
        return register_slot(d, o, type, place);
    case OPERAND_IMMEDIATE:
        if (type == T_pred)
            return o->value ? SLOT_TRUE : preset(d, PRESET_CONSTANT, T_pred, 0);
        return preset(d, PRESET_CONSTANT, type_lane_bytes(type) == 8 ? T_b64 : T_b32, immediate_bits(d, o, type));
    case OPERAND_SPECIAL:
        if (o->index >= SPECIAL_COUNT)
            FAIL(d, o->column, "this special register can only be read by mov");
        d->f->kernel->uses_reserved |= o->index == SPECIAL_reserved_smem;
        return preset(d, PRESET_SPECIAL, type_lane_bytes(type) == 8 ? T_b64 : T_b32, o->index);
    case OPERAND_SYMBOL: {
        bool in_stack = o->symbol->in_frame || (o->symbol->space == SPACE_LOCAL && !d->f->is_kernel);
        return preset(d, in_stack ? PRESET_LOCAL : PRESET_CONSTANT, type_lane_bytes(type) == 8 ? T_b64 : T_b32,
                      symbol_address(d, o));
    }
    case OPERAND_LABEL:
        FAIL(d, o->column, "'%s' is neither declared nor a special register known here", d->f->label_names[o->index]);
    case OPERAND_FUNCTION: return preset(d, PRESET_CONSTANT, T_b64, function_address(o->function));
    default: FAIL(d, o->column, "operand %d of '%s' must be a value", place + 1, d->in->opcode);
    }
}

static uint32_t destination_slot(struct decoder *d, const struct operand *o, enum type type)
{
    if (o->kind == OPERAND_DISCARD)
        return SLOT_DISCARD;
    if (o->kind != OPERAND_REGISTER || o->negated)
        FAIL(d, o->column, "'%s' needs a register to write to", d->in->opcode);
    return register_slot(d, o, type, 0);
}

static void decode_address(struct decoder *d, const struct operand *o)
{
    struct inst *in = d->in;

    if (o->kind != OPERAND_ADDRESS)
        FAIL(d, o->column, "'%s' takes an address in brackets here", in->opcode);
    in->offset = o->value;
    in->slot[4] = SLOT_DISCARD;
    if (o->has_base) {
        const struct reg *reg = &d->f->regs[o->index];
        in->has_base = true;
        in->wide_base = type_lane_bytes(reg->type) == 8;
        if (reg->type == T_pred || type_bytes[reg->type] < 4)
            FAIL(d, o->column, "an address must be a 32-bit or 64-bit register, and %s is a .%s", reg->name, type_names[reg->type]);
        in->slot[4] = row_of(d, o->index);
        if (in->space == SPACE_PARAM && (!d->f->is_kernel || in->op == &ops[OP_st])) /* a kernel's own are read only */
            in->space = SPACE_LOCAL;
    } else if (o->symbol) {
        if (in->space != SPACE_GENERIC && in->space != o->symbol->space)
            FAIL(d, o->column, "'%s' is in .%s", o->symbol->name, space_names[o->symbol->space]);
        in->space = (uint8_t)(o->symbol->in_frame ? SPACE_LOCAL : o->symbol->space);
        in->offset = (int64_t)symbol_address(d, o);
        if (in->space == SPACE_LOCAL && !d->f->is_kernel) { /* where the frame begins, only the call says */
            in->has_base = in->wide_base = true;
            in->slot[4] = preset(d, PRESET_LOCAL, T_b64, 0);
        }
    }
}

/* 128 bits are loaded and stored as two halves, which have a row each. */
static void decode_wide_value(struct decoder *d, const struct operand *o, bool written)
{
    struct inst *in = d->in;
    bool kept = o->kind == OPERAND_REGISTER;

    if (in->vector != 1)
        FAIL(d, o->column, "a vector has at most 16 bytes");
    in->slot[0] = written ? destination_slot(d, o, T_b128) : source_slot(d, o, T_b128, 0);
    in->slot[1] = in->slot[0] + (kept ? WIDE_HALF : 0);
    in->type = T_b64;
    in->bytes = in->element_lane_bytes = 8;
    in->vector = 2;
}

/* A value or a vector of them: slot[0] and on. */
static void decode_values(struct decoder *d, const struct operand *o, bool written)
{
    struct inst *in = d->in;
    if (in->type == T_b128) {
        decode_wide_value(d, o, written);
        return;
    }
    const struct operand *parts = o->kind == OPERAND_VECTOR ? o->parts : o;
    unsigned count = o->kind == OPERAND_VECTOR ? o->part_count : 1;

    if (count == 0 || count > 4)
        FAIL(d, o->column, "a vector has two or four elements");
    if (in->vector == 1 && in->op->as == AS_MEMORY && count != 1)
        FAIL(d, o->column, "'%s' takes one value here", in->opcode);
    if (in->vector > 1 && count != in->vector)
        FAIL(d, o->column, "'%s' takes %u values here", in->opcode, in->vector);
    in->vector = (uint8_t)count;
    for (unsigned k = 0; k < count; k++) {
        const struct operand *part = &parts[k];
        unsigned lane_bytes = type_lane_bytes((enum type)in->type);
        if (part->kind == OPERAND_REGISTER) {
            const struct reg *reg = &d->f->regs[part->index];
            lane_bytes = type_lane_bytes(reg->type);
            if (reg->type == T_pred || lane_bytes < type_lane_bytes((enum type)in->type))
                FAIL(d, part->column, "'%s' takes a .%s here, and %s is a .%s", in->opcode, type_names[in->type], reg->name,
                     type_names[reg->type]);
            in->slot[k] = row_of(d, part->index);
        } else if (written && part->kind == OPERAND_DISCARD) {
            in->slot[k] = SLOT_DISCARD;
            lane_bytes = in->element_lane_bytes ? in->element_lane_bytes : lane_bytes;
        } else if (!written) {
            in->slot[k] = source_slot(d, part, (enum type)in->type, (int)k);
        } else {
            FAIL(d, part->column, "'%s' needs a register to write to", in->opcode);
        }
        if (in->element_lane_bytes && in->element_lane_bytes != lane_bytes)
            FAIL(d, part->column, "the elements of a vector differ in width");
        in->element_lane_bytes = (uint8_t)lane_bytes;
    }
}

/* mov with a vector on one side: the wide value on the other. */
static void decode_pack(struct decoder *d, const struct operand *vector, const struct operand *wide, bool unpack)
{
    struct inst *in = d->in;
    enum type whole = (enum type)in->type;
    unsigned bytes = vector->part_count ? type_bytes[whole] / vector->part_count : 0;

    if (bytes * vector->part_count != type_bytes[whole] || vector->part_count > 4 || (bytes & (bytes - 1)))
        FAIL(d, vector->column, "a .%s does not split into %u parts", type_names[whole], vector->part_count);
    in->slot[4] = unpack ? source_slot(d, wide, whole, 0) : destination_slot(d, wide, whole);
    in->type = bytes == 8 ? T_b64 : bytes == 4 ? T_b32 : bytes == 2 ? T_b16 : T_b8;
    in->type2 = (uint8_t)whole;
    in->bytes = (uint8_t)bytes;
    in->vector = vector->part_count;
    decode_values(d, vector, unpack);
}

/* An atomic's vector, as long as its mnemonic says. */
static void decode_parts(struct decoder *d, const struct operand *o, bool given)
{
    struct inst *in = d->in;
    const char *mnemonic = in->op->mnemonic;
    unsigned count = (unsigned)(mnemonic[strlen(mnemonic) - 1] - '0');

    if (in->space != SPACE_GLOBAL && in->space != SPACE_GENERIC)
        FAIL(d, in->column, "'%s': vectors have atomic operations in global memory alone", in->opcode);
    if (!in->parts)
        in->parts = arena_take(d->f->module->arena, sizeof *in->parts);
    if (given && o->kind == OPERAND_DISCARD) {
        for (unsigned k = 0; k < count; k++)
            in->parts->given[k] = SLOT_DISCARD;
        return;
    }
    if (o->kind != OPERAND_VECTOR || o->part_count != count)
        FAIL(d, o->column, "'%s' takes a vector of %u values here", in->opcode, count);
    in->vector = (uint8_t)count;
    for (unsigned k = 0; k < count; k++)
        if (given)
            in->parts->given[k] = destination_slot(d, &o->parts[k], (enum type)in->type);
        else
            in->parts->taken[k] = source_slot(d, &o->parts[k], (enum type)in->type, (int)k);
}

/* cp.async: what is read, and a barrier, are decoded as addresses of their own. */
static void decode_further_address(struct decoder *d, const struct operand *o, enum space space, int place)
{
    struct inst *in = d->in, second = *in;
    struct address *source = in->source ? (struct address *)in->source : arena_take(d->f->module->arena, 2 * sizeof *source);

    second.space = (uint8_t)space;
    second.offset = 0;
    second.has_base = second.wide_base = false;
    d->in = &second;
    decode_address(d, o);
    d->in = in;
    source[place] = (struct address){.slot = second.slot[4],
                                     .has_base = second.has_base,
                                     .wide_base = second.wide_base,
                                     .space = second.space,
                                     .offset = second.offset};
    in->source = source;
}

static uint8_t copied_bytes(struct decoder *d, const struct operand *o)
{
    bool only_16 = d->in->op == &ops[OP_copy_cg] || d->in->op == &ops[OP_copy_cg_cta];

    if (o->kind != OPERAND_IMMEDIATE || o->is_float || (o->value != 16 && (only_16 || (o->value != 4 && o->value != 8))))
        FAIL(d, o->column, "'%s' copies %s bytes", d->in->opcode, only_16 ? "16" : "4, 8 or 16");
    return (uint8_t)o->value;
}

static int letter_slot(char letter)
{
    switch (letter) {
    case 'd':
    case 'D':
    case 't': return 0;
    case 'q':
    case 'P': return 1;
    case 'a':
    case 'p':
    case 'z':
    case 'i':
    case 's': return 2;
    case 'b':
    case 'n':
    case 'u': return 3;
    case 'w': return 4;
    case 'm': return 5;
    }
    return 0;
}

static void decode_letter(struct decoder *d, char letter, const struct operand *o)
{
    struct inst *in = d->in;
    int place = letter_slot(letter);
    enum type type = (enum type)in->type;

    switch (letter) {
    case 'd': in->slot[0] = destination_slot(d, o, type); break;
    case 'D': in->slot[0] = destination_slot(d, o, T_b32); break;
    case 't': in->slot[0] = destination_slot(d, o, T_pred); break;
    case 'q': in->slot[1] = destination_slot(d, o, T_pred); break;
    case 'a':
    case 'b': in->slot[place] = source_slot(d, o, type, place); break;
    case 'n':
    case 'u':
    case 'w':
    case 'm':
    case 'i': in->slot[place] = source_slot(d, o, T_b32, place); break;
    case 'z': in->slot[place] = source_slot(d, o, T_b64, place); break;
    case 'P':
    case 'p': in->slot[place] = source_slot(d, o, T_pred, place); break;
    case 'B': decode_further_address(d, o, in->op == &ops[OP_bulk_store] ? SPACE_SHARED : SPACE_GLOBAL, 0); break;
    case 'M': decode_further_address(d, o, SPACE_SHARED, 1); break;
    case 'V':
    case 'U': decode_parts(d, o, letter == 'V'); break;
    case 'c': in->bytes = copied_bytes(d, o); break;
    case 's': in->offset = o->index; break;
    case 'v': decode_values(d, o, in->op->signature[0] == 'v'); break;
    case 'A': decode_address(d, o); break;
    case 'L':
        if (o->kind != OPERAND_LABEL || d->f->labels[o->index] == NO_PC)
            FAIL(d, o->column, "'%s' jumps to a label that is not there", in->opcode);
        in->target = d->f->labels[o->index];
        break;
    }
}

/* A policy for caches is the last operand: it must be right, and changes nothing. */
static void decode_cache_hint(struct decoder *d)
{
    struct inst *in = d->in;

    if (!(in->op->allow & ALLOW_CACHE) || !strstr(in->opcode, ".L2::cache_hint"))
        return;
    if (in->operand_count == 0)
        FAIL(d, in->column, "'%s' takes a policy as its last operand", in->opcode);
    source_slot(d, &in->operands[--in->operand_count], T_b64, 2);
}

static void decode_warp_row(struct decoder *d)
{
    struct inst *in = d->in;
    const char *signature = in->op->signature;
    int next = 0, least = 0, most = 0;
    bool optional = false;

    decode_cache_hint(d);
    for (const char *c = signature; *c; c++) {
        optional |= *c == '?';
        most += *c != '?';
        least += *c != '?' && *c != 'q' && *c != 'n' && !optional;
    }
    if (in->operand_count < least || in->operand_count > most)
        FAIL(d, in->column, "'%s' takes %d operands, and %u stand here", in->opcode, most, in->operand_count);
    for (const char *c = signature; *c; c++) {
        if (*c == '?')
            continue;
        if ((*c == 'q' || *c == 'n') && in->operand_count < most)
            continue;
        if (next < in->operand_count)
            decode_letter(d, *c, &in->operands[next++]);
    }
    in->warp = in->op->warp;
}

static void decode_compare(struct decoder *d)
{
    struct inst *in = d->in;
    const uint8_t *types = in->variant->operands;
    int with_c = in->combine != COMBINE_NONE, next = 1, least = 2 + (types[2] != T_none) + with_c;
    bool with_q = in->operand_count == least + 1;
    const struct operand *o = in->operands;

    if (in->operand_count != least + with_q)
        FAIL(d, in->column, "'%s' takes %d operands, and %u stand here", in->opcode, least, in->operand_count);
    in->slot[0] = destination_slot(d, &o[0], T_pred);
    in->slot[4] = with_q ? destination_slot(d, &o[next++], T_pred) : 0;
    in->slot[1] = source_slot(d, &o[next++], (enum type)types[1], 1);
    if (types[2] != T_none)
        in->slot[2] = source_slot(d, &o[next++], (enum type)types[2], 2);
    in->slot[3] = with_c ? source_slot(d, &o[next], T_pred, 3) : SLOT_TRUE;
}

/* selp's predicate, negated, chooses the other value. */
static void swap_choices(struct inst *in)
{
    uint32_t first = in->slot[1];

    in->slot[1] = in->slot[2];
    in->slot[2] = first;
    in->flip = 0;
}

static void decode_lane_row(struct decoder *d)
{
    struct inst *in = d->in;
    const uint8_t *types = in->variant->operands;
    int count = 0, combined = in->combine != COMBINE_NONE; /* set: with a third predicate */

    while (count < VARIANT_OPERANDS && types[count] != T_none)
        count++;
    if (in->operand_count != count + combined)
        FAIL(d, in->column, "'%s' takes %d operands, and %u stand here", in->opcode, count + combined, in->operand_count);
    in->slot[0] = destination_slot(d, &in->operands[0], (enum type)types[0]);
    for (int k = 1; k < count; k++)
        in->slot[k] = source_slot(d, &in->operands[k], (enum type)types[k], k);
    in->one_amount = count == 3 && in->operands[2].kind == OPERAND_IMMEDIATE;
    if (in->op->kind == ROW_CARRY)
        in->slot[5] = SLOT_CARRY;
    if (combined)
        in->slot[3] = source_slot(d, &in->operands[count], T_pred, 3);
    if (in->flip && in->op == &ops[OP_selp])
        swap_choices(in);
}

static void resolve(struct decoder *d, struct opcode *opcode)
{
    size_t hash = 0;
    char *problem;

    for (const char *c = d->in->opcode; *c; c++)
        hash = hash * 31 + (unsigned char)*c;
    hash %= sizeof d->seen / sizeof *d->seen;
    if (!d->seen[hash].text || strcmp(d->seen[hash].text, d->in->opcode)) {
        if (!op_resolve(d->in->opcode, opcode, &problem)) {
            *d->error = ptx_report(d->f->module, d->in->line, d->in->column, "%s", problem);
            free(problem);
            longjmp(d->failed, 1);
        }
        d->seen[hash].text = d->in->opcode;
        d->seen[hash].opcode = *opcode;
    }
    *opcode = d->seen[hash].opcode;
}

static void choose(struct decoder *d, enum op_id id)
{
    d->in->op = &ops[id];
    d->in->variant = NULL;
}

/* Calls. call (results), function, (arguments): each is a variable in .param space, a register or a number. */

static struct passed passed_operand(struct decoder *d, const struct operand *o, const struct symbol *formal, bool written)
{
    enum type type = formal ? formal->type : T_b64;

    if (o->kind == OPERAND_SYMBOL && o->symbol->in_frame) {
        if ((uint64_t)o->value > o->symbol->bytes)
            FAIL(d, o->column, "'%s' has %zu bytes", o->symbol->name, o->symbol->bytes);
        return (struct passed){.at = (uint32_t)(o->symbol->address + (uint64_t)o->value),
                               .bytes = (uint32_t)(o->symbol->bytes - (uint64_t)o->value)};
    }
    if (o->kind == OPERAND_REGISTER)
        type = d->f->regs[o->index].type;
    if (type == T_pred || type == T_b128)
        FAIL(d, o->column, "'%s' cannot pass a .%s", d->in->opcode, type_names[type]);
    return (struct passed){.in_row = true,
                           .bytes = formal && formal->bytes < type_bytes[type] ? (uint32_t)formal->bytes : type_bytes[type],
                           .lane_bytes = type_lane_bytes(type),
                           .at = written ? destination_slot(d, o, type) : source_slot(d, o, type, 0)};
}

static struct passed *passed_list(struct decoder *d, const struct operand *o, struct symbol **formals, size_t count, bool written)
{
    struct passed *list = arena_take(d->f->module->arena, (o ? o->part_count : 0u) * sizeof *list + 1);

    for (size_t k = 0; o && k < o->part_count; k++)
        list[k] = passed_operand(d, &o->parts[k], k < count ? formals[k] : NULL, written);
    return list;
}

static void decode_call(struct decoder *d)
{
    struct inst *in = d->in;
    const struct operand *o = in->operands, *end = o + in->operand_count, *results = NULL, *arguments = NULL, *whom;
    struct call *call = arena_take(d->f->module->arena, sizeof *call);
    const struct function *target = NULL;

    if (o < end && o->kind == OPERAND_VECTOR)
        results = o++;
    whom = o++;
    if (whom >= end || (whom->kind != OPERAND_FUNCTION && whom->kind != OPERAND_REGISTER))
        FAIL(d, in->column, "'%s' calls neither a function declared here nor one whose address a register holds", in->opcode);
    if (o < end && o->kind == OPERAND_VECTOR)
        arguments = o++;
    if (whom->kind == OPERAND_FUNCTION) {
        target = whom->function;
        if (target->is_kernel)
            FAIL(d, whom->column, "'%s' is a kernel, and '%s' calls functions", target->name, in->opcode);
        call->name = target->name;
        call->target = target->has_body ? d->f->kernel->part_of[target->index] : NULL;
        call->builtin = call->target ? NULL : builtin_function(target->name);
    } else {
        call->name = d->f->regs[whom->index].name;
        call->indirect = true;
        call->pointer = source_slot(d, whom, T_b64, 0);
    }
    call->argument_count = arguments ? arguments->part_count : 0;
    call->return_count = results ? results->part_count : 0;
    if (target && (call->argument_count != target->parameter_count || call->return_count != target->return_count))
        FAIL(d, whom->column, "'%s' takes %zu arguments and gives %zu values", target->name, target->parameter_count,
             target->return_count);
    call->arguments = passed_list(d, arguments, target ? target->parameters : NULL, target ? target->parameter_count : 0, false);
    call->returns = passed_list(d, results, target ? target->returns : NULL, target ? target->return_count : 0, true);
    in->call = call;
}

static void decode_targets(struct decoder *d)
{
    struct inst *in = d->in;
    const struct operand *o = in->operands;
    const struct targets *from = NULL;
    struct targets *to = arena_take(d->f->module->arena, sizeof *to);

    if (in->operand_count != 2)
        FAIL(d, in->column, "'%s' takes 2 operands, and %u stand here", in->opcode, in->operand_count);
    for (size_t i = 0; i < d->f->target_count && o[1].kind == OPERAND_LABEL; i++)
        if (d->f->targets[i].label == o[1].index)
            from = &d->f->targets[i];
    if (!from || !from->count)
        FAIL(d, o[1].column, "'%s' names no list of .branchtargets", in->opcode);
    if ((d->target_count += from->count) > MOST_TARGETS)
        FAIL(d, o[1].column, "more than %d places to jump to in a function", MOST_TARGETS);
    in->slot[2] = source_slot(d, &o[0], T_b32, 2);
    to->count = from->count;
    to->pcs = arena_take(d->f->module->arena, from->count * sizeof *to->pcs);
    for (uint32_t k = 0; k < from->count; k++) {
        to->pcs[k] = d->f->labels[from->pcs[k]];
        if (to->pcs[k] == NO_PC)
            FAIL(d, o[1].column, "'%s' jumps to a label that is not there", in->opcode);
    }
    in->targets = to;
}

static void decode_instruction(struct decoder *d)
{
    struct inst *in = d->in;
    const struct operand *o = in->operands;
    struct opcode opcode;
    bool is_mov, is_parameter;

    resolve(d, &opcode);
    in->op = opcode.op;
    in->variant = opcode.variant;
    in->type = (uint8_t)opcode.type;
    in->type2 = (uint8_t)opcode.type2;
    in->space = (uint8_t)opcode.space;
    in->vector = opcode.vector;
    in->combine = opcode.combine;
    in->round = opcode.round == ROUND_RN ? ROUND_DEFAULT : opcode.round;
    in->ftz = opcode.ftz;
    in->saturate = opcode.saturate;
    in->bytes = type_bytes[opcode.type];
    in->is_volatile = opcode.order == ORDER_VOLATILE;
    in->is_relaxed = opcode.order == ORDER_RELAXED;
    in->is_acquire = opcode.order == ORDER_ACQUIRE || opcode.order >= ORDER_ACQ_REL;
    in->is_release = opcode.order >= ORDER_RELEASE;
    in->guard_register = in->guard - 1;
    in->guard = in->guard ? row_of(d, in->guard_register) : SLOT_TRUE;
    if (in->op->as == AS_COPY) {
        in->space = in->op == &ops[OP_bulk_store] ? SPACE_GLOBAL : SPACE_SHARED;
        in->bytes = 16; /* a piece of a bulk copy; of the others an operand says it */
    }
    is_mov = (in->op == &ops[OP_mov] || in->op == &ops[OP_mov_wide]) && in->operand_count == 2;
    is_parameter = in->op == &ops[OP_ld] && in->type != T_b128 && in->space == SPACE_PARAM && in->operand_count == 2 &&
                   o[0].kind == OPERAND_REGISTER && o[1].kind == OPERAND_ADDRESS && o[1].symbol &&
                   o[1].symbol->space == SPACE_PARAM && !o[1].symbol->in_frame &&
                   type_lane_bytes(d->f->regs[o[0].index].type) == type_lane_bytes(opcode.type);
    if (is_parameter) { /* a kernel's parameter never changes: a preset row, and a lane move */
        choose(d, OP_ld_param);
        in->variant = op_variant(OP_ld_param, opcode.type, T_none);
        if (o[1].value < 0 || (uint64_t)o[1].value + in->bytes > o[1].symbol->bytes)
            FAIL(d, o[1].column, "parameter '%s' has %zu bytes", o[1].symbol->name, o[1].symbol->bytes);
        in->slot[0] = destination_slot(d, &o[0], opcode.type);
        in->slot[1] = preset(d, PRESET_PARAMETER, opcode.type, o[1].symbol->address + (uint64_t)o[1].value);
    } else if (is_mov && o[1].kind == OPERAND_VECTOR) {
        choose(d, OP_mov_pack);
        decode_pack(d, &o[1], &o[0], false);
    } else if (is_mov && o[0].kind == OPERAND_VECTOR) {
        choose(d, OP_mov_unpack);
        decode_pack(d, &o[0], &o[1], true);
    } else if (is_mov && o[1].kind == OPERAND_SPECIAL && o[1].index >= SPECIAL_COUNT) {
        choose(d, OP_mov_clock);
        decode_warp_row(d);
    } else if (in->op == &ops[OP_call]) {
        decode_call(d);
    } else if (in->op == &ops[OP_brx_idx]) {
        decode_targets(d);
    } else if (in->op->kind == ROW_WARP) {
        decode_warp_row(d);
    } else if (in->op->kind == ROW_COMPARE) {
        decode_compare(d);
    } else {
        decode_lane_row(d);
    }
    in->warp = in->op == &ops[OP_ret] && !d->f->is_kernel ? warp_return
               : in->call && in->call->builtin            ? in->call->builtin
                                                          : in->op->warp;
    in->access_bytes = (uint8_t)(in->bytes * in->vector);
    in->is_store =
        in->op->signature[0] == 'A' && (in->op->as != AS_MBARRIER || in->op == &ops[OP_mbar_init] || in->op == &ops[OP_mbar_inval]);
    in->is_atomic = in->op->as == AS_ATOMIC;
    if (in->op->as == AS_MEMORY && in->has_base && in->vector == 1 && (in->bytes == 4 || in->bytes == 8) &&
        (in->bytes == in->element_lane_bytes || !in->is_store) &&
        (in->space == SPACE_SHARED || (in->wide_base && (in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC))))
        in->row = in->wide_base ? in->bytes == 4 ? ROW_64_4 : ROW_64_8 : in->bytes == 4 ? ROW_32_4 : ROW_32_8;
    if (in->variant) {
        in->full = in->variant->full;
        in->masked = in->variant->masked;
        if (in->ftz || in->saturate || in->round || in->wide)
            ops_modify(in, d->f);
    }
}

/* Shared variables get offsets in each kernel that names them, or calls what does; all `extern` ones begin behind the others. */
static void place_named(struct function *f, const struct operand *o)
{
    const struct symbol *s = o->symbol;

    for (unsigned k = 0; o->kind == OPERAND_VECTOR && k < o->part_count; k++)
        place_named(f, &o->parts[k]);
    if (!s || s->space != SPACE_SHARED)
        return;
    for (size_t i = 0; i < f->shared_count; i++)
        if (f->shared[i].symbol == s)
            return;
    if ((f->shared_count & (f->shared_count - 1)) == 0) { /* full: there is room for the next power of two */
        struct placed *larger = arena_take(f->module->arena, (2 * f->shared_count + 1) * sizeof *larger);
        if (f->shared_count)
            memcpy(larger, f->shared, f->shared_count * sizeof *larger);
        f->shared = larger;
    }
    f->static_shared = (f->static_shared + s->align - 1) & ~(s->align - 1);
    f->shared[f->shared_count++] = (struct placed){s, f->static_shared};
    f->static_shared += s->bytes;
}

void place_shared(struct function *f)
{
    size_t align = 16;

    for (uint32_t p = 0; p < f->part_count; p++)
        for (uint32_t pc = 0; pc < f->parts[p]->count; pc++)
            for (unsigned k = 0; k < f->parts[p]->code[pc].operand_count; k++)
                place_named(f, &f->parts[p]->code[pc].operands[k]);
    for (size_t i = 0; i < f->shared_count; i++)
        if (f->shared[i].symbol->bytes == 0 && f->shared[i].symbol->align > align)
            align = f->shared[i].symbol->align;
    size_t dynamic = f->static_shared;
    for (size_t i = 0; i < f->shared_count; i++)
        if (f->shared[i].symbol->bytes == 0)
            f->shared[i].offset = dynamic = (f->static_shared + align - 1) & ~(align - 1);
    f->static_shared = dynamic;
}

/* Specials that differ from block to block or warp to warp of the same register file. */
static bool changes(const struct preset *p)
{
    return p->kind == PRESET_SPECIAL && ((p->value >= SPECIAL_ctaid_x && p->value <= SPECIAL_ctaid_z) || p->value == SPECIAL_smid);
}

static void sort_presets(struct decoder *d)
{
    struct function *f = d->f;

    f->presets = arena_take(f->module->arena, d->preset_count * sizeof *f->presets + 1);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < d->preset_count; i++) {
            int wanted = changes(&d->presets[i]) ? 0 : d->presets[i].kind == PRESET_LOCAL ? 1 : 2;
            if (wanted == round)
                f->presets[f->preset_count++] = d->presets[i];
        }
        if (round == 0)
            f->changing_presets = f->preset_count;
        if (round == 1)
            f->local_presets = f->preset_count - f->changing_presets;
    }
}

bool decode_function(struct function *f, char **error)
{
    struct decoder *d = calloc(1, sizeof *d);
    bool decoded;

    if (!d)
        return *error = strdup("out of memory"), false;
    d->f = f;
    d->error = error;
    d->next_slot = SLOT_FIRST;
    f->scratch = take_row(d, 8);
    for (int i = 1; i < SCRATCH_ROWS; i++)
        take_row(d, 8);
    for (size_t i = 0; i < f->parameter_count; i++) /* a call fills them, used or not */
        if (f->parameters[i]->space == SPACE_REG)
            row_of(d, f->parameters[i]->address);
    for (size_t i = 0; i < f->return_count; i++)
        if (f->returns[i]->space == SPACE_REG)
            row_of(d, f->returns[i]->address);
    decoded = !setjmp(d->failed);
    if (decoded)
        for (uint32_t pc = 0; pc < f->count; pc++) {
            d->in = &f->code[pc];
            decode_instruction(d);
        }
    free(d->older);
    f->frame_bytes = d->next_slot;
    sort_presets(d);
    free(d->presets);
    free(d);
    return decoded;
}
