/* Control flow of a decoded function: basic blocks, immediate post-dominators, and what the executor needs from them: where the
 * lanes of a branch meet (reconv_pc), runs of lane instructions, loops that poll memory. */
#include "cfg.h"
#include "device.h"
#include "ops.h"
#include <stdlib.h>
#include <string.h>

static bool is_exit(const struct inst *in)
{
    return in->op == &ops[OP_ret] || in->op == &ops[OP_exit_] || in->op == &ops[OP_trap] || in->op == &ops[OP_brkpt];
}

static bool ends_block(const struct inst *in)
{
    return in->target != NO_PC || in->targets || is_exit(in);
}

void *zeroed(size_t count, size_t bytes)
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

static bool ends_run(const struct graph *g, uint32_t pc)
{
    return pc + 1 == g->f->count || g->block_of[pc + 1] != g->block_of[pc] || g->f->code[pc + 1].step != STEP_LANES;
}

/* Of all the live threads of the block, and always the same. */
static bool is_plain_barrier(const struct inst *in)
{
    return in->op->warp == warp_barrier && in->operand_count == 1 && in->operands[0].kind == OPERAND_IMMEDIATE &&
           (uint64_t)in->operands[0].value < DEVICE_BLOCK_BARRIERS && !is_guarded(in);
}

static void mark_steps(struct graph *g)
{
    for (uint32_t pc = 0; pc < g->f->count; pc++) {
        struct inst *in = &g->f->code[pc];
        in->number = pc;
        in->step = in->full                              ? is_guarded(in) ? STEP_GUARDED : STEP_LANES
                   : is_plain_barrier(in)                ? STEP_BARRIER
                   : in->op != &ops[OP_bra] || in->spins ? STEP_WARP
                   : in->target <= pc                    ? STEP_LOOP
                                                         : STEP_BRANCH;
        if (in->step == STEP_BARRIER)
            in->barrier = (uint8_t)in->operands[0].value;
    }
}

static void unmasked(char *regs, const struct inst *in, const struct lanes *lanes)
{
    (void)lanes;
    in->full(regs, in);
}

/* What runs of each run: all but what is constant; and whether any of it needs to know which lanes run. */
static void chain_runs(struct graph *g)
{
    for (uint32_t pc = g->f->count; pc-- > 0;) {
        struct inst *in = &g->f->code[pc];
        bool last = ends_run(g, pc);
        in->then = in->target == NO_PC ? in + 1 : &g->f->code[in->target];
        in->next = in->step != STEP_LANES || last ? in + 1 : in[1].first;
        in->first = in->step == STEP_LANES && in->is_constant ? in->next : in;
        if (in->step == STEP_LANES) {
            in->run = last ? 1 : in[1].run + 1;
            in->then = last ? in + 1 : in[1].then;
            in->for_all = (in->is_local || in->is_constant) && (last || in[1].for_all);
            in->masked = in->is_local ? unmasked : in->masked;
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
    mark_steps(&graph);
    find_live_in(&graph);
    find_constants(f);
    find_locals(&graph);
    find_communication(f);
    chain_runs(&graph);
    free(graph.blocks);
    free(graph.block_of);
    free(graph.edges);
    free(graph.first_before);
    free(graph.before);
}
