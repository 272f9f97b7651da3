/* Runs tests of single instructions, three lines each:
 *
 *     shl.b32 d, a, b
 *     a=0x00000001 b=0x00000021
 *     d=0x00000000
 *
 * The digits say how wide a register is: 0x and 2, 4, 8 or 16 of them, or 32 for memory; 0 or 1 alone is a predicate. A name that
 * stands in brackets ([m]) is memory of the lane's own: its value before, and after. An expected value may be a range of floats
 * (0x3f7ffffe..0x3f800001), nan16, nanb16 (of bf16), nan32, nan64 (any NaN) or ?32 (any 32 bits). A value may be a list of 32 with commas, one a lane of a
 * whole warp: then lanes may read each other. Cases with the same first line become the lanes of one kernel, and all kernels one
 * module or a few. Each instruction runs three times: by all lanes, and guarded by the even and by the odd ones, where the
 * others must keep what they had.
 *
 *     ops_run FILE          prints "LINE ok" or "LINE what is wrong" for every case; exit status 1 if any is wrong
 *     ops_run --ptx FILE    prints the PTX instead
 *     ops_run --record FILE prints the file anew as the device says it: where a result is not the expected one, the device's bits
 *                           stand in its place; comments name the instructions that the device does not take, and those that go
 *                           wrong only under a guard. Exit status 0 */
#include "device.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>

enum { MOST_NAMES = 18, CELL = 16, WARP = 32, MODULE_KERNELS = 64 };
#define POISON 0x5a

struct value {
    unsigned digits; /* 0: a predicate */
    uint64_t low, high, top; /* of a range: low to top; high: of 128 bits */
    uint64_t nan; /* not 0: any NaN, which are the numbers above this, the sign aside */
    bool range, any;
};
struct operand {
    char name[16];
    unsigned digits;
    bool memory;
};
struct test {
    unsigned line;
    unsigned lanes; /* 1 or 32 */
    const char *inputs, *outputs; /* as written */
    struct value *in[MOST_NAMES], *out[MOST_NAMES];
    bool differs; /* with all lanes running */
    char wrong[256];
};
struct instruction {
    char *text;
    struct operand in[MOST_NAMES], out[MOST_NAMES];
    unsigned in_count, out_count;
    struct test *tests;
    size_t count, room;
    bool whole_warps, refused;
    bool guarded; /* can also run under a guard: one instruction, and lanes that read only themselves */
    size_t threads, in_at, out_at; /* the launch, and where its cells begin */
    cudaKernel_t full, masked;
};
static struct instruction *instructions;
static size_t instruction_count;
static unsigned line_number;

static void stop(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "line %u: ", line_number);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(2);
}

/* ---- reading ---- */

static struct value parse_value(const char **text)
{
    struct value v = {0};
    const char *at = *text;

    if (*at == '?') {
        v.any = true;
        v.digits = (unsigned)strtoul(at + 1, (char **)&at, 10) / 4;
    } else if (!strncmp(at, "nan16", 5) || !strncmp(at, "nanb16", 6) || !strncmp(at, "nan32", 5) || !strncmp(at, "nan64", 5)) {
        v.nan = at[3] == 'b' ? 0x7f80 : at[3] == '1' ? 0x7c00 : at[3] == '3' ? 0x7f800000 : 0x7ff0000000000000;
        v.digits = (unsigned)strtoul(at + 3 + (at[3] == 'b'), (char **)&at, 10) / 4;
    } else if (at[0] == '0' && at[1] == 'x') {
        for (at += 2; isxdigit((unsigned char)*at); at++, v.digits++) {
            v.high = v.high << 4 | v.low >> 60;
            v.low = v.low << 4 | (uint64_t)(isdigit((unsigned char)*at) ? *at - '0' : (*at | 32) - 'a' + 10);
        }
        if (v.digits != 2 && v.digits != 4 && v.digits != 8 && v.digits != 16 && v.digits != 32)
            stop("a value has 2, 4, 8, 16 or 32 digits: %s", *text);
        if (at[0] == '.' && at[1] == '.') {
            v.range = true;
            v.top = strtoull(at + 2, (char **)&at, 16);
        }
    } else if ((*at == '0' || *at == '1') && !isalnum((unsigned char)at[1])) {
        v.low = (uint64_t)(*at++ - '0');
    } else {
        stop("not a value: %s", at);
    }
    *text = at;
    return v;
}

static struct operand *operand_named(struct instruction *in, bool output, const char *name, size_t length, unsigned *place)
{
    struct operand *list = output ? in->out : in->in;
    unsigned *count = output ? &in->out_count : &in->in_count;
    char bracket[20];

    for (*place = 0; *place < *count; ++*place)
        if (strlen(list[*place].name) == length && !memcmp(list[*place].name, name, length))
            return &list[*place];
    if (*count == MOST_NAMES || length >= sizeof list->name)
        stop("too many operands, or too long a name");
    memcpy(list[*count].name, name, length);
    snprintf(bracket, sizeof bracket, "[%.*s", (int)length, name);
    list[*count].memory = strstr(in->text, bracket) != NULL;
    return &list[(*count)++];
}

static void parse_values(struct instruction *in, struct test *test, bool output, const char *text)
{
    struct value **values = output ? test->out : test->in;

    for (;;) {
        const char *equal = strchr(text, '=');
        unsigned place, lanes = 0;
        struct operand *operand;
        if (!equal)
            return;
        operand = operand_named(in, output, text, (size_t)(equal - text), &place);
        values[place] = calloc(WARP, sizeof **values);
        text = equal + 1;
        do {
            struct value v = parse_value(&text);
            if (lanes == WARP)
                stop("more than 32 lanes");
            if (v.digits > operand->digits)
                operand->digits = v.digits;
            values[place][lanes++] = v;
        } while (*text == ',' && text++);
        if (lanes == 1 && test->lanes == WARP)
            while (lanes < WARP)
                values[place][lanes++] = values[place][0]; /* one value for all lanes */
        if (lanes != 1 && lanes != WARP)
            stop("a list has 32 values");
        if (lanes > test->lanes) {
            for (unsigned k = 0; k < MOST_NAMES; k++)
                for (unsigned i = 1; i < lanes; i++) {
                    if (test->in[k] && &test->in[k] != &values[place])
                        test->in[k][i] = test->in[k][0];
                    if (test->out[k] && &test->out[k] != &values[place])
                        test->out[k][i] = test->out[k][0];
                }
            test->lanes = lanes;
        }
        while (*text == ' ')
            text++;
    }
}

static struct instruction *instruction_of(const char *text)
{
    for (size_t i = instruction_count; i-- > 0;)
        if (!strcmp(instructions[i].text, text))
            return &instructions[i];
    if (instruction_count % 256 == 0)
        instructions = realloc(instructions, (instruction_count + 256) * sizeof *instructions);
    instructions[instruction_count] = (struct instruction){.text = strdup(text)};
    return &instructions[instruction_count++];
}

static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');

    line_number++;
    *at = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return line;
}

static void read_tests(char *text)
{
    while (*text) {
        char *line = next_line(&text);
        if (!*line || *line == '#')
            continue;
        struct instruction *in = instruction_of(line);
        if (in->count == in->room)
            in->tests = realloc(in->tests, (in->room = 2 * in->room + 8) * sizeof *in->tests);
        struct test *test = &in->tests[in->count++];
        *test = (struct test){.line = line_number};
        test->inputs = next_line(&text);
        parse_values(in, test, false, test->inputs);
        test->outputs = next_line(&text);
        parse_values(in, test, true, test->outputs);
        if (test->lanes == WARP)
            in->whole_warps = true;
        in->guarded = !in->whole_warps && !strchr(in->text, ';');
    }
}

/* ---- the kernels ---- */

static const char *register_type(unsigned digits)
{
    return digits == 16 ? "b64" : digits == 8 ? "b32" : digits == 0 ? "pred" : "b16";
}

static void write_load(FILE *out, const struct operand *o, unsigned cell)
{
    if (o->digits == 0)
        fprintf(out, "    ld.global.u32 %%word, [%%in+%u];\n    setp.ne.u32 %s, %%word, 0;\n", cell * CELL, o->name);
    else
        fprintf(out, "    ld.global.%s %s, [%%in+%u];\n", o->digits == 2 ? "u8" : register_type(o->digits), o->name, cell * CELL);
}

static void write_store(FILE *out, const struct operand *o, unsigned cell)
{
    if (o->digits == 0)
        fprintf(out, "    selp.u32 %%word, 1, 0, %s;\n    st.global.u32 [%%out+%u], %%word;\n", o->name, cell * CELL);
    else
        fprintf(out, "    st.global.%s [%%out+%u], %s;\n", o->digits == 2 ? "b8" : register_type(o->digits), cell * CELL, o->name);
}

/* What a destination holds where the instruction does not run: the poison, so a wrong write shows. */
static void write_poison(FILE *out, const struct operand *o)
{
    if (o->digits == 0)
        fprintf(out, "    setp.ne.u32 %s, %%phase, %%phase;\n", o->name);
    else
        fprintf(out, "    mov.%s %s, 0x%.*s;\n", register_type(o->digits), o->name, o->digits == 2 ? 4 : (int)o->digits,
                "5a5a5a5a5a5a5a5a");
}

static bool is_input(const struct instruction *in, const char *name)
{
    for (unsigned i = 0; i < in->in_count; i++)
        if (!strcmp(in->in[i].name, name))
            return true;
    return false;
}

static void write_kernel(FILE *out, const struct instruction *in, size_t number, bool masked)
{
    fprintf(out, ".visible .entry %s_%zu(.param .u64 inputs, .param .u64 outputs, .param .u32 phase)\n{\n", masked ? "masked" : "full",
            number);
    fprintf(out, "    .reg .b64 %%in, %%out, %%step;\n    .reg .b32 %%thread, %%word, %%phase;\n    .reg .pred %%chosen;\n");
    for (unsigned i = 0; i < in->in_count; i++)
        fprintf(out, "    .reg .%s %s;\n", in->in[i].memory ? "b64" : register_type(in->in[i].digits), in->in[i].name);
    for (unsigned i = 0; i < in->out_count; i++)
        if (!is_input(in, in->out[i].name))
            fprintf(out, "    .reg .%s %s;\n", in->out[i].memory ? "b64" : register_type(in->out[i].digits), in->out[i].name);
    fprintf(out,
            "    mov.u32 %%thread, %%ctaid.x;\n    mov.u32 %%word, %%tid.x;\n    mad.lo.u32 %%thread, %%thread, 32, %%word;\n"
            "    ld.param.u64 %%in, [inputs];\n    mul.wide.u32 %%step, %%thread, %u;\n    add.u64 %%in, %%in, %%step;\n"
            "    ld.param.u64 %%out, [outputs];\n    mul.wide.u32 %%step, %%thread, %u;\n    add.u64 %%out, %%out, %%step;\n"
            "    ld.param.u32 %%phase, [phase];\n",
            in->in_count * CELL, in->out_count * CELL);
    for (unsigned i = 0; i < in->in_count; i++)
        if (!in->in[i].memory)
            write_load(out, &in->in[i], i);
    for (unsigned i = 0; i < in->out_count; i++)
        if (in->out[i].memory)
            fprintf(out, "    add.u64 %s, %%out, %u;\n", in->out[i].name, i * CELL);
        else if (!is_input(in, in->out[i].name))
            write_poison(out, &in->out[i]);
    if (masked)
        fprintf(out, "    xor.b32 %%thread, %%thread, %%phase;\n    and.b32 %%thread, %%thread, 1;\n    setp.ne.u32 %%chosen, %%thread, 0;\n");
    fprintf(out, "    %s%s;\n", masked ? "@%chosen " : "", in->text);
    for (unsigned i = 0; i < in->out_count; i++)
        if (!in->out[i].memory)
            write_store(out, &in->out[i], i);
    fprintf(out, "    ret;\n}\n");
}

static char *module_text(size_t first, size_t count, int target)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fprintf(out, ".version 9.0\n.target sm_%d\n.address_size 64\n", target);
    for (size_t i = first; i < first + count; i++) {
        write_kernel(out, &instructions[i], i, false);
        if (instructions[i].guarded)
            write_kernel(out, &instructions[i], i, true);
    }
    fclose(out);
    return text;
}

/* False if the driver, which may compile only now, does not accept it. */
static bool find_kernels(cudaLibrary_t library, size_t number)
{
    struct instruction *in = &instructions[number];
    char name[40];

    snprintf(name, sizeof name, "full_%zu", number);
    bool found = cudaLibraryGetKernel(&in->full, library, name) == cudaSuccess;
    snprintf(name, sizeof name, "masked_%zu", number);
    if (found && in->guarded)
        found = cudaLibraryGetKernel(&in->masked, library, name) == cudaSuccess;
    if (!found)
        cudaGetLastError();
    return found;
}

static void refuse(struct instruction *in, const char *why)
{
    in->refused = true;
    for (size_t t = 0; t < in->count; t++)
        snprintf(in->tests[t].wrong, sizeof in->tests[t].wrong, "not accepted: %.*s", (int)strcspn(why, "\n"), why);
}

/* A module that does not load is loaded again a kernel at a time, to find which is to blame. */
static void load_kernels(void)
{
    static char log[4096];
    int major, minor, target;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* so that a module that the driver does not accept does not load */
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    target = 10 * major + minor > 90 ? 90 : 10 * major + minor;
    for (size_t first = 0; first < instruction_count; first += MODULE_KERNELS) {
        size_t count = instruction_count - first < MODULE_KERNELS ? instruction_count - first : MODULE_KERNELS;
        char *text = module_text(first, count, target);
        cudaLibrary_t library = load_ptx(text, log, sizeof log);
        free(text);
        for (size_t i = first; i < first + count; i++) {
            if (library && find_kernels(library, i))
                continue;
            text = module_text(i, 1, target);
            cudaLibrary_t alone = load_ptx(text, log, sizeof log);
            free(text);
            if (!alone || !find_kernels(alone, i))
                refuse(&instructions[i], log[0] ? log : "the module does not load");
        }
    }
}

/* ---- running ---- */

static void put(char *cell, const struct value *v)
{
    memcpy(cell, &v->low, 8);
    memcpy(cell + 8, &v->high, 8);
}

static size_t lay_out(void)
{
    size_t in_bytes = 0, out_bytes = 0;

    for (size_t i = 0; i < instruction_count; i++) {
        struct instruction *in = &instructions[i];
        size_t lanes = 0;
        for (size_t t = 0; t < in->count; t++)
            lanes += in->whole_warps ? WARP : 1;
        in->threads = (lanes + WARP - 1) / WARP * WARP;
        in->in_at = in_bytes;
        in->out_at = out_bytes;
        in_bytes += in->threads * in->in_count * CELL;
        out_bytes += in->threads * in->out_count * CELL;
    }
    return in_bytes > out_bytes ? in_bytes : out_bytes;
}

static size_t thread_of(const struct instruction *in, size_t test, unsigned lane)
{
    return in->whole_warps ? test * WARP + lane : test;
}

static void fill(char *inputs, char *outputs)
{
    for (size_t i = 0; i < instruction_count; i++) {
        struct instruction *in = &instructions[i];
        for (size_t t = 0; t < in->count; t++)
            for (unsigned lane = 0; lane < (in->whole_warps ? WARP : 1); lane++) {
                size_t thread = thread_of(in, t, lane);
                for (unsigned k = 0; k < in->in_count; k++) {
                    const struct value *v = in->tests[t].in[k];
                    if (!v)
                        continue;
                    v += in->tests[t].lanes == WARP ? lane : 0;
                    put(inputs + in->in_at + (thread * in->in_count + k) * CELL, v);
                    for (unsigned o = 0; o < in->out_count; o++)
                        if (in->in[k].memory && !strcmp(in->out[o].name, in->in[k].name))
                            put(outputs + in->out_at + (thread * in->out_count + o) * CELL, v);
                }
            }
    }
}

static int64_t ordered(uint64_t bits, unsigned digits) /* as floats are ordered, -0 below +0; NaNs at the ends */
{
    int64_t value = digits == 4 ? (int16_t)bits : digits == 8 ? (int32_t)bits : (int64_t)bits;

    return value < 0 ? (digits == 4 ? INT16_MIN : digits == 8 ? INT32_MIN : INT64_MIN) - value - 1 : value;
}

static bool matches(const struct value *want, const struct operand *o, const char *cell)
{
    uint64_t low, high;
    unsigned digits = o->digits;

    memcpy(&low, cell, 8);
    memcpy(&high, cell + 8, 8);
    if (digits < 16)
        low &= digits == 0 ? 1 : ((uint64_t)1 << 4 * digits) - 1;
    if (digits < 32)
        high = 0;
    if (want->any)
        return true;
    if (want->nan)
        return (low & (((uint64_t)1 << (4 * digits - 1)) - 1)) > want->nan;
    if (want->range)
        return ordered(low, digits) >= ordered(want->low, digits) &&
               ordered(low, digits) <= ordered(want->top, digits);
    return low == want->low && high == want->high;
}

static void describe(struct test *test, const struct operand *o, unsigned lane, const char *cell, const char *how)
{
    uint64_t low;

    memcpy(&low, cell, 8);
    if (o->digits && o->digits < 16)
        low &= ((uint64_t)1 << 4 * o->digits) - 1;
    snprintf(test->wrong, sizeof test->wrong, "%s%s is 0x%0*llx (lane %u)", how, o->name, o->digits ? (int)o->digits : 1,
             (unsigned long long)low, lane);
}

static bool is_poison(const struct operand *o, const char *cell)
{
    uint64_t low, poison = o->digits == 0 ? 0 : 0x5a5a5a5a5a5a5a5a & (o->digits == 16 ? UINT64_MAX : ((uint64_t)1 << 4 * o->digits) - 1);

    memcpy(&low, cell, o->digits == 0 ? 4 : 8);
    if (o->digits == 0)
        low &= 1;
    else if (o->digits < 16)
        low &= ((uint64_t)1 << 4 * o->digits) - 1;
    return low == poison;
}

/* `phase`: 2 is all lanes; 0 and 1 the odd and the even ones. */
static void compare(struct instruction *in, const char *outputs, const char *before, unsigned phase)
{
    for (size_t t = 0; t < in->count; t++)
        for (unsigned lane = 0; lane < (in->whole_warps ? WARP : 1) && !in->tests[t].wrong[0]; lane++) {
            size_t thread = thread_of(in, t, lane);
            bool chosen = phase == 2 || (thread & 1) != phase;
            for (unsigned k = 0; k < in->out_count && !in->tests[t].wrong[0]; k++) {
                size_t at = in->out_at + (thread * in->out_count + k) * CELL;
                const struct value *want = in->tests[t].out[k];
                if (chosen && want && !matches(want + (in->tests[t].lanes == WARP ? lane : 0), &in->out[k], outputs + at))
                    in->tests[t].differs |= phase == 2, describe(&in->tests[t], &in->out[k], lane, outputs + at, phase == 2 ? "" : "guarded: ");
                else if (!chosen && in->out[k].memory && memcmp(outputs + at, before + at, CELL))
                    describe(&in->tests[t], &in->out[k], lane, outputs + at, "written though guarded: ");
                else if (!chosen && !in->out[k].memory && !is_input(in, in->out[k].name) && !is_poison(&in->out[k], outputs + at))
                    describe(&in->tests[t], &in->out[k], lane, outputs + at, "written though guarded: ");
            }
        }
}

/* First all lanes run, then some. Returns the outputs of the first run. */
static char *run_all(char *inputs, char *outputs, size_t bytes)
{
    char *device_in, *device_out, *all = malloc(bytes + 1), *some = malloc(bytes + 1);

    if (!all || !some)
        exit(3);
    CHECK(cudaMalloc((void **)&device_in, bytes + 1));
    CHECK(cudaMalloc((void **)&device_out, bytes + 1));
    CHECK(cudaMemcpy(device_in, inputs, bytes, cudaMemcpyHostToDevice));
    for (unsigned turn = 0; turn < 3; turn++) {
        unsigned phase = (turn + 2) % 3;
        char *got = phase == 2 ? all : some;
        CHECK(cudaMemcpy(device_out, outputs, bytes, cudaMemcpyHostToDevice));
        for (size_t i = 0; i < instruction_count; i++) {
            struct instruction *in = &instructions[i];
            char *in_cells = device_in + in->in_at, *out_cells = device_out + in->out_at;
            void *arguments[] = {&in_cells, &out_cells, &phase};
            cudaKernel_t kernel = phase == 2 ? in->full : in->masked;
            if (in->refused || !kernel)
                continue;
            cudaError_t error = cudaLaunchKernel((const void *)kernel, (dim3){(unsigned)(in->threads / WARP), 1, 1}, (dim3){WARP, 1, 1},
                                                 arguments, 0, NULL);
            if (error)
                refuse(in, cudaGetErrorName(error));
        }
        cudaError_t error = cudaDeviceSynchronize();
        if (error) {
            fprintf(stderr, "a launch failed: %s\n", cudaGetErrorName(error));
            exit(3);
        }
        CHECK(cudaMemcpy(got, device_out, bytes, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < instruction_count; i++)
            if (!instructions[i].refused && (phase == 2 || instructions[i].masked))
                compare(&instructions[i], got, outputs, phase);
    }
    free(some);
    return all;
}

/* ---- recording ---- */

static void print_cell(const struct operand *o, const char *cell)
{
    uint64_t low, high;

    memcpy(&low, cell, 8);
    memcpy(&high, cell + 8, 8);
    if (o->digits == 0)
        printf("%u", (unsigned)low & 1);
    else if (o->digits == 32)
        printf("0x%016llx%016llx", (unsigned long long)high, (unsigned long long)low);
    else
        printf("0x%0*llx", (int)o->digits,
               (unsigned long long)(o->digits == 16 ? low : low & (((uint64_t)1 << 4 * o->digits) - 1)));
}

static void record(const struct instruction *in, size_t number, const char *outputs)
{
    const struct test *test = &in->tests[number];
    unsigned lanes = test->lanes == WARP ? WARP : 1;

    printf("%s\n%s\n", in->text, test->inputs);
    if (!test->differs) {
        printf("%s\n\n", test->outputs);
        return;
    }
    for (unsigned k = 0; k < in->out_count; k++) {
        printf("%s%s=", k ? " " : "", in->out[k].name);
        for (unsigned lane = 0; lane < lanes; lane++) {
            if (lane)
                putchar(',');
            print_cell(&in->out[k], outputs + in->out_at + (thread_of(in, number, lane) * in->out_count + k) * CELL);
        }
    }
    printf("\n# the reference says %s\n\n", test->outputs);
}

/* How many cases go wrong only where the instruction is guarded; a comment says so. */
static size_t record_guarded(const struct instruction *in)
{
    const struct test *first = NULL;
    size_t count = 0;

    for (size_t t = 0; t < in->count; t++)
        if (in->tests[t].wrong[0] && !in->tests[t].differs) {
            first = first ? first : &in->tests[t];
            count++;
        }
    if (count)
        printf("# %s: %zu of %zu cases under a guard: %s\n\n", in->text, count, in->count, first->wrong);
    return count;
}

static void record_all(const char *outputs)
{
    struct cudaDeviceProp properties;
    int driver, runtime;
    size_t refused = 0, cases = 0, differ = 0, guarded = 0;

    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    printf("# Recorded on %s, driver for CUDA %d.%d, runtime %d.%d\n\n", properties.name, driver / 1000, driver % 1000 / 10, runtime / 1000,
           runtime % 1000 / 10);
    for (size_t i = 0; i < instruction_count; i++) {
        const struct instruction *in = &instructions[i];
        if (in->refused)
            printf("# %s: %s\n\n", in->text, in->tests[0].wrong);
        refused += in->refused;
        for (size_t t = 0; t < in->count && !in->refused; t++) {
            record(in, t, outputs);
            cases++;
            differ += in->tests[t].differs;
        }
        if (!in->refused)
            guarded += record_guarded(in);
    }
    fprintf(stderr, "%s: %zu instructions, %zu cases, %zu differ from the reference, %zu under a guard alone; %zu instructions not accepted\n",
            properties.name, instruction_count - refused, cases, differ, guarded, refused);
}

int main(int argc, char **argv)
{
    size_t cases = 0, wrong = 0, bytes;
    char *inputs, *outputs, *got;

    if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[1], "--ptx") && strcmp(argv[1], "--record"))) {
        fprintf(stderr, "usage: ops_run [--ptx | --record] FILE.test\n");
        return 2;
    }
    read_tests(read_text(argv[argc - 1]));
    if (argc == 3 && !strcmp(argv[1], "--ptx")) {
        fputs(module_text(0, instruction_count, 90), stdout);
        return 0;
    }
    bytes = lay_out();
    inputs = calloc(1, bytes + 1);
    outputs = calloc(1, bytes + 1);
    if (!inputs || !outputs)
        return 3;
    fill(inputs, outputs);
    load_kernels();
    got = run_all(inputs, outputs, bytes);
    if (argc == 3) {
        record_all(got);
        return 0;
    }
    for (size_t i = 0; i < instruction_count; i++)
        for (size_t t = 0; t < instructions[i].count; t++) {
            const struct test *test = &instructions[i].tests[t];
            cases++;
            wrong += test->wrong[0] != '\0';
            printf("%u %s\n", test->line, test->wrong[0] ? test->wrong : "ok");
        }
    fprintf(stderr, "%zu instructions, %zu cases, %zu wrong\n", instruction_count, cases, wrong);
    return wrong != 0;
}
