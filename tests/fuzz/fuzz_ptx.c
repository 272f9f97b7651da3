/* Fuzzes everything between PTX text and code that can run: lexer, parser, decoder, control flow, linking. What is decoded has to
 * keep the promises of ptx.h that the executor relies on without looking: each place inside the code and the register file. */
#include "../../common/emulator/module.h"
#include "../../common/emulator/ops.h"
#include "../../common/emulator/ptx.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KERNELS = 8 }; /* each kernel is decoded with all it calls: many would say no more and take long */

#define HOLDS(condition)                                                                                                           \
    do {                                                                                                                           \
        if (!(condition)) {                                                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                                \
            abort();                                                                                                               \
        }                                                                                                                          \
    } while (0)

static void check_report(const char *report)
{
    HOLDS(report && !strncmp(report, "fuzz.ptx:", 9) && strstr(report, ": error: ") && report[strlen(report) - 1] == '\n');
}

static void check_pc(const struct function *kernel, uint32_t pc)
{
    HOLDS(pc == NO_PC || pc < kernel->count);
}

static void check_passed(const struct function *f, const struct passed *list, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        HOLDS(list[k].in_row ? list[k].at + 32u * list[k].lane_bytes <= f->frame_bytes && list[k].bytes <= list[k].lane_bytes
                             : !list[k].bytes || (uint64_t)list[k].at + list[k].bytes <= f->stack_bytes);
}

/* The widest row an instruction may touch at each of its slots. */
static unsigned row_bytes(const struct inst *in, int k)
{
    unsigned bytes = 4;

    if (in->variant && k < VARIANT_OPERANDS && in->variant->operands[k] != T_none)
        bytes = 32 * type_lane_bytes(in->variant->operands[k]);
    return bytes > 4 ? bytes : 4;
}

static void check_address(const struct function *f, const struct address *a)
{
    HOLDS(a->slot + (a->has_base ? 32u * (a->wide_base ? 8 : 4) : 0) <= f->frame_bytes);
}

/* Operands of 128 bits have two rows; vectors of an atomic and further addresses stand beside the instruction. */
static void check_further_operands(const struct function *f, const struct inst *in)
{
    bool is_whole = in->op == &ops[OP_mov_wide] || in->op == &ops[OP_atom_exch_w] || in->op == &ops[OP_atom_cas_w];
    bool is_split = (in->op == &ops[OP_mov_pack] || in->op == &ops[OP_mov_unpack]) && in->type2 == T_b128;
    bool has_parts = strchr(in->op->signature, 'U');

    for (int k = 0; is_whole && k < 4; k++) /* 4 is an address */
        HOLDS(in->slot[k] + 2u * WIDE_HALF <= f->frame_bytes);
    HOLDS(!is_split || in->slot[4] + 2u * WIDE_HALF <= f->frame_bytes);
    HOLDS(!has_parts || (in->parts && in->vector <= MOST_PARTS && in->bytes <= 4));
    for (int k = 0; has_parts && k < in->vector; k++)
        HOLDS(in->parts->given[k] + 128 <= f->frame_bytes && in->parts->taken[k] + 128 <= f->frame_bytes);
    if (strchr(in->op->signature, 'B'))
        check_address(f, &in->source[0]);
    if (strchr(in->op->signature, 'M'))
        check_address(f, &in->source[1]);
}

static void check_instruction(const struct function *kernel, const struct function *f, const struct inst *in)
{
    HOLDS(in->op && (in->full || in->warp) && in->guard + 4 <= f->frame_bytes);
    check_pc(kernel, in->target);
    check_pc(kernel, in->reconv_pc);
    for (uint32_t k = 0; in->targets && k < in->targets->count; k++)
        HOLDS(in->targets->pcs[k] < kernel->count);
    for (int k = 0; k < 6; k++)
        HOLDS(in->slot[k] + row_bytes(in, k) <= f->frame_bytes);
    for (int k = 0; k < in->vector && in->op->as == AS_MEMORY; k++)
        HOLDS(in->slot[k] + 32u * in->element_lane_bytes <= f->frame_bytes);
    check_further_operands(f, in);
    if (in->call) {
        check_passed(f, in->call->arguments, in->call->argument_count);
        check_passed(f, in->call->returns, in->call->return_count);
    }
}

static void check_part(const struct function *kernel, const struct function *f)
{
    for (size_t i = 0; i < f->preset_count; i++) {
        const struct preset *p = &f->presets[i];
        HOLDS(p->slot + 32u * type_lane_bytes(p->type) <= f->frame_bytes);
        HOLDS(p->kind != PRESET_PARAMETER || (f == kernel && p->value + type_bytes[p->type] <= f->parameter_bytes));
        HOLDS(p->kind != PRESET_SPECIAL || p->value < SPECIAL_COUNT);
    }
    for (size_t i = 0; i < f->live_in_count; i++)
        HOLDS(f->live_in[i] < f->reg_count);
    for (uint32_t pc = 0; pc < f->count && f != kernel; pc++)
        check_instruction(kernel, f, &f->code[pc]);
    for (uint32_t pc = 0; pc < (kernel->part_count > 1 ? kernel->parts[1]->entry : kernel->count) && f == kernel; pc++)
        check_instruction(kernel, f, &f->code[pc]);
}

static void check_kernel(const struct function *kernel)
{
    struct function_facts facts;
    size_t bytes = 0;

    function_facts(kernel, &facts);
    for (size_t i = 0; i < kernel->parameter_count; i++) /* pack_parameters copies without a look */
        bytes += facts.parameter_bytes[i];
    HOLDS(bytes <= kernel->parameter_bytes);
    if (kernel->error) {
        check_report(kernel->error);
        return;
    }
    for (uint32_t p = 0; p < kernel->part_count; p++)
        check_part(kernel, kernel->parts[p]);
    HOLDS(stack_needed(kernel) >= kernel->stack_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *report = NULL;
    struct module *module = module_load((const char *)data, bytes, "fuzz.ptx", &report);
    const struct function *kernel;

    if (!module) {
        check_report(report);
        free(report);
        return 0;
    }
    for (size_t i = 0; i < MOST_KERNELS && (kernel = module_kernel_at(module, i)); i++)
        check_kernel(kernel);
    module_unload(module);
    return 0;
}
