/* Who reads and writes a function's registers, and what follows: rows that must start cleared, what is the same in every block,
 * results that nobody wants. */
#include "cfg.h"
#include "ops.h"
#include <stdlib.h>
#include <string.h>

typedef void register_visit(void *context, uint32_t reg);

static void visit_operand(const struct operand *o, register_visit *visit, void *context)
{
    if (o->kind == OPERAND_REGISTER || (o->kind == OPERAND_ADDRESS && o->has_base))
        visit(context, o->index);
    for (unsigned k = 0; o->kind == OPERAND_VECTOR && k < o->part_count; k++)
        visit_operand(&o->parts[k], visit, context);
}

int destinations(const struct inst *in)
{
    const char *s = in->op->signature;

    if (in->call)
        return in->operands[0].kind == OPERAND_VECTOR; /* (results), function, (arguments) */
    if (in->op->kind == ROW_COMPARE)
        return in->slot[4] ? 2 : 1;
    if (in->op->kind == ROW_LANE || in->op->kind == ROW_CARRY || in->op == &ops[OP_mov_pack] || in->op == &ops[OP_mov_unpack])
        return 1;
    if (s[0] == 'd' || s[0] == 'D' || s[0] == 't' || s[0] == 'v' || s[0] == 'V')
        return 1 + (s[1] == 'q' && in->operand_count == strlen(s));
    return 0;
}

static void visit_sources(const struct inst *in, register_visit *visit, void *context)
{
    for (int k = destinations(in); k < in->operand_count; k++)
        visit_operand(&in->operands[k], visit, context);
}

static void visit_destinations(const struct inst *in, register_visit *visit, void *context)
{
    for (int k = 0; k < destinations(in) && k < in->operand_count; k++)
        visit_operand(&in->operands[k], visit, context);
}

/* Which blocks read a register before they write it, and which write it: lists, newest block first. */
struct touch {
    uint32_t block, older;
};
struct touches {
    struct touch *all;
    uint32_t count, room, block; /* the block being looked at */
    uint32_t *read, *written;    /* by register: one more than the number of the first in its list */
};

static void touch(struct touches *t, uint32_t *first)
{
    if (*first && t->all[*first - 1].block == t->block)
        return;
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 256;
        t->all = realloc(t->all, t->room * sizeof *t->all);
        if (!t->all)
            abort();
    }
    t->all[t->count] = (struct touch){t->block, *first};
    *first = ++t->count;
}

static void add_read(void *context, uint32_t reg)
{
    struct touches *t = context;
    uint32_t written = t->written[reg];

    if (!written || t->all[written - 1].block != t->block)
        touch(t, &t->read[reg]);
}

static void add_written(void *context, uint32_t reg)
{
    struct touches *t = context;

    touch(t, &t->written[reg]);
}

static void find_touches(const struct graph *g, struct touches *t)
{
    const struct function *f = g->f;

    for (t->block = 0; t->block < g->count; t->block++)
        for (uint32_t pc = g->blocks[t->block].first; pc < g->blocks[t->block].end; pc++) {
            if (f->code[pc].guard)
                add_read(t, f->code[pc].guard_register);
            visit_sources(&f->code[pc], add_read, t);
            if (!is_guarded(&f->code[pc]))
                visit_destinations(&f->code[pc], add_written, t);
        }
}

static bool *reached_blocks(const struct graph *g, uint32_t *stack)
{
    bool *reached = zeroed(g->count + 1, sizeof *reached);
    uint32_t depth = 0;

    reached[0] = true;
    stack[depth++] = 0;
    while (depth) {
        const struct block_node *block = &g->blocks[stack[--depth]];
        for (uint32_t k = 0; k < block->next_count; k++)
            if (!reached[block->next[k]]) {
                reached[block->next[k]] = true;
                stack[depth++] = block->next[k];
            }
    }
    return reached;
}

static bool is_read_in(const struct touches *t, uint32_t reg, const bool *reached)
{
    for (uint32_t i = t->read[reg]; i; i = t->all[i - 1].older)
        if (reached[t->all[i - 1].block])
            return true;
    return false;
}

/* Walks backwards from the blocks that read `reg`, not through those that write it. `seen`: by block, one more than the register
 * last met there. */
static bool reaches_entry(const struct graph *g, const struct touches *t, uint32_t reg, uint32_t *seen, uint32_t *stack)
{
    uint32_t depth = 0;

    for (uint32_t i = t->written[reg]; i; i = t->all[i - 1].older)
        seen[t->all[i - 1].block] = reg + 1;
    for (uint32_t i = t->read[reg]; i; i = t->all[i - 1].older) {
        seen[t->all[i - 1].block] = reg + 1;
        stack[depth++] = t->all[i - 1].block;
    }
    while (depth) {
        uint32_t block = stack[--depth];
        if (block == 0)
            return true;
        for (uint32_t e = g->first_before[block]; e < g->first_before[block + 1]; e++)
            if (seen[g->before[e]] != reg + 1) {
                seen[g->before[e]] = reg + 1;
                stack[depth++] = g->before[e];
            }
    }
    return false;
}

void find_live_in(struct graph *g)
{
    struct function *f = g->f;
    struct touches touches = {.read = zeroed(f->reg_count, sizeof(uint32_t)), .written = zeroed(f->reg_count, sizeof(uint32_t))};
    uint32_t *seen = zeroed(g->count, sizeof *seen), *stack = zeroed(g->count, sizeof *stack);
    bool *reached = reached_blocks(g, stack);

    find_touches(g, &touches);
    f->live_in = arena_take(f->module->arena, (f->reg_count + 1) * sizeof *f->live_in);
    for (uint32_t r = 0; r < f->reg_count; r++)
        if (is_read_in(&touches, r, reached) && (!touches.written[r] || reaches_entry(g, &touches, r, seen, stack)))
            f->live_in[f->live_in_count++] = r;
    free(touches.all);
    free(touches.read);
    free(touches.written);
    free(seen);
    free(stack);
    free(reached);
}

/* After these the same lanes go on at once. Elsewhere others of the warp may run first, perhaps through the same code. */
static bool keeps_running(const struct inst *in)
{
    return in->full || in->op->as == AS_MEMORY || in->op->as == AS_ATOMIC || in->op == &ops[OP_mov_pack] ||
           in->op == &ops[OP_mov_unpack];
}

/* By register: the stretch of code that has written it, and whether every read stands behind a write in its own stretch. */
struct stretches {
    uint32_t now, *written;
    bool *is_local;
    bool all_local; /* of those visited */
};

static void local_read(void *context, uint32_t reg)
{
    struct stretches *s = context;

    s->is_local[reg] &= s->written[reg] == s->now;
}

static void local_written(void *context, uint32_t reg)
{
    struct stretches *s = context;

    s->written[reg] = s->now;
}

static void local_check(void *context, uint32_t reg)
{
    struct stretches *s = context;

    s->all_local &= s->is_local[reg];
}

static void look_for_locals(const struct graph *g, struct stretches *s)
{
    const struct function *f = g->f;

    for (uint32_t pc = 0; pc < f->count; pc++) {
        const struct inst *in = &f->code[pc];
        if (pc == 0 || g->block_of[pc] != g->block_of[pc - 1] || !keeps_running(in - 1))
            s->now++;
        if (in->guard)
            local_read(s, in->guard_register);
        visit_sources(in, local_read, s);
        if (!is_guarded(in))
            visit_destinations(in, local_written, s);
    }
    for (size_t i = 0; i < f->return_count; i++)
        if (f->returns[i]->space == SPACE_REG)
            s->is_local[f->returns[i]->address] = false;
}

/* Lane instructions whose result a lane reads only right behind, having computed it itself. What they leave in the lanes that do
 * not take part nobody sees, so they need no mask. */
void find_locals(struct graph *g)
{
    struct function *f = g->f;
    struct stretches s = {.written = zeroed(f->reg_count, sizeof *s.written), .is_local = zeroed(f->reg_count, sizeof *s.is_local)};

    memset(s.is_local, true, f->reg_count);
    look_for_locals(g, &s);
    for (uint32_t pc = 0; pc < f->count; pc++) {
        struct inst *in = &f->code[pc];
        s.all_local = in->step == STEP_LANES && in->op->kind != ROW_CARRY;
        visit_destinations(in, local_check, &s);
        in->is_local = s.all_local;
    }
    free(s.written);
    free(s.is_local);
}

static void count_visit(void *context, uint32_t reg)
{
    ((uint32_t *)context)[reg]++;
}

/* By slot / 4: rows that hold the same for all blocks of a launch before the kernel runs. */
static bool *constant_rows(const struct function *f)
{
    bool *constant = zeroed(f->frame_bytes / 4, sizeof *constant);

    constant[0] = true; /* the predicate that is always true */
    for (size_t i = f->changing_presets + f->local_presets; i < f->preset_count; i++)
        constant[f->presets[i].slot / 4] = true;
    return constant;
}

static bool computes_constant(const struct inst *in, const bool *constant)
{
    for (unsigned k = 1; k < VARIANT_OPERANDS; k++)
        if (in->variant->operands[k] != T_none && !constant[in->slot[k] / 4])
            return false;
    return in->combine == COMBINE_NONE || constant[in->slot[3] / 4];
}

struct writers {
    const uint32_t *count;
    bool alone;
};

static void check_alone(void *context, uint32_t reg)
{
    struct writers *w = context;

    w->alone &= w->count[reg] == 1;
}

struct rows {
    const struct function *f;
    bool *constant;
};

static void set_constant(void *context, uint32_t reg)
{
    struct rows *rows = context;

    rows->constant[rows->f->regs[reg].slot / 4] = true;
}

/* Accesses of a kernel to shared memory at addresses that are the same in every block: access.c looks at them once a launch. */
static void number_fixed(struct function *f, const bool *constant)
{
    for (uint32_t pc = 0; f->is_kernel && pc < f->count; pc++) {
        struct inst *in = &f->code[pc];
        bool stays = !in->has_base || (!in->wide_base && constant[in->slot[4] / 4]);
        if (in->op->as == AS_MEMORY && in->space == SPACE_SHARED && stays)
            in->fixed = ++f->fixed_count;
    }
}

/* Lane instructions of a kernel that give the same in every block: what they read is constant, and nobody else writes what they
 * write, nor reads it before. They run once a launch, for all lanes, and are only counted after that. */
void find_constants(struct function *f)
{
    uint32_t *writes = zeroed(f->reg_count, sizeof *writes);
    struct rows rows = {f, constant_rows(f)};
    bool changed = f->is_kernel;

    for (uint32_t pc = 0; pc < f->count; pc++)
        visit_destinations(&f->code[pc], count_visit, writes);
    for (size_t i = 0; i < f->live_in_count; i++)
        writes[f->live_in[i]]++;
    f->constants = arena_take(f->module->arena, (f->count + 1) * sizeof *f->constants);
    while (changed) {
        changed = false;
        for (uint32_t pc = 0; pc < f->count; pc++) {
            struct inst *in = &f->code[pc];
            struct writers writers = {writes, true};
            if (in->is_constant || in->step != STEP_LANES || in->op->kind == ROW_CARRY || !computes_constant(in, rows.constant))
                continue;
            visit_destinations(in, check_alone, &writers);
            if (!writers.alone)
                continue;
            visit_destinations(in, set_constant, &rows);
            in->is_constant = changed = true;
            f->constants[f->constant_count++] = pc;
        }
    }
    number_fixed(f, rows.constant);
    free(writes);
    free(rows.constant);
}

/* Does what an atomic leaves in memory depend on the order of those that reach it? */
static bool order_shows(const struct inst *in)
{
    static const enum type rounded[] = {T_f32, T_f64, T_f16, T_f16x2, T_bf16, T_bf16x2};
    static const enum op_id writers[] = {OP_atom_exch, OP_atom_cas, OP_atom_exch_w, OP_atom_cas_w};

    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++)
        if (in->type == rounded[i])
            return true;
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (in->op == &ops[writers[i]])
            return true;
    return false;
}

/* What is read of each register: the times in all, and those that look at more than its low half. */
struct reads {
    uint32_t *whole, *high;
};

static bool only_low_half(const struct inst *in, int operand)
{
    if (in->op == &ops[OP_cvt_ii]) /* cvt.u32.u64 */
        return type_bytes[in->variant->types[1]] == 8 && type_bytes[in->variant->types[0]] < 8;
    return in->op == &ops[OP_st] && operand > 0; /* copied on */
}

static void count_reads(struct function *f, struct reads *reads)
{
    for (uint32_t pc = 0; pc < f->count; pc++)
        for (int k = destinations(&f->code[pc]); k < f->code[pc].operand_count; k++) {
            visit_operand(&f->code[pc].operands[k], count_visit, reads->whole);
            if (!only_low_half(&f->code[pc], k))
                visit_operand(&f->code[pc].operands[k], count_visit, reads->high);
        }
}

/* Bytes that a load brings and nobody looks at: nvcc widens three elements to four where the place allows it, and 8 bytes may be a
 * member of 4 and the padding behind it. */
static uint32_t unread_bytes(const struct inst *in, const struct reads *reads)
{
    const struct operand *d = in->operands; /* an instruction of another kind may have none */
    uint32_t unread = 0, element = (uint32_t)((UINT64_C(1) << in->bytes) - 1);

    if (in->op->as != AS_MEMORY || in->is_store)
        return 0;
    for (unsigned k = 0; k < in->vector; k++) {
        const struct operand *part = d->kind == OPERAND_VECTOR ? &d->parts[k] : d;
        if (part->kind == OPERAND_DISCARD || (part->kind == OPERAND_REGISTER && !reads->whole[part->index]))
            unread |= element << k * in->bytes;
        else if (in->bytes == 8 && part->kind == OPERAND_REGISTER && !reads->high[part->index])
            unread |= 0xf0u << k * in->bytes;
    }
    return unread;
}

/* Loads and atomics of whose result something is not read, and whether blocks talk to each other in an order that shows. */
void find_communication(struct function *f)
{
    struct reads reads = {zeroed(f->reg_count, sizeof(uint32_t)), zeroed(f->reg_count, sizeof(uint32_t))};

    count_reads(f, &reads);
    for (uint32_t pc = 0; pc < f->count; pc++) {
        struct inst *in = &f->code[pc];
        bool beyond_block = in->space != SPACE_SHARED && in->space != SPACE_LOCAL;
        in->unread = unread_bytes(in, &reads);
        if (in->op->as == AS_ATOMIC) {
            const struct operand *d = &in->operands[0];
            bool returns = in->op->signature[0] == 'd' || in->op->signature[0] == 'V';
            in->result_unused = !returns || d->kind == OPERAND_DISCARD || (d->kind == OPERAND_REGISTER && !reads.whole[d->index]);
            f->communicates |= beyond_block && (!in->result_unused || order_shows(in));
        }
        f->communicates |=
            in->op->as == AS_MEMORY && beyond_block && (in->is_volatile || in->is_relaxed || in->is_acquire || in->is_release);
        f->communicates |= in->op == &ops[OP_membar] || in->op == &ops[OP_fence];
        f->communicates |= in->call && in->call->builtin && builtin_communicates(in->call->builtin);
    }
    free(reads.whole);
    free(reads.high);
}
