/* A kernel's program: its own code, then that of every function it can reach, decoded anew for it, so that shared variables have
 * the kernel's offsets, every pc is one number in the kernel's program, and counts and places need know nothing of calls.
 * A call through a pointer may reach any function of the module whose address is taken. */
#include "cfg.h"
#include "device.h"
#include "ops.h"
#include "ptx.h"
#include "settings.h"
#include <stdlib.h>
#include <string.h>

enum {
    MOST_LOCAL = 512 * 1024, /* a GPU's most local memory a thread */
    MOST_PARAMETERS = 32764, /* what ptxas allows a kernel */
    MOST_CALL_DEPTH = 1000
}; /* deeper chains of calls count as recursion */

static void *copied(struct arena *arena, const void *from, size_t bytes)
{
    void *copy = arena_take(arena, bytes + 1);

    if (bytes)
        memcpy(copy, from, bytes);
    return copy;
}

/* A function to decode for this kernel; the parser's own stays as it is, for other kernels. */
static void add_part(struct function *kernel, const struct function *f)
{
    struct arena *arena = kernel->module->arena;
    struct function *part;

    if (!f->has_body || kernel->part_of[f->index])
        return;
    part = copied(arena, f, sizeof *f);
    part->code = copied(arena, f->code, f->count * sizeof *f->code);
    part->regs = copied(arena, f->regs, f->reg_count * sizeof *f->regs);
    part->kernel = kernel;
    part->part = kernel->part_count;
    kernel->part_of[f->index] = part;
    kernel->parts[kernel->part_count++] = part;
}

static bool is_call(const struct inst *in)
{
    return !strncmp(in->opcode, "call", 4) && (in->opcode[4] == '.' || in->opcode[4] == '\0');
}

static const struct operand *called(const struct inst *in)
{
    unsigned k = in->operand_count && in->operands[0].kind == OPERAND_VECTOR;

    return k < in->operand_count ? &in->operands[k] : NULL;
}

static void add_called(struct function *kernel, const struct inst *in)
{
    const struct module *m = kernel->module;
    const struct operand *whom = called(in);

    if (whom && whom->kind == OPERAND_FUNCTION && !whom->function->is_kernel)
        add_part(kernel, whom->function);
    for (size_t i = 0; whom && whom->kind == OPERAND_REGISTER && i < m->function_count; i++)
        if (m->functions[i]->address_taken && !m->functions[i]->is_kernel)
            add_part(kernel, m->functions[i]);
}

static void find_parts(struct function *kernel)
{
    struct arena *arena = kernel->module->arena;

    kernel->parts = arena_take(arena, (kernel->module->function_count + 1) * sizeof *kernel->parts);
    kernel->part_of = arena_take(arena, (kernel->module->function_count + 1) * sizeof *kernel->part_of);
    kernel->parts[kernel->part_count++] = kernel;
    for (uint32_t p = 0; p < kernel->part_count; p++)
        for (uint32_t pc = 0; pc < kernel->parts[p]->count; pc++)
            if (is_call(&kernel->parts[p]->code[pc]))
                add_called(kernel, &kernel->parts[p]->code[pc]);
}

static size_t deepest(struct function *f, size_t *known, bool *open, int depth);

static bool fits(const struct function *f, const struct call *call)
{
    return f->address_taken && f->parameter_count == call->argument_count && f->return_count == call->return_count;
}

static size_t deepest_called(struct function *kernel, const struct call *call, size_t *known, bool *open, int depth)
{
    size_t most = 0;

    for (uint32_t p = 1; p < kernel->part_count && most != SIZE_MAX; p++)
        if (call->indirect ? fits(kernel->parts[p], call) : call->target == kernel->parts[p]) {
            size_t below = deepest(kernel->parts[p], known, open, depth);
            most = below > most ? below : most;
        }
    return most;
}

/* The deepest stack from `f` on, walking calls; SIZE_MAX if they go round. */
static size_t deepest(struct function *f, size_t *known, bool *open, int depth)
{
    size_t most = 0;

    if (open[f->part] || depth > MOST_CALL_DEPTH)
        return SIZE_MAX;
    if (known[f->part])
        return known[f->part];
    open[f->part] = true;
    for (uint32_t pc = 0; pc < f->count && most != SIZE_MAX; pc++)
        if (f->code[pc].call) {
            size_t below = deepest_called(f->kernel, f->code[pc].call, known, open, depth + 1);
            most = below > most ? below : most;
        }
    open[f->part] = false;
    if (most != SIZE_MAX)
        most += f->stack_bytes + f->stack_align + 16;
    return known[f->part] = most;
}

/* alloca takes what the program says, so its kernel's stack has to be as large as a recursive one's. */
static bool has_alloca(const struct function *kernel)
{
    for (uint32_t p = 0; p < kernel->part_count; p++)
        for (uint32_t pc = 0; pc < kernel->parts[p]->count; pc++)
            if (kernel->parts[p]->code[pc].op == &ops[OP_alloca_])
                return true;
    return false;
}

static void find_stack(struct function *kernel)
{
    size_t *known = calloc(kernel->part_count, sizeof *known), bytes = kernel->stack_bytes;
    bool *open = calloc(kernel->part_count, sizeof *open);

    if (!known || !open)
        abort();
    if (kernel->part_count > 1)
        bytes = deepest(kernel, known, open, 0);
    free(known);
    free(open);
    kernel->deep = bytes == SIZE_MAX;
    kernel->dynamic_stack = has_alloca(kernel);
    kernel->stack_limit = bytes;
    for (uint32_t p = 0; p < kernel->part_count && kernel->deep; p++) {
        size_t one = kernel->parts[p]->stack_bytes + kernel->parts[p]->stack_align + 16;
        kernel->stack_limit = p == 0 || one > kernel->stack_limit ? one : kernel->stack_limit;
    }
}

/* PTX shows more of an activation than a GPU needs, so a recursive kernel gets room for as many as the limit could hold there. */
size_t stack_needed(const struct function *kernel)
{
    size_t activations = kernel->deep ? device_limits.stack / 16 + 2 : 1;

    return kernel->stack_limit * activations + (kernel->dynamic_stack ? MOST_LOCAL : 0);
}

static void find_polling(struct function *kernel)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t p = 0; p < kernel->part_count; p++) {
            enum polling polls = function_polls(kernel->parts[p]);
            changed |= polls != kernel->parts[p]->polls;
            kernel->parts[p]->polls = polls;
        }
    }
}

/* All code in one array: pcs move by where their part begins. */
static void append_parts(struct function *kernel)
{
    uint32_t total = 0;
    struct inst *code;

    for (uint32_t p = 0; p < kernel->part_count; p++)
        total += kernel->parts[p]->count;
    code = arena_take(kernel->module->arena, total * sizeof *code);
    total = 0;
    for (uint32_t p = 0; p < kernel->part_count; p++) {
        struct function *f = kernel->parts[p];
        f->entry = total;
        memcpy(code + total, f->code, f->count * sizeof *code);
        for (uint32_t pc = total; pc < total + f->count; pc++) {
            code[pc].number = pc;
            code[pc].then = code + total + (code[pc].then - f->code);
            code[pc].next = code + total + (code[pc].next - f->code);
            code[pc].first = code + total + (code[pc].first - f->code);
            code[pc].target += code[pc].target == NO_PC ? 0 : total;
            code[pc].reconv_pc += code[pc].reconv_pc == NO_PC ? 0 : total;
            for (uint32_t k = 0; code[pc].targets && k < code[pc].targets->count; k++)
                code[pc].targets->pcs[k] += total;
        }
        f->code = code + total;
        total += f->count;
        kernel->communicates |= f->communicates;
        kernel->uses_float_atomics |= f->uses_float_atomics;
    }
    kernel->count = total;
}

/* What a GPU has no room for. False with a report. */
static bool check_sizes(struct function *kernel)
{
    const char *what = NULL;
    size_t bytes = 0, most = 0;

    for (uint32_t p = 0; p < kernel->part_count && !what; p++)
        if ((bytes = kernel->parts[p]->stack_bytes) > (most = MOST_LOCAL))
            what = "local variables and arguments";
    if (!what && (bytes = kernel->static_shared) > (most = DEVICE_SHARED_DEFAULT))
        what = "shared variables";
    if (!what && (bytes = kernel->parameter_bytes) > (most = MOST_PARAMETERS))
        what = "parameters";
    if (what)
        kernel->error = ptx_report(kernel->module, kernel->line, 1, "'%s' has %zu bytes of %s, and a GPU has room for %zu",
                                   kernel->name, bytes, what, most);
    return !what;
}

void link_kernel(struct function *kernel)
{
    kernel->kernel = kernel;
    find_parts(kernel);
    place_shared(kernel);
    if (!check_sizes(kernel))
        return;
    for (uint32_t p = 0; p < kernel->part_count; p++)
        if (!decode_function(kernel->parts[p], &kernel->error))
            return;
    find_polling(kernel);
    for (uint32_t p = 0; p < kernel->part_count; p++)
        cfg_complete(kernel->parts[p]);
    find_stack(kernel);
    if (settings()->checks & CHECK_RACE)
        find_first_reads(kernel);
    if (kernel->part_count > 1)
        append_parts(kernel);
}

const struct function *function_at(const struct function *kernel, uint32_t pc)
{
    uint32_t p = kernel->part_count;

    while (p > 1 && kernel->parts[p - 1]->entry > pc)
        p--;
    return kernel->parts[p ? p - 1 : 0];
}
