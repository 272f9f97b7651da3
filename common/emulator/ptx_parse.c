/* The parser: tokens to a module's symbols and functions. It knows PTX's statements and operands, not its instructions: an
 * opcode stays text here, and decode.c looks it up. Errors point at the place; a parse stops at the first. */
#define _GNU_SOURCE
#include "ptx.h"
#include "ptx_lex.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum name_kind { NAME_REGISTER, NAME_SYMBOL, NAME_FUNCTION, NAME_LABEL };

/* A name in scope. Newer ones come first in their bucket, so an inner scope hides an outer one and ends by popping. */
struct name {
    const char *text;
    uint32_t length, bucket;
    enum name_kind kind;
    uint32_t index; /* register or label number */
    void *object;   /* symbol or function */
    struct name *next_in_bucket, *older;
};

/* A growing array of T: `items`, `count`, `room`. */
#define LIST(T)                                                                                                                    \
    struct {                                                                                                                       \
        T *items;                                                                                                                  \
        size_t count, room;                                                                                                        \
    }
#define LIST_ADD(list, item)                                                                                                       \
    do {                                                                                                                           \
        if ((list).count == (list).room) {                                                                                         \
            (list).room = (list).room ? 2 * (list).room : 16;                                                                      \
            (list).items = grown((list).items, (list).room * sizeof *(list).items);                                                \
        }                                                                                                                          \
        (list).items[(list).count++] = (item);                                                                                     \
    } while (0)

enum { BUCKETS = 4096, MOST_NESTING = 64, MOST_REGISTERS = 1 << 20, MOST_UNUSED = 1 << 16 };
#define MOST_BYTES ((size_t)1 << 40) /* of a variable, or of several that lie in one place */

/* Where code of another file was inlined: .loc's words, and the line of the function's own file that they come from. */
struct location {
    uint32_t file, line, column, own_line;
};

struct parser {
    struct module *module;
    struct lexer lexer;
    struct token token; /* the one being looked at */
    struct name *buckets[BUCKETS], *newest;
    struct function *function; /* the one whose body is being read, or NULL */
    uint32_t source_line, source_file;
    uint32_t kernel_file; /* the one the function stands in */
    LIST(struct location) inlined;
    LIST(struct symbol *) symbols;
    LIST(struct function *) functions;
    LIST(const char *) files;
    LIST(struct reg) regs;
    LIST(struct inst) code;
    LIST(uint32_t) labels;
    LIST(const char *) label_names;
    LIST(struct operand) operands; /* of an instruction, and behind them those of the lists it is in */
    LIST(struct symbol *) parameters;
    LIST(uint32_t) listed;          /* labels of a .branchtargets */
    LIST(struct symbol *) in_frame; /* of the function: arguments of calls, whose place follows from what else is in the frame */
    LIST(struct targets) targets;
    LIST(char) initial;                 /* of the variable being read, as far as numbers are given */
    size_t registers;                   /* declared in the module */
    size_t argument_top, argument_most; /* bytes of arguments in use here, and anywhere in the function */
    char **error;
    jmp_buf failed;
};

static void *grown(void *old, size_t bytes)
{
    void *new = realloc(old, bytes);

    if (!new) {
        fprintf(stderr, "emulator: out of memory while reading PTX\n");
        exit(3);
    }
    return new;
}

char *ptx_report(const struct module *module, uint32_t line, uint32_t column, const char *format, ...)
{
    char text[512], *report = NULL;
    const char *at = module->text, *end = module->text + module->bytes, *stop;
    size_t bytes = 0;
    va_list arguments;
    FILE *out = open_memstream(&report, &bytes);

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!out)
        return NULL;
    for (uint32_t skip = 1; skip < line && at < end; skip++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop : end;
    if (stop - at > 240)
        stop = at + 240;
    fprintf(out, "%s:%u:%u: error: %s\n", module->name, line, column, text);
    if (line) {
        fprintf(out, "    %.*s\n    ", (int)(stop - at), at);
        for (uint32_t i = 1; i < column && at + i <= stop; i++)
            fputc(at[i - 1] == '\t' ? '\t' : ' ', out);
        fputs("^\n", out);
    }
    fclose(out);
    return report;
}

/* What a list holds, kept for as long as the module. */
static void *taken(struct parser *p, const void *items, size_t bytes)
{
    void *copy = arena_take(p->module->arena, bytes + 1);

    if (bytes)
        memcpy(copy, items, bytes);
    return copy;
}

#define FAIL(p, ...)                                                                                                               \
    do {                                                                                                                           \
        *(p)->error = ptx_report((p)->module, (p)->token.line, (p)->token.column, __VA_ARGS__);                                    \
        longjmp((p)->failed, 1);                                                                                                   \
    } while (0)

/* Tokens */

static int width(const struct token *token)
{
    return token->length > 80 ? 80 : (int)token->length;
}

static void advance(struct parser *p)
{
    lex_next(&p->lexer, &p->token);
    if (p->token.kind == TOKEN_BAD)
        FAIL(p, "'%.*s' is not PTX", width(&p->token), p->token.text);
}

static bool is_mark(const struct parser *p, char mark)
{
    return p->token.kind == TOKEN_MARK && p->token.mark == mark;
}

static bool take_mark(struct parser *p, char mark)
{
    bool found = is_mark(p, mark);

    if (found)
        advance(p);
    return found;
}

static void expect_mark(struct parser *p, char mark)
{
    if (!take_mark(p, mark)) {
        if (p->token.kind == TOKEN_END)
            FAIL(p, "the file ends where '%c' should stand", mark);
        FAIL(p, "expected '%c', found '%.*s'", mark, width(&p->token), p->token.text);
    }
}

static bool is_word(const struct parser *p, const char *word)
{
    return p->token.kind == TOKEN_WORD && p->token.length == strlen(word) && !memcmp(p->token.text, word, p->token.length);
}

static bool take_word(struct parser *p, const char *word)
{
    bool found = is_word(p, word);

    if (found)
        advance(p);
    return found;
}

static char *take_name(struct parser *p)
{
    char *name;

    if (p->token.kind != TOKEN_WORD || p->token.text[0] == '.')
        FAIL(p, "expected a name, found '%.*s'", width(&p->token), p->token.text);
    name = arena_string(p->module->arena, p->token.text, p->token.length);
    advance(p);
    return name;
}

static uint64_t take_number(struct parser *p)
{
    bool negative = take_mark(p, '-');
    uint64_t value = p->token.value;

    if (p->token.kind != TOKEN_NUMBER)
        FAIL(p, "expected a number, found '%.*s'", width(&p->token), p->token.text);
    advance(p);
    return negative ? 0 - value : value;
}

/* Names and scopes */

static uint32_t bucket_of(const char *text, uint32_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash % BUCKETS;
}

static struct name *find_name(struct parser *p, const char *text, uint32_t length)
{
    struct name *name = p->buckets[bucket_of(text, length)];

    while (name && !(name->length == length && !memcmp(name->text, text, length)))
        name = name->next_in_bucket;
    return name;
}

static struct name *add_name(struct parser *p, const char *text, enum name_kind kind, uint32_t index, void *object)
{
    struct name *name = arena_take(p->module->arena, sizeof *name);

    *name = (struct name){.text = text, .length = (uint32_t)strlen(text), .kind = kind, .index = index, .object = object};
    name->bucket = bucket_of(text, name->length);
    name->next_in_bucket = p->buckets[name->bucket];
    p->buckets[name->bucket] = name;
    name->older = p->newest;
    p->newest = name;
    return name;
}

static void end_scope(struct parser *p, struct name *outer)
{
    for (; p->newest != outer; p->newest = p->newest->older)
        p->buckets[p->newest->bucket] = p->newest->next_in_bucket;
}

/* Labels are the function's, not the block's: they may be used before the block that holds them, and after it. */
static void end_block_scope(struct parser *p, struct name *outer)
{
    struct name *labels = NULL;

    while (p->newest != outer) {
        struct name *name = p->newest;
        p->buckets[name->bucket] = name->next_in_bucket;
        p->newest = name->older;
        if (name->kind == NAME_LABEL) {
            name->older = labels;
            labels = name;
        }
    }
    while (labels) {
        struct name *name = labels;
        labels = name->older;
        name->next_in_bucket = p->buckets[name->bucket];
        p->buckets[name->bucket] = name;
        name->older = p->newest;
        p->newest = name;
    }
}

/* Declarations */

static bool take_type(struct parser *p, enum type *type)
{
    if (p->token.kind != TOKEN_WORD || p->token.text[0] != '.')
        return false;
    for (int t = T_none + 1; t < TYPE_COUNT; t++)
        if (strlen(type_names[t]) == p->token.length - 1 && !memcmp(type_names[t], p->token.text + 1, p->token.length - 1)) {
            *type = (enum type)t;
            advance(p);
            return true;
        }
    return false;
}

static bool take_space(struct parser *p, enum space *space)
{
    for (enum space s = SPACE_GLOBAL; s <= SPACE_REG; s++)
        if (p->token.kind == TOKEN_WORD && p->token.length == strlen(space_names[s]) + 1 && p->token.text[0] == '.' &&
            !memcmp(p->token.text + 1, space_names[s], p->token.length - 1)) {
            *space = s;
            advance(p);
            return true;
        }
    return false;
}

/* Room for the next element's bytes: zeros. */
static char *next_initial(struct parser *p, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        LIST_ADD(p->initial, 0);
    return p->initial.items + p->initial.count - bytes;
}

static void store_number(struct parser *p, const struct symbol *symbol, bool negative)
{
    uint64_t value = p->token.value;
    unsigned bytes = type_bytes[symbol->type], known = bytes < sizeof value ? bytes : sizeof value;
    char *to = next_initial(p, bytes);

    if (p->token.float_bits == 64 && symbol->type == T_f32) {
        double real;
        float narrow;
        memcpy(&real, &value, sizeof real);
        narrow = (float)real;
        value = 0;
        memcpy(&value, &narrow, sizeof narrow);
    }
    if (negative)
        value = p->token.float_bits ? value ^ (uint64_t)1 << (8 * known - 1) : 0 - value;
    memcpy(to, &value, known);
    if (negative && !p->token.float_bits)
        memset(to + known, 0xff, bytes - known);
    advance(p);
}

/* name, generic(name), either with + offset: an address that is filled in once it is known. */
static void store_address(struct parser *p, struct symbol *symbol, size_t at)
{
    bool generic = take_word(p, "generic"), parenthesis = generic && (expect_mark(p, '('), true);
    struct name *name = find_name(p, p->token.text, p->token.length);
    size_t count = symbol->relocation_count;

    if (!name || (name->kind != NAME_SYMBOL && name->kind != NAME_FUNCTION))
        FAIL(p, "an initial value must be a number or the name of a variable or function, found '%.*s'", width(&p->token),
             p->token.text);
    if ((count & (count - 1)) == 0) { /* full: there is room for the next power of two */
        struct relocation *larger = arena_take(p->module->arena, (2 * count + 1) * sizeof *larger);
        if (count)
            memcpy(larger, symbol->relocations, count * sizeof *larger);
        symbol->relocations = larger;
    }
    next_initial(p, type_bytes[symbol->type]);
    advance(p);
    if (parenthesis)
        expect_mark(p, ')');
    if (name->kind == NAME_FUNCTION)
        ((struct function *)name->object)->address_taken = true;
    symbol->relocations[symbol->relocation_count++] =
        (struct relocation){.at = at,
                            .target = name->kind == NAME_SYMBOL ? name->object : NULL,
                            .function = name->kind == NAME_FUNCTION ? name->object : NULL,
                            .addend = take_mark(p, '+') ? (int64_t)take_number(p) : 0};
}

static void parse_initial(struct parser *p, struct symbol *symbol, int depth)
{
    size_t at = p->initial.count;

    if (depth > MOST_NESTING)
        FAIL(p, "initial values nested deeper than %d", MOST_NESTING);
    if (take_mark(p, '{')) {
        while (!take_mark(p, '}')) {
            parse_initial(p, symbol, depth + 1);
            if (!is_mark(p, '}'))
                expect_mark(p, ',');
        }
        return;
    }
    if (at + type_bytes[symbol->type] > symbol->bytes)
        FAIL(p, "more initial values than '%s' has room for", symbol->name);
    bool negative = take_mark(p, '-');
    if (p->token.kind == TOKEN_NUMBER)
        store_number(p, symbol, negative);
    else
        store_address(p, symbol, at);
}

/* After the space: [.align n] [.vN] .type [.ptr …] name [dimensions] [= initial]. Does not take the ';'. */
static struct symbol *parse_variable(struct parser *p, enum space space, bool is_extern)
{
    struct symbol *symbol = arena_take(p->module->arena, sizeof *symbol);
    size_t elements = 1;

    *symbol = (struct symbol){.space = space, .is_extern = is_extern, .align = 1};
    while (p->token.kind == TOKEN_WORD && p->token.text[0] == '.' && symbol->type == T_none) {
        if (take_word(p, ".align"))
            symbol->align = take_number(p);
        else if (take_word(p, ".v2"))
            elements = 2;
        else if (take_word(p, ".v4"))
            elements = 4;
        else if (!take_word(p, ".attribute") && !take_type(p, &symbol->type))
            FAIL(p, "unknown attribute or type '%.*s' of a variable", width(&p->token), p->token.text);
        if (take_mark(p, '(')) /* .attribute(.managed) */
            while (!take_mark(p, ')')) {
                if (take_word(p, ".managed"))
                    symbol->managed = true;
                else if (p->token.kind == TOKEN_END)
                    FAIL(p, "the file ends inside an attribute");
                else
                    advance(p);
            }
    }
    while (p->token.kind == TOKEN_WORD && p->token.text[0] == '.') { /* .ptr .global .align 4: a hint about a parameter */
        enum space ignored;
        if (take_word(p, ".align"))
            take_number(p);
        else if (!take_word(p, ".ptr") && !take_space(p, &ignored))
            FAIL(p, "unknown attribute '%.*s' of a variable", width(&p->token), p->token.text);
    }
    if (symbol->type == T_none || symbol->type == T_pred)
        FAIL(p, "a variable needs a type such as .b8 or .u32 before its name");
    symbol->name = take_name(p);
    while (take_mark(p, '[')) {
        if (take_mark(p, ']')) {
            elements = 0;
            continue;
        }
        uint64_t dimension = take_number(p);
        expect_mark(p, ']');
        if (dimension && elements > MOST_BYTES / type_bytes[symbol->type] / dimension)
            FAIL(p, "'%s' is too large", symbol->name);
        elements *= dimension;
    }
    if (symbol->align == 0 || (symbol->align & (symbol->align - 1)) || symbol->align > 65536)
        FAIL(p, "an alignment must be a power of two, not %zu", symbol->align);
    if (symbol->align < type_bytes[symbol->type])
        symbol->align = type_bytes[symbol->type];
    symbol->bytes = elements * type_bytes[symbol->type];
    if (take_mark(p, '=')) {
        p->initial.count = 0;
        parse_initial(p, symbol, 0);
        symbol->initial_bytes = p->initial.count;
        symbol->initial = taken(p, p->initial.items, p->initial.count);
    }
    return symbol;
}

static size_t place_at(struct parser *p, size_t *used, const struct symbol *symbol)
{
    size_t at = (*used + symbol->align - 1) & ~(symbol->align - 1);

    *used = at + symbol->bytes;
    if (*used > MOST_BYTES)
        FAIL(p, "'%s' and what lies before it are too large", symbol->name);
    return at;
}

static void align_stack(struct function *f, const struct symbol *symbol)
{
    if (symbol->space != SPACE_SHARED && symbol->align > f->stack_align)
        f->stack_align = symbol->align;
}

/* A call's argument lives in the caller's frame, until the block that declares it ends. */
static void place_argument(struct parser *p, struct symbol *symbol)
{
    symbol->in_frame = true;
    symbol->address = place_at(p, &p->argument_top, symbol);
    if (p->argument_top > p->argument_most)
        p->argument_most = p->argument_top;
    LIST_ADD(p->in_frame, symbol);
}

static void declare_registers(struct parser *p)
{
    enum type type;

    if (take_word(p, ".v2") || take_word(p, ".v4") || !take_type(p, &type))
        FAIL(p, "expected a register's type, found '%.*s'", width(&p->token), p->token.text);
    do {
        char *stem = take_name(p);
        uint64_t count = 1;
        bool range = take_mark(p, '<');

        if (range) {
            count = take_number(p);
            expect_mark(p, '>');
        }
        if (count > MOST_REGISTERS || p->regs.count + count > MOST_REGISTERS)
            FAIL(p, "more than %d registers in a function", MOST_REGISTERS);
        p->registers += count;
        if (p->registers > MOST_UNUSED + p->module->bytes) /* to use one takes some bytes */
            FAIL(p, "more registers than a module of %zu bytes can use", p->module->bytes);
        for (uint64_t i = 0; i < count; i++) {
            char text[32], *name = stem;
            struct reg reg = {.type = type};
            if (range) {
                snprintf(text, sizeof text, "%llu", (unsigned long long)i);
                name = arena_take(p->module->arena, strlen(stem) + strlen(text) + 1);
                strcat(strcpy(name, stem), text);
            }
            reg.name = name;
            add_name(p, name, NAME_REGISTER, (uint32_t)p->regs.count, NULL);
            LIST_ADD(p->regs, reg);
        }
    } while (take_mark(p, ','));
    expect_mark(p, ';');
}

static void declare_variable(struct parser *p, enum space space, bool is_extern)
{
    do {
        struct symbol *symbol = parse_variable(p, space, is_extern);

        if (space == SPACE_LOCAL && p->function)
            symbol->address = place_at(p, &p->function->local_bytes, symbol);
        else if (space == SPACE_PARAM && p->function)
            place_argument(p, symbol);
        else
            LIST_ADD(p->symbols, symbol);
        if (p->function)
            align_stack(p->function, symbol);
        if (!p->function) {
            struct name *old = find_name(p, symbol->name, (uint32_t)strlen(symbol->name));
            if (old && old->kind == NAME_SYMBOL && is_extern)
                continue; /* declared again */
        }
        add_name(p, symbol->name, NAME_SYMBOL, 0, symbol);
    } while (take_mark(p, ','));
    expect_mark(p, ';');
}

/* Operands */

static struct operand parse_operand(struct parser *p, int depth);

static const struct {
    const char *name;
    uint32_t index;
} specials[] = {
#define X(id, name) {name, SPECIAL_##id},
    PTX_SPECIALS(X)
#undef X
        {"%clock", SPECIAL_clock},
    {"%clock64", SPECIAL_clock64},
    {"%globaltimer", SPECIAL_globaltimer},
    {"%tid", SPECIAL_tid_x},
    {"%ntid", SPECIAL_ntid_x},
    {"%ctaid", SPECIAL_ctaid_x},
    {"%nctaid", SPECIAL_nctaid_x}};

static uint32_t label_number(struct parser *p, const struct token *token)
{
    struct name *name = find_name(p, token->text, token->length);

    if (!name || name->kind != NAME_LABEL) {
        const char *text = arena_string(p->module->arena, token->text, token->length);
        name = add_name(p, text, NAME_LABEL, (uint32_t)p->labels.count, NULL);
        LIST_ADD(p->labels, NO_PC);
        LIST_ADD(p->label_names, text);
    }
    return name->index;
}

static struct operand word_operand(struct parser *p)
{
    struct operand operand = {.column = p->token.column};
    struct name *name = find_name(p, p->token.text, p->token.length);

    if (is_word(p, "_")) {
        operand.kind = OPERAND_DISCARD;
    } else if (is_word(p, "WARP_SZ")) {
        operand.kind = OPERAND_IMMEDIATE;
        operand.value = 32;
    } else if (name && name->kind == NAME_REGISTER) {
        operand.kind = OPERAND_REGISTER;
        operand.index = name->index;
    } else if (name && name->kind == NAME_SYMBOL) {
        operand.kind = OPERAND_SYMBOL;
        operand.symbol = name->object;
    } else if (name && name->kind == NAME_FUNCTION) {
        operand.kind = OPERAND_FUNCTION;
        operand.index = name->index;
        operand.function = name->object;
    } else if (p->token.text[0] == '%') {
        size_t i = 0, count = sizeof specials / sizeof *specials;
        while (i < count && !is_word(p, specials[i].name))
            i++;
        /* An unknown one is an error of the function that names it, not of the module: decode.c reports it. */
        operand.kind = i < count ? OPERAND_SPECIAL : OPERAND_LABEL;
        operand.index = i < count ? specials[i].index : label_number(p, &p->token);
    } else {
        operand.kind = OPERAND_LABEL;
        operand.index = label_number(p, &p->token);
    }
    advance(p);
    if (operand.kind == OPERAND_SYMBOL && take_mark(p, '+'))
        operand.value = (int64_t)take_number(p);
    return operand;
}

/* [register], [symbol], [number], each with an offset */
static struct operand address_operand(struct parser *p)
{
    struct operand operand = {.kind = OPERAND_ADDRESS, .column = p->token.column};

    if (p->token.kind == TOKEN_WORD) {
        struct operand base = word_operand(p);
        if (base.kind == OPERAND_REGISTER) {
            operand.has_base = true;
            operand.index = base.index;
        } else if (base.kind == OPERAND_SYMBOL) {
            operand.symbol = base.symbol;
            operand.value = base.value;
        } else {
            FAIL(p, "an address must be a register, a variable or a number");
        }
    } else {
        operand.value = (int64_t)take_number(p);
    }
    if (take_mark(p, '+'))
        operand.value = (int64_t)((uint64_t)operand.value + take_number(p));
    else if (take_mark(p, '-'))
        operand.value = (int64_t)((uint64_t)operand.value - take_number(p));
    expect_mark(p, ']');
    return operand;
}

static struct operand vector_operand(struct parser *p, char close, int depth)
{
    struct operand operand = {.kind = OPERAND_VECTOR, .column = p->token.column};
    size_t first = p->operands.count, count;

    while (!take_mark(p, close)) {
        struct operand part = parse_operand(p, depth + 1);
        LIST_ADD(p->operands, part);
        if (!is_mark(p, close))
            expect_mark(p, ',');
        if (p->operands.count - first > 255)
            FAIL(p, "more than 255 operands in a list");
    }
    count = p->operands.count - first;
    p->operands.count = first;
    operand.part_count = (uint8_t)count;
    operand.parts = taken(p, count ? p->operands.items + first : NULL, count * sizeof *operand.parts);
    return operand;
}

static struct operand parse_operand(struct parser *p, int depth)
{
    if (depth > 2)
        FAIL(p, "operands nested too deep");
    if (take_mark(p, '['))
        return address_operand(p);
    if (take_mark(p, '{'))
        return vector_operand(p, '}', depth);
    if (take_mark(p, '('))
        return vector_operand(p, ')', depth);
    if (take_mark(p, '!')) {
        struct operand operand = word_operand(p);
        operand.negated = true;
        return operand;
    }
    if (p->token.kind == TOKEN_WORD)
        return word_operand(p);
    struct operand operand = {.kind = OPERAND_IMMEDIATE, .column = p->token.column};
    bool negative = take_mark(p, '-');
    operand.float_bits = p->token.float_bits;
    operand.is_float = p->token.float_bits != 0;
    operand.value = (int64_t)take_number(p);
    if (negative)
        operand.value = operand.float_bits ? operand.value ^ (int64_t)((uint64_t)1 << (operand.float_bits - 1))
                                           : (int64_t)(0 - (uint64_t)operand.value);
    return operand;
}

/* Statements of a body */

static void parse_guard(struct parser *p, struct inst *in)
{
    struct name *name;

    in->guard_flip = take_mark(p, '!') ? UINT32_MAX : 0;
    name = p->token.kind == TOKEN_WORD ? find_name(p, p->token.text, p->token.length) : NULL;
    if (!name || name->kind != NAME_REGISTER || p->regs.items[name->index].type != T_pred)
        FAIL(p, "a guard must be a predicate register, found '%.*s'", width(&p->token), p->token.text);
    in->guard = name->index + 1;
    advance(p);
}

static void parse_instruction(struct parser *p)
{
    struct inst in = {
        .line = p->token.line, .source_line = p->source_line, .source_file = p->source_file, .target = NO_PC, .reconv_pc = NO_PC};

    if (take_mark(p, '@'))
        parse_guard(p, &in);
    in.line = p->token.line;
    in.column = p->token.column;
    in.opcode = take_name(p);
    p->operands.count = 0;
    while (!is_mark(p, ';')) {
        struct operand operand = parse_operand(p, 0);
        if (operand.kind == OPERAND_FUNCTION && strncmp(in.opcode, "call", 4))
            operand.function->address_taken = true;
        LIST_ADD(p->operands, operand);
        if (!take_mark(p, ',') && !take_mark(p, '|') && !is_mark(p, ';'))
            FAIL(p, "expected ',' or ';' after an operand, found '%.*s'", width(&p->token), p->token.text);
        if (p->operands.count > 200)
            FAIL(p, "more than 200 operands");
    }
    advance(p);
    in.operand_count = (uint8_t)p->operands.count;
    in.operands = taken(p, p->operands.items, p->operands.count * sizeof *in.operands);
    LIST_ADD(p->code, in);
}

/* The line of the function's own file that a place comes from, 0 if that is not known. */
static uint32_t own_line(const struct parser *p, const struct location *at)
{
    if (at->file == p->kernel_file)
        return at->line;
    for (size_t i = p->inlined.count; i-- > 0;)
        if (p->inlined.items[i].file == at->file && p->inlined.items[i].line == at->line &&
            p->inlined.items[i].column == at->column)
            return p->inlined.items[i].own_line;
    return 0;
}

static struct location take_location(struct parser *p)
{
    uint32_t file = (uint32_t)take_number(p), line = (uint32_t)take_number(p), column = (uint32_t)take_number(p);

    return (struct location){.file = file, .line = line, .column = column};
}

/* .loc file line column [, function_name label[+n], inlined_at file line column]
 * Code of another file, such as a shuffle's wrapper in CUDA's headers, counts as the line that called it. */
static void parse_location(struct parser *p)
{
    struct location at = take_location(p), caller;

    if (!p->kernel_file)
        p->kernel_file = at.file;
    if (at.line) { /* line 0 is code the compiler made: it belongs to the line before */
        p->source_file = at.file;
        p->source_line = at.line;
    }
    while (take_mark(p, ',')) {
        if (take_word(p, "inlined_at")) {
            caller = take_location(p);
            at.own_line = own_line(p, &caller);
            if (at.file != p->kernel_file && at.line && at.own_line) {
                p->source_file = p->kernel_file;
                p->source_line = at.own_line;
                LIST_ADD(p->inlined, at);
            }
            continue;
        }
        take_name(p);
        while (p->token.kind == TOKEN_NUMBER ||
               (p->token.kind == TOKEN_WORD && p->token.text[0] != '.' && p->token.text[0] != '@') || is_mark(p, '+')) {
            const struct token before = p->token;
            advance(p);
            if (before.kind == TOKEN_WORD && p->token.kind != TOKEN_NUMBER && !is_mark(p, '+') && !is_mark(p, ','))
                FAIL(p, "unreadable .loc");
            if (p->token.line != before.line)
                break;
        }
    }
}

static void skip_statement(struct parser *p)
{
    while (!is_mark(p, ';')) {
        if (p->token.kind == TOKEN_END)
            FAIL(p, "the file ends inside a statement");
        advance(p);
    }
    advance(p);
}

static void parse_body_directive(struct parser *p)
{
    enum space space;

    if (take_word(p, ".loc"))
        parse_location(p);
    else if (take_word(p, ".reg"))
        declare_registers(p);
    else if (take_word(p, ".pragma") || take_word(p, ".callprototype"))
        skip_statement(p);
    else if (take_space(p, &space))
        declare_variable(p, space, false);
    else
        FAIL(p, "unknown directive '%.*s'", width(&p->token), p->token.text);
}

static void parse_block(struct parser *p, int depth);

/* The list of labels behind .branchtargets: their numbers, which decode.c makes pcs. */
static void parse_targets(struct parser *p, uint32_t label)
{
    p->listed.count = 0;
    while (!take_mark(p, ';')) {
        uint32_t number;
        if (p->token.kind != TOKEN_WORD)
            FAIL(p, "expected a label, found '%.*s'", width(&p->token), p->token.text);
        number = label_number(p, &p->token);
        LIST_ADD(p->listed, number);
        advance(p);
        if (!is_mark(p, ';'))
            expect_mark(p, ',');
    }
    struct targets targets = {label, (uint32_t)p->listed.count, taken(p, p->listed.items, p->listed.count * sizeof(uint32_t))};
    LIST_ADD(p->targets, targets);
}

static void define_label(struct parser *p, const struct token *label)
{
    uint32_t number = label_number(p, label);

    if (p->labels.items[number] != NO_PC)
        FAIL(p, "label '%s' stands twice", p->label_names.items[number]);
    p->labels.items[number] = (uint32_t)p->code.count;
    advance(p); /* the ':' */
    if (take_word(p, ".branchtargets"))
        parse_targets(p, number);
    else if (take_word(p, ".calltargets") || take_word(p, ".callprototype"))
        skip_statement(p); /* a call's own operands say as much */
}

static void parse_statement(struct parser *p, int depth)
{
    if (take_mark(p, '{')) {
        struct name *outer = p->newest;
        size_t argument_top = p->argument_top;
        parse_block(p, depth + 1);
        end_block_scope(p, outer);
        p->argument_top = argument_top;
    } else if (take_mark(p, ';')) {
        return;
    } else if (p->token.kind == TOKEN_WORD && p->token.text[0] == '.') {
        parse_body_directive(p);
    } else if (p->token.kind == TOKEN_WORD) {
        struct lexer ahead = p->lexer;
        struct token next;
        lex_next(&ahead, &next);
        if (next.kind == TOKEN_MARK && next.mark == ':') {
            struct token label = p->token;
            advance(p);
            define_label(p, &label);
        } else {
            parse_instruction(p);
        }
    } else if (is_mark(p, '@')) {
        parse_instruction(p);
    } else {
        FAIL(p, "expected a statement, found '%.*s'", width(&p->token), p->token.text);
    }
}

static void parse_block(struct parser *p, int depth)
{
    if (depth > MOST_NESTING)
        FAIL(p, "blocks nested deeper than %d", MOST_NESTING);
    while (!take_mark(p, '}')) {
        if (p->token.kind == TOKEN_END)
            FAIL(p, "the file ends inside a function's body");
        parse_statement(p, depth);
    }
}

/* Functions */

/* A stack frame: local variables, then the function's own parameters, then the arguments of its calls. */
static void lay_out_frame(struct parser *p, struct function *f)
{
    size_t align = f->stack_align, parameters = (f->local_bytes + align - 1) & ~(align - 1);
    size_t arguments = parameters + (f->is_kernel ? 0 : (f->parameter_bytes + align - 1) & ~(align - 1));

    for (size_t i = 0; i < f->parameter_count && !f->is_kernel; i++)
        if (f->parameters[i]->in_frame)
            f->parameters[i]->address += parameters;
    for (size_t i = 0; i < f->return_count; i++)
        if (f->returns[i]->in_frame)
            f->returns[i]->address += parameters;
    for (size_t i = 0; i < p->in_frame.count; i++)
        p->in_frame.items[i]->address += arguments;
    f->stack_bytes = f->is_kernel && !p->argument_most ? f->local_bytes : (arguments + p->argument_most + align - 1) & ~(align - 1);
}

static void parse_body(struct parser *p)
{
    struct function *f = p->function;
    struct inst end = {.opcode = "ret", .target = NO_PC, .reconv_pc = NO_PC};

    p->code.count = p->labels.count = p->label_names.count = p->in_frame.count = p->targets.count = 0;
    p->argument_top = p->argument_most = 0;
    p->source_line = p->source_file = p->kernel_file = 0;
    p->inlined.count = 0;
    parse_block(p, 0);
    end.line = p->token.line;
    LIST_ADD(p->code, end); /* a body may end without ret */
    f->has_body = true;
    f->regs = taken(p, p->regs.items, p->regs.count * sizeof *f->regs);
    f->reg_count = p->regs.count;
    f->code = taken(p, p->code.items, p->code.count * sizeof *f->code);
    f->count = (uint32_t)p->code.count;
    f->labels = taken(p, p->labels.items, p->labels.count * sizeof *f->labels);
    f->label_names = taken(p, p->label_names.items, p->label_names.count * sizeof *f->label_names);
    f->label_count = p->labels.count;
    f->targets = taken(p, p->targets.items, p->targets.count * sizeof *f->targets);
    f->target_count = p->targets.count;
    lay_out_frame(p, f);
}

static void parse_parameters(struct parser *p, struct function *f)
{
    p->parameters.count = 0;
    while (!take_mark(p, ')')) {
        enum space space;
        struct symbol *symbol;
        if (!take_space(p, &space) || (space != SPACE_PARAM && space != SPACE_REG))
            FAIL(p, "expected .param, found '%.*s'", width(&p->token), p->token.text);
        symbol = parse_variable(p, space, false);
        if (space == SPACE_REG && (f->is_kernel || symbol->bytes != type_bytes[symbol->type]))
            FAIL(p, "%s must be in .param space", f->is_kernel ? "a kernel's parameter" : "an array");
        if (space == SPACE_REG) {
            struct reg reg = {.name = symbol->name, .type = symbol->type};
            symbol->address = p->regs.count;
            add_name(p, symbol->name, NAME_REGISTER, (uint32_t)p->regs.count, NULL);
            LIST_ADD(p->regs, reg);
        } else {
            symbol->in_frame = !f->is_kernel;
            symbol->address = place_at(p, &f->parameter_bytes, symbol);
            if (symbol->in_frame)
                align_stack(f, symbol);
            add_name(p, symbol->name, NAME_SYMBOL, 0, symbol);
        }
        LIST_ADD(p->parameters, symbol);
        if (!is_mark(p, ')'))
            expect_mark(p, ',');
    }
    f->parameter_count = p->parameters.count;
    f->parameters = taken(p, p->parameters.items, f->parameter_count * sizeof *f->parameters);
    f->parameter_sizes = arena_take(p->module->arena, f->parameter_count * sizeof *f->parameter_sizes + 1);
    for (size_t i = 0; i < f->parameter_count; i++)
        f->parameter_sizes[i] = f->parameters[i]->bytes;
}

static void parse_tuning(struct parser *p, struct function *f)
{
    bool required = is_word(p, ".reqntid"), most = is_word(p, ".maxntid");
    uint64_t size[3] = {1, 1, 1};

    advance(p);
    for (int i = 0; p->token.kind == TOKEN_NUMBER && i < 3; i++) {
        if (p->token.value == 0 && (required || most))
            FAIL(p, "a block has at least one thread in each direction");
        size[i] = take_number(p);
        size[i] = size[i] < MOST_REGISTERS ? size[i] : MOST_REGISTERS; /* far too many for a block, either way */
        if (!take_mark(p, ','))
            break;
    }
    if ((required || most) && size[0] * size[1] * size[2] <= 1024)
        f->max_threads = (unsigned)(size[0] * size[1] * size[2]);
    for (int i = 0; required && i < 3; i++)
        f->required_threads[i] = (unsigned)size[i];
}

static void parse_function(struct parser *p, bool is_kernel)
{
    struct function *f = arena_take(p->module->arena, sizeof *f);
    struct function *declared;
    struct name *outer, *known;

    *f = (struct function){
        .is_kernel = is_kernel, .module = p->module, .max_threads = 1024, .line = p->token.line, .stack_align = 16};
    outer = p->newest;
    p->regs.count = 0;
    if (take_mark(p, '(')) { /* return values */
        parse_parameters(p, f);
        f->returns = f->parameters;
        f->return_count = f->parameter_count;
        f->parameters = NULL;
        f->parameter_count = 0;
    }
    f->name = take_name(p);
    known = find_name(p, f->name, (uint32_t)strlen(f->name));
    declared = known && known->kind == NAME_FUNCTION ? known->object : NULL;
    f->index = declared ? declared->index : (uint32_t)p->functions.count;
    f->address_taken = declared && declared->address_taken;
    if (!declared) /* the body may call it */
        add_name(p, f->name, NAME_FUNCTION, f->index, f);
    if (take_mark(p, '('))
        parse_parameters(p, f);
    while (p->token.kind == TOKEN_WORD && p->token.text[0] == '.')
        parse_tuning(p, f);
    if (take_mark(p, '{')) {
        p->function = f;
        if (declared && declared->has_body)
            FAIL(p, "function '%s' is defined twice", f->name);
        parse_body(p);
        p->function = NULL;
    } else {
        expect_mark(p, ';');
    }
    end_scope(p, outer);
    if (declared) { /* the same function: operands and initial values know it already */
        f->address_taken |= declared->address_taken;
        if (f->has_body)
            *declared = *f;
        return;
    }
    add_name(p, f->name, NAME_FUNCTION, f->index, f);
    LIST_ADD(p->functions, f);
}

/* The module */

static void skip_section(struct parser *p)
{
    int depth = 0;
    bool begun = false;

    do {
        if (p->token.kind == TOKEN_END)
            FAIL(p, "the file ends inside a section");
        depth += is_mark(p, '{') - is_mark(p, '}');
        begun |= is_mark(p, '{');
        advance(p);
    } while (depth > 0 || !begun);
}

static void parse_file(struct parser *p)
{
    uint64_t number = take_number(p);

    if (p->token.kind != TOKEN_STRING || number > 65535)
        FAIL(p, "expected .file NUMBER \"NAME\"");
    while (p->files.count <= number)
        LIST_ADD(p->files, NULL);
    p->files.items[number] = arena_string(p->module->arena, p->token.text, p->token.length);
    advance(p);
    while (take_mark(p, ','))
        take_number(p);
}

static void parse_directive(struct parser *p)
{
    enum space space;
    bool is_extern = false;

    if (take_word(p, ".version")) { /* 9.0: lexed as a decimal number */
        double version = (double)p->token.value;
        if (p->token.float_bits == 64)
            memcpy(&version, &p->token.value, sizeof version);
        if (p->token.kind != TOKEN_NUMBER || !(version >= 1 && version < 100))
            FAIL(p, "'%.*s' is no version of PTX", width(&p->token), p->token.text);
        p->module->ptx_version = (int)(version * 10 + 0.5);
        advance(p);
    } else if (take_word(p, ".target")) {
        do {
            if (p->token.length > 3 && !memcmp(p->token.text, "sm_", 3))
                p->module->target = atoi(p->token.text + 3);
            advance(p);
        } while (take_mark(p, ','));
    } else if (take_word(p, ".address_size")) {
        if (take_number(p) != 64)
            FAIL(p, "only 64-bit addresses are supported");
    } else if (take_word(p, ".file")) {
        parse_file(p);
    } else if (take_word(p, ".section")) {
        skip_section(p);
    } else if (take_word(p, ".pragma") || take_word(p, ".alias")) {
        skip_statement(p);
    } else if (is_word(p, ".loc")) {
        advance(p);
        parse_location(p);
    } else {
        while (is_word(p, ".visible") || is_word(p, ".extern") || is_word(p, ".weak") || is_word(p, ".common")) {
            is_extern |= is_word(p, ".extern");
            advance(p);
        }
        if (take_word(p, ".entry"))
            parse_function(p, true);
        else if (take_word(p, ".func"))
            parse_function(p, false);
        else if (take_space(p, &space))
            declare_variable(p, space, is_extern);
        else
            FAIL(p, "unknown directive '%.*s'", width(&p->token), p->token.text);
    }
}

static void free_lists(struct parser *p)
{
    free(p->symbols.items);
    free(p->functions.items);
    free(p->files.items);
    free(p->regs.items);
    free(p->code.items);
    free(p->labels.items);
    free(p->label_names.items);
    free(p->operands.items);
    free(p->parameters.items);
    free(p->listed.items);
    free(p->in_frame.items);
    free(p->targets.items);
    free(p->inlined.items);
    free(p->initial.items);
}

bool ptx_parse(struct module *module, char **error)
{
    struct parser *p = calloc(1, sizeof *p);
    bool parsed;

    if (!p)
        return *error = strdup("out of memory"), false;
    p->module = module;
    p->error = error;
    parsed = !setjmp(p->failed);
    if (parsed) {
        lex_start(&p->lexer, module->text, module->bytes);
        advance(p);
        if (!is_word(p, ".version"))
            FAIL(p, "PTX begins with .version, found '%.*s'", width(&p->token), p->token.text);
        while (p->token.kind != TOKEN_END) {
            if (p->token.kind != TOKEN_WORD)
                FAIL(p, "expected a directive, found '%.*s'", width(&p->token), p->token.text);
            parse_directive(p);
        }
        module->symbols = taken(p, p->symbols.items, p->symbols.count * sizeof *module->symbols);
        module->symbol_count = p->symbols.count;
        module->functions = taken(p, p->functions.items, p->functions.count * sizeof *module->functions);
        module->function_count = p->functions.count;
        module->files = taken(p, p->files.items, p->files.count * sizeof *module->files);
        module->file_count = p->files.count;
    }
    free_lists(p);
    free(p);
    return parsed;
}
