/* Control flow of a decoded function: basic blocks, immediate post-dominators, and what the executor needs from them: where the
 * lanes of a branch meet (reconv_pc), runs of lane instructions, loops that poll memory, and rows that must start cleared. */
#include "ops.h"
#include "ptx.h"
#include <stdlib.h>
#include <string.h>

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

static bool is_exit(const struct inst *in)
{
    return in->op == &ops[OP_ret] || in->op == &ops[OP_exit_] || in->op == &ops[OP_trap] || in->op == &ops[OP_brkpt];
}

static bool is_guarded(const struct inst *in)
{
    return in->guard != 0 || in->guard_flip != 0;
}

static bool ends_block(const struct inst *in)
{
    return in->target != NO_PC || in->targets || is_exit(in);
}

static void *zeroed(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);

    if (!memory)
        abort();
    return memory;
}

static void add_next(struct block_node *block, uint32_t next)
{
    block->next[block->next_count++] = next;
}

static void find_blocks(struct graph *g)
{
    struct function *f = g->f;
    bool *leads = zeroed(f->count, sizeof *leads);
    uint32_t edge_count = 0, *at;

    leads[0] = true;
    for (uint32_t pc = 0; pc < f->count; pc++) {
        if (f->code[pc].target != NO_PC)
            leads[f->code[pc].target] = true;
        for (uint32_t k = 0; f->code[pc].targets && k < f->code[pc].targets->count; k++)
            leads[f->code[pc].targets->pcs[k]] = true;
        if (ends_block(&f->code[pc]))
            leads[pc + 1] = true;
    }
    g->block_of = zeroed(f->count, sizeof *g->block_of);
    for (uint32_t pc = 0; pc < f->count; pc++)
        g->count += leads[pc];
    g->blocks = zeroed(g->count + 1, sizeof *g->blocks);
    for (uint32_t pc = 0, b = UINT32_MAX; pc < f->count; pc++) {
        if (leads[pc])
            g->blocks[++b].first = pc;
        g->blocks[b].end = pc + 1;
        g->block_of[pc] = b;
    }
    for (uint32_t pc = 0; pc < f->count; pc++)
        edge_count += 2 * leads[pc] + (f->code[pc].targets ? f->code[pc].targets->count : 0);
    at = g->edges = zeroed(edge_count, sizeof *g->edges);
    for (uint32_t b = 0; b < g->count; b++) {
        const struct inst *last = &f->code[g->blocks[b].end - 1];
        g->blocks[b].next = at;
        if (last->target != NO_PC)
            add_next(&g->blocks[b], g->block_of[last->target]);
        for (uint32_t k = 0; last->targets && k < last->targets->count; k++)
            add_next(&g->blocks[b], g->block_of[last->targets->pcs[k]]);
        if (is_exit(last))
            add_next(&g->blocks[b], g->count);
        if (!ends_block(last) || is_guarded(last))
            add_next(&g->blocks[b], g->blocks[b].end < f->count ? b + 1 : g->count);
        at += g->blocks[b].next_count;
    }
    free(leads);
}

static void reverse_edges(struct graph *g)
{
    uint32_t total = g->count + 1, *first = zeroed(total + 1, sizeof *first), *at = zeroed(total, sizeof *at);

    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t k = 0; k < g->blocks[b].next_count; k++)
            first[g->blocks[b].next[k] + 1]++;
    for (uint32_t b = 0; b < total; b++)
        first[b + 1] += first[b];
    g->first_before = first;
    g->before = zeroed(first[total], sizeof *g->before);
    memcpy(at, first, total * sizeof *at);
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t k = 0; k < g->blocks[b].next_count; k++)
            g->before[at[g->blocks[b].next[k]]++] = b;
    free(at);
}

/* Post-order of the reversed graph, without recursion; a block that cannot reach the exit (an endless loop) keeps order 0. */
static uint32_t *order_from_exit(struct graph *g)
{
    uint32_t total = g->count + 1, used = 0, depth = 0, number = 0;
    uint32_t *stack = zeroed(total, sizeof *stack), *at = zeroed(total, sizeof *at), *sequence = zeroed(total, sizeof *sequence);
    bool *seen = zeroed(total, sizeof *seen);

    memcpy(at, g->first_before, total * sizeof *at);
    stack[depth++] = g->count;
    seen[g->count] = true;
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (at[b] < g->first_before[b + 1]) {
            uint32_t from = g->before[at[b]++];
            if (!seen[from]) {
                seen[from] = true;
                stack[depth++] = from;
            }
        } else {
            g->blocks[b].order = ++number;
            sequence[used++] = b;
            depth--;
        }
    }
    free(stack);
    free(at);
    free(seen);
    return sequence; /* `used` entries, the exit last */
}

static uint32_t meet(const struct graph *g, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (g->blocks[a].order < g->blocks[b].order)
            a = g->blocks[a].ipdom;
        while (g->blocks[b].order < g->blocks[a].order)
            b = g->blocks[b].ipdom;
    }
    return a;
}

/* Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the reversed graph. */
static void find_ipdoms(struct graph *g)
{
    uint32_t *sequence = order_from_exit(g), reached = g->blocks[g->count].order;
    bool changed = true;

    for (uint32_t b = 0; b <= g->count; b++)
        g->blocks[b].ipdom = NO_PC;
    g->blocks[g->count].ipdom = g->count;
    while (changed) {
        changed = false;
        for (uint32_t i = reached - 1; i-- > 0;) {
            struct block_node *block = &g->blocks[sequence[i]];
            uint32_t best = NO_PC;
            for (uint32_t k = 0; k < block->next_count; k++) {
                uint32_t next = block->next[k];
                if (g->blocks[next].order && g->blocks[next].ipdom != NO_PC)
                    best = best == NO_PC ? next : meet(g, best, next);
            }
            changed |= best != block->ipdom;
            block->ipdom = best;
        }
    }
    free(sequence);
}

static void mark_joins(struct graph *g)
{
    struct function *f = g->f;

    for (uint32_t pc = 0; pc + 1 < f->count; pc++)
        if (f->code[pc].call && !f->code[pc].call->builtin)
            f->code[pc + 1].joins = true; /* lanes that called wait here for each other */
    for (uint32_t b = 0; b < g->count; b++) {
        struct inst *last = &f->code[g->blocks[b].end - 1];
        uint32_t ipdom = g->blocks[b].ipdom;
        bool parts = last->targets || (last->target != NO_PC && is_guarded(last));
        if (!parts || ipdom == NO_PC || ipdom == g->count)
            continue;
        last->reconv_pc = g->blocks[ipdom].first;
        f->code[last->reconv_pc].joins = true;
    }
}

static enum polling polling_of(const struct inst *in)
{
    if ((in->op->as == AS_MEMORY && (in->is_volatile || in->is_relaxed || in->is_acquire)) ||
        (in->op->as == AS_ATOMIC && (in->op->signature[0] == 'd' || in->op->signature[0] == 'V')))
        return POLLS_MEMORY;
    if (in->op == &ops[OP_nanosleep] || (in->op->as == AS_MBARRIER && in->op->signature[0] == 't'))
        return POLLS_BARRIER;
    return in->call && in->call->target ? in->call->target->polls : POLLS_NOT;
}

enum polling function_polls(const struct function *f)
{
    enum polling most = POLLS_NOT;

    for (uint32_t pc = 0; pc < f->count; pc++)
        if (polling_of(&f->code[pc]) > most)
            most = polling_of(&f->code[pc]);
    return most;
}

static void mark_polling_loops(struct function *f)
{
    uint32_t *last[POLLS_MEMORY + 1]; /* by kind: one more than the pc of the last instruction before each pc that polls so */

    for (int kind = POLLS_BARRIER; kind <= POLLS_MEMORY; kind++) {
        last[kind] = zeroed(f->count + 1, sizeof *last[kind]);
        for (uint32_t pc = 0; pc < f->count; pc++)
            last[kind][pc + 1] = (int)polling_of(&f->code[pc]) == kind ? pc + 1 : last[kind][pc];
    }
    for (uint32_t pc = 0; pc < f->count; pc++) {
        uint32_t target = f->code[pc].target;
        for (int kind = POLLS_BARRIER; kind <= POLLS_MEMORY && target != NO_PC && target <= pc; kind++)
            if (last[kind][pc + 1] > target)
                f->code[pc].spins = (uint8_t)kind;
    }
    free(last[POLLS_BARRIER]);
    free(last[POLLS_MEMORY]);
}

static void find_runs(struct graph *g)
{
    struct function *f = g->f;

    for (uint32_t pc = f->count; pc-- > 0;) {
        struct inst *in = &f->code[pc];
        bool last = pc + 1 == f->count || g->block_of[pc + 1] != g->block_of[pc];
        in->number = pc;
        in->then = in->target == NO_PC ? NULL : &f->code[in->target];
        in->step = in->full ? STEP_GUARDED : in->op == &ops[OP_bra] && !in->spins ? STEP_BRANCH : STEP_WARP;
        if (!in->full || is_guarded(in))
            continue;
        in->step = STEP_LANES;
        in->run = 1 + (last ? 0 : f->code[pc + 1].run);
        in->then = in + in->run;
    }
}

/* Liveness, for registers the entry may read before they are written. */

typedef void register_visit(void *context, uint32_t reg);

static void visit_operand(const struct operand *o, register_visit *visit, void *context)
{
    if (o->kind == OPERAND_REGISTER || (o->kind == OPERAND_ADDRESS && o->has_base))
        visit(context, o->index);
    for (unsigned k = 0; o->kind == OPERAND_VECTOR && k < o->part_count; k++)
        visit_operand(&o->parts[k], visit, context);
}

/* How many of the first operands are written. */
static int destinations(const struct inst *in)
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

static void find_live_in(struct graph *g)
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

static void count_read(void *context, uint32_t reg)
{
    ((uint32_t *)context)[reg]++;
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

/* Atomics whose old value nobody reads, and whether blocks talk to each other in an order that shows. */
static void find_communication(struct function *f)
{
    uint32_t *reads = zeroed(f->reg_count, sizeof *reads);

    for (uint32_t pc = 0; pc < f->count; pc++)
        visit_sources(&f->code[pc], count_read, reads);
    for (uint32_t pc = 0; pc < f->count; pc++) {
        struct inst *in = &f->code[pc];
        bool beyond_block = in->space != SPACE_SHARED && in->space != SPACE_LOCAL;
        if (in->op->as == AS_ATOMIC) {
            const struct operand *d = &in->operands[0];
            bool returns = in->op->signature[0] == 'd' || in->op->signature[0] == 'V';
            in->result_unused = !returns || d->kind == OPERAND_DISCARD || (d->kind == OPERAND_REGISTER && !reads[d->index]);
            f->communicates |= beyond_block && (!in->result_unused || order_shows(in));
        }
        f->communicates |=
            in->op->as == AS_MEMORY && beyond_block && (in->is_volatile || in->is_relaxed || in->is_acquire || in->is_release);
        f->communicates |= in->op == &ops[OP_membar] || in->op == &ops[OP_fence];
        f->communicates |= in->call && in->call->builtin && builtin_communicates(in->call->builtin);
    }
    free(reads);
}

/* Does what stands in register `from` reach register `to`, as it is? */
static bool carried(const struct function *f, uint32_t from, uint32_t to)
{
    for (uint32_t pc = 0; pc < f->count; pc++) {
        const struct inst *in = &f->code[pc];
        const struct operand *o = in->operands;
        if (in->op == &ops[OP_mov] && o[0].kind == OPERAND_REGISTER && o[0].index == to && o[1].kind == OPERAND_REGISTER &&
            o[1].index == from)
            return true;
    }
    return from == to;
}

/* The first read of a compare-and-swap loop, the Programming Guide's way to make an atomic of anything. A value that another thread
 * replaces meanwhile costs it one more round and nothing else: the atomic looks again. So it does not race with atomics. */
static void find_first_reads(struct function *f)
{
    for (uint32_t cas = 0; cas < f->count; cas++) {
        const struct inst *swap = &f->code[cas];
        if (swap->op != &ops[OP_atom_cas] || swap->operands[2].kind != OPERAND_REGISTER)
            continue;
        for (uint32_t pc = 0; pc < f->count; pc++) {
            struct inst *in = &f->code[pc];
            if (in->op == &ops[OP_ld] && in->access_bytes == swap->access_bytes && in->operands[0].kind == OPERAND_REGISTER)
                in->feeds_cas |= carried(f, in->operands[0].index, swap->operands[2].index);
        }
    }
}

void cfg_complete(struct function *f)
{
    struct graph graph = {.f = f};

    find_blocks(&graph);
    reverse_edges(&graph);
    find_ipdoms(&graph);
    mark_joins(&graph);
    mark_polling_loops(f);
    find_runs(&graph);
    find_live_in(&graph);
    find_communication(f);
    find_first_reads(f);
    free(graph.blocks);
    free(graph.block_of);
    free(graph.edges);
    free(graph.first_before);
    free(graph.before);
}
