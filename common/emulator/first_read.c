/* The first read of a compare-and-swap loop, the Programming Guide's way to make an atomic of anything:
 *
 *     old = *address; do { assumed = old; old = atomicCAS(address, assumed, f(assumed)); } while (old != assumed);
 *
 * A value that another thread replaces meanwhile costs it one more round and nothing else, so it races with no atomic. Which plain
 * loads are such reads is found here, a load at a time, by walking every path on from it, through calls and returns, with what
 * holds its value: copies (of which bytes), what was computed of it, what a swap gave that compared with it. It is one if
 *   - a swap of the same address and width compares with it, and none of another address does;
 *   - what was computed of it goes nowhere but into such a swap, comparisons, and addresses of loads. It may be stored only where
 *     the swap goes through, or where the same store follows with another value before the function ends;
 *   - it decides on nothing but whether to swap: between a branch by it and where that branch's sides meet, or a swap, nothing is
 *     stored. What is set there is computed of it, unless one side swaps and the other gives up.
 * Behind "the swap gave what it compared with" the value was right, and the walk ends. What is not understood is no first read. */
#include "cfg.h"
#include "ops.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_FACTS = 512, MOST_STEPS = 200000, MOST_DEPTH = 24, NOBODY = -1, SEVERAL = -2 };

struct frame {
    const struct function *f;
    const struct frame *above;
    uint32_t call; /* pc in above->f */
};

/* COPY: bytes [from, from + bytes) of what was read; OLD: the same of what the swap gave. SURE: a predicate that is `from`.
 * EQUAL: a predicate; where it is k, the bytes equal[k] of both are equal. STORED: the store `at` put a value of it
 * somewhere; `from`: and goes elsewhere now. */
enum kind { CLEAN, COPY, OLD, COMPUTED, SURE, EQUAL, STORED };
struct value {
    uint8_t kind, from, bytes;
    uint16_t equal[2];
};
struct fact {
    const void *where; /* a function: its register `at`, or its store `at`; a symbol of a stack: its byte `at` */
    const struct function *owner;
    int64_t at;
    struct value value;
};

struct state {
    const struct frame *frame, *origin, *control;
    uint32_t pc, control_end, count;
    uint16_t validated;
    bool moved, blind; /* a register of the address changed since; inside a branch whose sides both go on to the swap */
    struct fact facts[MOST_FACTS];
};

struct walk {
    struct function *kernel;
    const struct function *reader;
    struct inst *load;
    int64_t **writer; /* by part, register: the pc of the one instruction that writes it, NOBODY or SEVERAL */
    bool **watched;   /* by part, register: the load's address depends on it */
    bool **places;    /* so, the address of a store that put the value somewhere */
    bool *swaps;      /* by part: it, or what it calls, has a compare-and-swap */
    struct frame *frames[256];
    uint32_t frame_count;
    struct state **todo;
    uint32_t todo_count, todo_room;
    uint64_t *seen; /* hashes of states met at the start of a block */
    uint32_t seen_count, seen_room, steps;
    bool refused, fed;
};

/* ---- what an address is ---- */

struct term {
    const struct frame *frame;
    const struct symbol *symbol; /* or a register: */
    uint32_t reg;
    bool constant; /* or neither: the offset is all */
    int64_t offset;
};

static const struct inst *writer_of(const struct walk *k, const struct frame *frame, uint32_t reg)
{
    int64_t pc = k->writer[frame->f->part][reg];

    return pc < 0 || is_guarded(&frame->f->code[pc]) ? NULL : &frame->f->code[pc];
}

static struct term term_of(const struct walk *k, const struct frame *frame, const struct operand *o, int depth);

/* What the one store to these bytes of a symbol puts there; NULL if there are several, or none. */
static const struct operand *stored_value(const struct walk *k, const struct frame *frame, const struct symbol *s, int64_t at,
                                          unsigned bytes, int depth)
{
    const struct operand *found = NULL;

    for (uint32_t pc = 0; pc < frame->f->count; pc++) {
        const struct inst *in = &frame->f->code[pc];
        if (in->op != &ops[OP_st])
            continue;
        struct term to = term_of(k, frame, &in->operands[0], depth + 1);
        if (to.symbol != s || at + bytes <= to.offset || at >= to.offset + in->access_bytes)
            continue;
        if (found || in->bytes != bytes || (at - to.offset) % bytes || is_guarded(in))
            return NULL;
        found = &in->operands[1];
        if (found->kind == OPERAND_VECTOR)
            found = &found->parts[(at - to.offset) / bytes];
    }
    return found;
}

static const struct operand *argument_list(const struct inst *call)
{
    const struct operand *last = &call->operands[call->operand_count - 1];

    return call->call->argument_count && last->kind == OPERAND_VECTOR ? last : NULL;
}

static const struct operand *result_list(const struct inst *call)
{
    return call->call->return_count && call->operands[0].kind == OPERAND_VECTOR ? &call->operands[0] : NULL;
}

static int parameter_number(const struct function *f, const struct symbol *s)
{
    for (size_t i = 0; i < f->parameter_count; i++)
        if (f->parameters[i] == s)
            return (int)i;
    return -1;
}

/* What a load from a stack brings, where one store says it; *frame becomes that store's. */
static const struct operand *loaded_value(const struct walk *k, const struct frame **frame, const struct inst *in, int depth)
{
    struct term from = term_of(k, *frame, &in->operands[1], depth + 1);
    const struct symbol *s = from.symbol;
    int number = s && !(*frame)->f->is_kernel ? parameter_number((*frame)->f, s) : -1;

    if (!s || in->vector != 1 || (s->space != SPACE_LOCAL && !s->in_frame))
        return NULL;
    if (number >= 0) {
        const struct operand *list = (*frame)->above ? argument_list(&(*frame)->above->f->code[(*frame)->call]) : NULL;
        if (!list || list->parts[number].kind != OPERAND_SYMBOL)
            return NULL;
        s = list->parts[number].symbol;
        from.offset += list->parts[number].value;
        *frame = (*frame)->above;
    }
    return stored_value(k, *frame, s, from.offset, in->bytes, depth);
}

static bool is_copy(const struct inst *in)
{
    return in->op == &ops[OP_mov] || (!strncmp(in->op->mnemonic, "cvta", 4) && in->operand_count == 2);
}

static struct term register_term(const struct walk *k, const struct frame *frame, uint32_t reg, int64_t offset, int depth)
{
    for (; depth < MOST_DEPTH; depth++) {
        const struct inst *in = writer_of(k, frame, reg);
        const struct operand *next = NULL;
        if (in && is_copy(in))
            next = &in->operands[1];
        else if (in && in->op == &ops[OP_add_int] && type_bytes[in->type] == 8 && in->operands[2].kind == OPERAND_IMMEDIATE) {
            next = &in->operands[1];
            offset += next->kind == OPERAND_REGISTER ? in->operands[2].value : 0;
        } else if (in && in->op == &ops[OP_ld])
            next = loaded_value(k, &frame, in, depth);
        if (next && next->kind == OPERAND_SYMBOL)
            return (struct term){.frame = frame, .symbol = next->symbol, .offset = next->value + offset};
        if (!next || next->kind != OPERAND_REGISTER)
            break;
        reg = next->index;
    }
    return (struct term){.frame = frame, .reg = reg, .offset = offset};
}

static struct term term_of(const struct walk *k, const struct frame *frame, const struct operand *o, int depth)
{
    bool is_address = o->kind == OPERAND_ADDRESS;

    if (o->kind == OPERAND_REGISTER || (is_address && o->has_base))
        return register_term(k, frame, o->index, is_address ? o->value : 0, depth);
    if (o->kind == OPERAND_SYMBOL || (is_address && o->symbol))
        return (struct term){.frame = frame, .symbol = o->symbol, .offset = o->value};
    return (struct term){.frame = frame, .constant = true, .offset = o->value};
}

static bool same_term(const struct walk *k, struct term a, struct term b, int depth);

static bool same_sources(const struct walk *k, const struct inst *x, const struct frame *fx, const struct inst *y,
                         const struct frame *fy, int depth)
{
    bool pure = x->op->kind == ROW_LANE || x->op == &ops[OP_ld];

    if (!pure || x->op != y->op || x->type != y->type || x->type2 != y->type2 || x->operand_count != y->operand_count)
        return false;
    for (int i = 1; i < x->operand_count; i++) {
        const struct operand *p = &x->operands[i], *q = &y->operands[i];
        if (p->kind != q->kind || p->kind == OPERAND_VECTOR || p->negated != q->negated)
            return false;
        if (p->kind == OPERAND_SPECIAL ? p->index != q->index
                                       : !same_term(k, term_of(k, fx, p, depth + 1), term_of(k, fy, q, depth + 1), depth + 1))
            return false;
    }
    return true;
}

/* Computed alike from the same registers. That these have not changed in between, `moved` says. */
static bool same_term(const struct walk *k, struct term a, struct term b, int depth)
{
    if (a.offset != b.offset || a.symbol != b.symbol || a.constant != b.constant || depth > MOST_DEPTH)
        return false;
    if (a.symbol || a.constant || (a.frame->f == b.frame->f && a.reg == b.reg))
        return true;
    const struct inst *x = writer_of(k, a.frame, a.reg), *y = writer_of(k, b.frame, b.reg);
    return x && y && same_sources(k, x, a.frame, y, b.frame, depth);
}

/* Every register that a value depends on. */
static void watch(struct walk *k, bool **watched, const struct frame *frame, const struct operand *o, int depth)
{
    if (o->kind != OPERAND_REGISTER && !(o->kind == OPERAND_ADDRESS && o->has_base))
        return;
    if (depth > MOST_DEPTH) {
        k->refused = true;
        return;
    }
    watched[frame->f->part][o->index] = true;
    const struct inst *in = writer_of(k, frame, o->index);
    if (!in)
        return;
    const struct frame *other = frame;
    const struct operand *stored = in->op == &ops[OP_ld] ? loaded_value(k, &other, in, depth) : NULL;
    if (stored)
        watch(k, watched, other, stored, depth + 1);
    for (int i = 1; !stored && i < in->operand_count; i++)
        watch(k, watched, frame, &in->operands[i], depth + 1);
}

/* ---- what holds the value ---- */

static bool is_tainted(struct value v)
{
    return v.kind == COPY || v.kind == COMPUTED || v.kind == STORED;
}

static struct fact *fact_at(struct state *s, const void *where, int64_t at, bool store)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->facts[i].where == where && s->facts[i].at == at && (s->facts[i].value.kind == STORED) == store)
            return &s->facts[i];
    return NULL;
}

static void set_fact(struct walk *k, struct state *s, const void *where, const struct function *owner, int64_t at, struct value v)
{
    struct fact *f = fact_at(s, where, at, v.kind == STORED);

    if (v.kind == CLEAN) {
        if (f)
            *f = s->facts[--s->count];
        return;
    }
    if (!f && s->count == MOST_FACTS) {
        k->refused = true;
        return;
    }
    f = f ? f : &s->facts[s->count++];
    *f = (struct fact){where, owner, at, v};
}

static struct value value_in(const struct fact *f)
{
    struct value clean = {.kind = CLEAN};

    return f ? f->value : clean;
}

static struct value register_value(struct state *s, uint32_t reg)
{
    return value_in(fact_at(s, s->frame->f, reg, false));
}

static struct value value_of(struct state *s, const struct operand *o)
{
    struct value v = {.kind = CLEAN};

    if (o->kind == OPERAND_REGISTER || (o->kind == OPERAND_ADDRESS && o->has_base))
        return register_value(s, o->index);
    for (unsigned i = 0; o->kind == OPERAND_VECTOR && i < o->part_count; i++)
        if (is_tainted(value_of(s, &o->parts[i])))
            v.kind = COMPUTED;
    return v;
}

static bool within(const struct frame *inner, const struct frame *outer)
{
    while (inner && inner != outer)
        inner = inner->above;
    return inner != NULL;
}

/* The next store of the same instruction goes to another place: it replaces nothing. */
static void fix_stored(struct state *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->facts[i].value.kind == STORED)
            s->facts[i].value.from = true;
}

static void write_operand(struct walk *k, struct state *s, const struct inst *in, const struct operand *o, struct value v)
{
    if (o->kind != OPERAND_REGISTER)
        return;
    if (k->watched[s->frame->f->part][o->index] && within(s->origin, s->frame))
        s->moved = true;
    if (k->places[s->frame->f->part][o->index] && k->writer[s->frame->f->part][o->index] == SEVERAL)
        fix_stored(s);
    if (is_guarded(in)) { /* it may keep what it held */
        struct value kept = register_value(s, o->index);
        if (is_tainted(kept) || is_tainted(v) || is_tainted(register_value(s, in->guard_register)))
            v = (struct value){.kind = COMPUTED};
    }
    if (s->control && s->blind)
        v = (struct value){.kind = COMPUTED};
    set_fact(k, s, s->frame->f, s->frame->f, o->index, v);
}

static struct value part_of(struct value v, unsigned from, unsigned bytes)
{
    if (v.kind != COPY && v.kind != OLD)
        return v;
    if (from >= v.bytes)
        return (struct value){.kind = CLEAN};
    v.from = (uint8_t)(v.from + from);
    v.bytes = (uint8_t)(v.bytes - from < bytes ? v.bytes - from : bytes);
    return v;
}

/* Pieces of `each` bytes side by side; zeros may stand above a copy. */
static struct value joined(const struct value *pieces, unsigned count, unsigned each)
{
    struct value v = pieces[0];
    bool tainted = false, whole = v.kind == COPY || v.kind == OLD, ended = v.bytes < each;

    for (unsigned i = 0; i < count; i++)
        tainted |= is_tainted(pieces[i]);
    for (unsigned i = 1; i < count && whole; i++) {
        bool goes_on = !ended && pieces[i].kind == v.kind && pieces[i].from == v.from + v.bytes;
        whole = goes_on || pieces[i].kind == CLEAN;
        ended |= !goes_on || pieces[i].bytes < each;
        v.bytes = (uint8_t)(v.bytes + (goes_on ? pieces[i].bytes : 0));
    }
    if (!whole)
        v = (struct value){.kind = tainted ? COMPUTED : CLEAN};
    return v;
}

static void write_bytes(struct walk *k, struct state *s, struct term to, struct value v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        struct value piece = part_of(v, i, 1);
        if (s->control && s->blind)
            piece = (struct value){.kind = COMPUTED};
        if (piece.kind == SURE || piece.kind == EQUAL)
            piece.kind = CLEAN;
        set_fact(k, s, to.symbol, to.frame->f, to.offset + i, piece);
    }
}

static struct value read_bytes(struct state *s, struct term from, unsigned bytes)
{
    struct value pieces[16] = {{.kind = CLEAN}};

    for (unsigned i = 0; i < bytes; i++) {
        struct fact *f = fact_at(s, from.symbol, from.offset + i, false);
        pieces[i] = value_in(f);
    }
    return joined(pieces, bytes, 1);
}

static bool on_stack(struct term t)
{
    return t.symbol && (t.symbol->space == SPACE_LOCAL || t.symbol->in_frame);
}

static bool holds_any(const struct state *s, bool memory)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (is_tainted(s->facts[i].value) && (!memory || (s->facts[i].where != s->facts[i].owner)))
            return true;
    return false;
}

/* The stack symbol that an address with an index not known here is computed from. */
static const struct symbol *indexed(const struct walk *k, const struct frame *frame, const struct operand *o, int depth)
{
    struct term t = term_of(k, frame, o, depth);
    const struct inst *in = t.symbol || t.constant ? NULL : writer_of(k, t.frame, t.reg);
    const struct symbol *found = on_stack(t) ? t.symbol : NULL;

    for (int i = 1; in && in->op->kind == ROW_LANE && i < in->operand_count && !found && depth < MOST_DEPTH; i++)
        found = indexed(k, t.frame, &in->operands[i], depth + 4);
    return found;
}

/* ---- the walk ---- */

static uint64_t hash_of(const struct state *s)
{
    uint64_t sum = 0, head[] = {(uintptr_t)s->frame,
                                (uintptr_t)s->origin,
                                (uintptr_t)s->control,
                                s->pc,
                                s->control_end,
                                s->validated * 4u + s->moved * 2u + s->blind,
                                0};

    for (uint32_t i = 0; i < s->count; i++) { /* in any order */
        const struct fact *f = &s->facts[i];
        uint64_t h = (uintptr_t)f->where * 0x9e3779b97f4a7c15u ^ (uint64_t)f->at * 0xc2b2ae3d27d4eb4fu;
        h ^= (f->value.kind | f->value.from << 8 | f->value.bytes << 16 | (uint64_t)f->value.equal[0] << 24 |
              (uint64_t)f->value.equal[1] << 40) *
             0x165667b19e3779f9u;
        h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
        sum += h ^ h >> 32;
    }
    head[6] = sum;
    sum = 14695981039346656037u;
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        sum = ((sum ^ head[i]) * 0x9e3779b97f4a7c15u) ^ ((sum ^ head[i]) >> 31);
    return sum ? sum : 1;
}

static bool is_new(struct walk *k, uint64_t hash)
{
    if (2 * k->seen_count >= k->seen_room) {
        uint32_t old_room = k->seen_room;
        uint64_t *old = k->seen;
        k->seen_room = old_room ? 2 * old_room : 256;
        k->seen = zeroed(k->seen_room, sizeof *k->seen);
        k->seen_count = 0;
        for (uint32_t i = 0; i < old_room; i++)
            if (old[i])
                is_new(k, old[i]);
        free(old);
    }
    uint32_t at = (uint32_t)(hash & (k->seen_room - 1));
    while (k->seen[at] && k->seen[at] != hash)
        at = (at + 1) & (k->seen_room - 1);
    if (k->seen[at])
        return false;
    k->seen[at] = hash;
    k->seen_count++;
    return true;
}

static void go_to(struct walk *k, const struct state *s, uint32_t pc)
{
    struct state *next = zeroed(1, sizeof *next);

    *next = *s;
    next->pc = pc;
    if (next->control == next->frame && next->control_end == pc)
        next->control = NULL;
    if (k->refused || !holds_any(next, false) || pc >= s->frame->f->count || !is_new(k, hash_of(next))) {
        free(next);
        return;
    }
    if (k->todo_count == k->todo_room) {
        k->todo_room = k->todo_room ? 2 * k->todo_room : 64;
        k->todo = realloc(k->todo, k->todo_room * sizeof *k->todo);
        if (!k->todo)
            abort();
    }
    k->todo[k->todo_count++] = next;
}

static const struct frame *frame_below(struct walk *k, const struct frame *above, const struct function *f, uint32_t call)
{
    for (uint32_t i = 0; i < k->frame_count; i++)
        if (k->frames[i]->f == f && k->frames[i]->above == above && k->frames[i]->call == call)
            return k->frames[i];
    if (k->frame_count == sizeof k->frames / sizeof *k->frames) {
        k->refused = true;
        return k->frames[0];
    }
    struct frame *frame = zeroed(1, sizeof *frame);
    *frame = (struct frame){f, above, call};
    return k->frames[k->frame_count++] = frame;
}

/* The bytes [0, …) of one symbol become those of another. */
static void pass(struct walk *k, struct state *s, const struct symbol *from, int64_t at, const struct symbol *to,
                 const struct function *owner)
{
    struct value bytes[64];
    size_t count = to->bytes < 64 ? to->bytes : 64;

    for (size_t i = 0; i < count; i++) {
        struct fact *f = fact_at(s, from, at + (int64_t)i, false);
        bytes[i] = value_in(f);
    }
    for (size_t i = 0; i < count; i++)
        set_fact(k, s, to, owner, (int64_t)i, bytes[i]);
    for (uint32_t i = 0; i < s->count; i++)
        if (s->facts[i].where == from && s->facts[i].at >= at + (int64_t)count && is_tainted(s->facts[i].value))
            k->refused = true;
}

static void clear_symbol(struct state *s, const void *where)
{
    for (uint32_t i = s->count; i-- > 0;)
        if (s->facts[i].where == where)
            s->facts[i] = s->facts[--s->count];
}

static void forget_function(struct state *s, const struct function *f)
{
    for (uint32_t i = s->count; i-- > 0;)
        if (s->facts[i].owner == f)
            s->facts[i] = s->facts[--s->count];
}

static const struct frame *under(struct walk *k, const struct frame *frame, const struct frame *root, const struct frame *above,
                                 uint32_t call)
{
    return frame == root ? frame_below(k, above, root->f, call)
                         : frame_below(k, under(k, frame->above, root, above, call), frame->f, frame->call);
}

static void return_to(struct walk *k, struct state *s, const struct frame *above, uint32_t call)
{
    const struct function *f = s->frame->f;
    const struct operand *list = result_list(&above->f->code[call]);

    for (size_t i = 0; list && i < f->return_count; i++) {
        if (list->parts[i].kind != OPERAND_SYMBOL || f->returns[i]->space == SPACE_REG) {
            k->refused = true;
            return;
        }
        pass(k, s, f->returns[i], 0, list->parts[i].symbol, above->f);
    }
    forget_function(s, f);
    if (s->control == s->frame)
        s->control = NULL;
    s->frame = above;
    go_to(k, s, call + 1);
}

/* By a function, or by any (NULL). */
static bool any_stored(const struct state *s, const struct function *f)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->facts[i].value.kind == STORED && (!f || s->facts[i].owner == f))
            return true;
    return false;
}

static void leave(struct walk *k, struct state *s)
{
    const struct frame *frame = s->frame;
    struct state copy;

    if (any_stored(s, frame->f))
        k->refused = true;
    if (frame->f->is_kernel || k->refused)
        return;
    if (frame->above) {
        return_to(k, s, frame->above, frame->call);
        return;
    }
    k->refused |= frame->f->address_taken;
    for (uint32_t p = 0; p < k->kernel->part_count; p++)
        for (uint32_t pc = 0; pc < k->kernel->parts[p]->count; pc++) {
            const struct call *call = k->kernel->parts[p]->code[pc].call;
            if (!call || call->target != frame->f)
                continue;
            copy = *s;
            const struct frame *above = frame_below(k, NULL, k->kernel->parts[p], 0);
            copy.origin = under(k, s->origin, frame, above, pc);
            copy.frame = frame_below(k, above, frame->f, pc);
            copy.control = NULL;
            k->refused |= within(above, frame) || k->kernel->deep;
            if (!k->refused)
                watch(k, k->watched, copy.origin, &k->load->operands[1], 0);
            return_to(k, &copy, above, pc);
        }
}

static bool points_to_value(struct walk *k, struct state *s, const struct symbol *argument)
{
    for (uint32_t pc = 0; pc < s->frame->f->count; pc++) {
        const struct inst *in = &s->frame->f->code[pc];
        if (in->op != &ops[OP_st] || in->operands[0].kind != OPERAND_ADDRESS || in->operands[0].symbol != argument)
            continue;
        const struct symbol *symbol = indexed(k, s->frame, &in->operands[1], 0);
        for (uint32_t i = 0; symbol && i < s->count; i++)
            if (s->facts[i].where == symbol)
                return true;
    }
    return false;
}

/* Whether a call has anything to do with the value. */
static bool concerns(struct walk *k, struct state *s, const struct inst *in)
{
    const struct operand *list = argument_list(in);

    for (unsigned i = 0; list && i < list->part_count; i++) {
        const struct operand *o = &list->parts[i];
        if (o->kind == OPERAND_REGISTER && is_tainted(value_of(s, o)))
            return true;
        for (uint32_t j = 0; o->kind == OPERAND_SYMBOL && j < s->count; j++)
            if (s->facts[j].where == o->symbol)
                return true;
        if (o->kind == OPERAND_SYMBOL && points_to_value(k, s, o->symbol))
            return true;
    }
    return false;
}

static void call(struct walk *k, struct state *s, const struct inst *in)
{
    const struct operand *list = argument_list(in), *results = result_list(in);
    const struct function *target = in->call->target;
    bool concerned = concerns(k, s, in);
    uint32_t pc = s->pc;

    if (is_guarded(in))
        k->refused = true;
    if ((concerned || s->control) && (!target || k->kernel->deep))
        k->refused = true; /* through a pointer, or to what the driver gives, such as printf */
    if (!concerned && !s->control) {
        for (unsigned i = 0; results && i < results->part_count; i++)
            clear_symbol(s, results->parts[i].symbol);
        go_to(k, s, pc + 1);
        return;
    }
    for (unsigned i = 0; list && i < list->part_count && !k->refused; i++) {
        if (list->parts[i].kind == OPERAND_SYMBOL && target->parameters[i]->space != SPACE_REG)
            pass(k, s, list->parts[i].symbol, list->parts[i].value, target->parameters[i], target);
        else if (list->parts[i].kind != OPERAND_IMMEDIATE)
            k->refused = true;
    }
    if (k->refused)
        return;
    s->frame = frame_below(k, s->frame, target, pc);
    go_to(k, s, 0);
}

static bool reads_value(struct state *s, const struct inst *in)
{
    bool any = is_guarded(in) && is_tainted(register_value(s, in->guard_register));

    for (int i = destinations(in); i < in->operand_count; i++)
        any |= is_tainted(value_of(s, &in->operands[i]));
    return any;
}

static void write_all(struct walk *k, struct state *s, const struct inst *in, struct value v)
{
    for (int i = 0; i < destinations(in) && i < in->operand_count; i++) {
        const struct operand *o = &in->operands[i];
        write_operand(k, s, in, o, v);
        for (unsigned j = 0; o->kind == OPERAND_VECTOR && j < o->part_count; j++)
            write_operand(k, s, in, &o->parts[j], v);
    }
}

static bool is_swap(const struct inst *in)
{
    return in->op == &ops[OP_atom_cas] || in->op == &ops[OP_atom_cas_w];
}

static void atomic(struct walk *k, struct state *s, const struct inst *in)
{
    struct value compared = {.kind = CLEAN}, old = compared;

    if (is_swap(in))
        compared = value_of(s, &in->operands[2]);
    bool whole = compared.kind == COPY && compared.from == 0 && compared.bytes >= in->access_bytes;

    if (whole && !is_guarded(in) && in->access_bytes == k->load->access_bytes && !is_tainted(value_of(s, &in->operands[1])) &&
        !s->moved && same_term(k, term_of(k, s->origin, &k->load->operands[1], 0), term_of(k, s->frame, &in->operands[1], 0), 0)) {
        for (uint32_t i = s->count; i-- > 0;)
            if (s->facts[i].value.kind == OLD || s->facts[i].value.kind == EQUAL)
                s->facts[i] = s->facts[--s->count];
        old = (struct value){OLD, 0, in->access_bytes, {0, 0}};
        s->validated = 0;
        s->control = NULL;
        k->fed = true;
    } else if (s->control || reads_value(s, in)) {
        k->refused = true;
    }
    write_all(k, s, in, old);
}

static void load(struct walk *k, struct state *s, const struct inst *in)
{
    const struct operand *o = &in->operands[0];
    struct term from = term_of(k, s->frame, &in->operands[1], 0);
    const struct symbol *array = on_stack(from) ? NULL : indexed(k, s->frame, &in->operands[1], 0);
    bool computed =
        is_tainted(value_of(s, &in->operands[1])) || (in->space == SPACE_LOCAL && !on_stack(from) && holds_any(s, true));
    unsigned count = o->kind == OPERAND_VECTOR ? o->part_count : 1, each = in->access_bytes / count;

    for (uint32_t i = 0; array && i < s->count; i++)
        computed |= s->facts[i].where == array && is_tainted(s->facts[i].value);
    for (unsigned i = 0; i < count; i++) {
        struct value v = {.kind = computed ? COMPUTED : CLEAN};
        if (on_stack(from) && !computed && in != k->load)
            v = read_bytes(s, (struct term){.frame = from.frame, .symbol = from.symbol, .offset = from.offset + i * each}, each);
        write_operand(k, s, in, o->kind == OPERAND_VECTOR ? &o->parts[i] : o, v);
    }
}

static void store(struct walk *k, struct state *s, const struct inst *in)
{
    const struct operand *o = &in->operands[1];
    struct term to = term_of(k, s->frame, &in->operands[0], 0);
    unsigned count = o->kind == OPERAND_VECTOR ? o->part_count : 1, each = in->access_bytes / count;

    if (on_stack(to) && !is_guarded(in)) {
        for (unsigned i = 0; i < count; i++) {
            struct value v = value_of(s, o->kind == OPERAND_VECTOR ? &o->parts[i] : o);
            write_bytes(k, s, (struct term){.frame = to.frame, .symbol = to.symbol, .offset = to.offset + i * each}, v, each);
        }
        return;
    }
    bool in_array = on_stack(to) || in->space == SPACE_LOCAL || indexed(k, s->frame, &in->operands[0], 0);
    if (is_tainted(value_of(s, &in->operands[0])) || (s->control && !in_array) ||
        (is_guarded(in) && is_tainted(register_value(s, in->guard_register))))
        k->refused = true;
    struct fact *stored = fact_at(s, s->frame->f, in->number, true);
    if (is_tainted(value_of(s, o)) && !stored) {
        set_fact(k, s, s->frame->f, s->frame->f, in->number, (struct value){.kind = STORED});
        watch(k, k->places, s->frame, &in->operands[0], 0);
    } else if (!is_tainted(value_of(s, o)) && stored && !stored->value.from)
        *stored = s->facts[--s->count];
}

static struct value comparison(struct state *s, const struct inst *in)
{
    struct value a = value_of(s, &in->operands[1]), b = value_of(s, &in->operands[2]), v = {.kind = CLEAN};
    bool eq = !strncmp(in->opcode, "setp.eq", 7), ne = !strncmp(in->opcode, "setp.ne", 7);
    bool both = (a.kind == COPY && b.kind == OLD) || (a.kind == OLD && b.kind == COPY);

    if (is_tainted(a) || is_tainted(b))
        v.kind = COMPUTED;
    if ((eq || ne) && both && a.from == b.from && a.bytes == b.bytes && in->operand_count == 3 && in->combine == COMBINE_NONE) {
        v.kind = EQUAL;
        v.equal[eq] = (uint16_t)(((1u << a.bytes) - 1) << a.from);
    }
    return v;
}

static struct value combined(struct state *s, const struct inst *in)
{
    struct value a = value_of(s, &in->operands[1]), b = value_of(s, &in->operands[2]), v = {.kind = CLEAN};

    if (a.kind == EQUAL || b.kind == EQUAL) {
        int known = in->op == &ops[OP_and_pred]; /* all hold where "and" is true, or "or" is false */
        v.kind = is_tainted(a) || is_tainted(b) ? COMPUTED : EQUAL;
        v.equal[known] = a.equal[known] | b.equal[known];
    } else if (is_tainted(a) || is_tainted(b)) {
        v.kind = COMPUTED;
    }
    return v;
}

static struct value negated(struct value v)
{
    uint16_t first = v.equal[0];

    v.equal[0] = v.equal[1];
    v.equal[1] = first;
    v.from = v.kind == SURE ? !v.from : v.from;
    return v;
}

static struct value computed_value(struct state *s, const struct inst *in)
{
    const struct operand *o = in->operands;
    struct value v = {.kind = reads_value(s, in) ? COMPUTED : CLEAN}, parts[4] = {{.kind = CLEAN}};

    if (in->op == &ops[OP_mov_pred] && o[1].kind == OPERAND_IMMEDIATE)
        return (struct value){SURE, o[1].value != 0, 0, {0, 0}};
    if (in->op == &ops[OP_mov] || in->op == &ops[OP_mov_wide] || in->op == &ops[OP_mov_pred] || in->op == &ops[OP_cvt_ii])
        v = value_of(s, &o[1]);
    if (in->op == &ops[OP_cvt_ii])
        v = part_of(v, 0, type_bytes[in->type] < type_bytes[in->type2] ? type_bytes[in->type] : type_bytes[in->type2]);
    if (in->op == &ops[OP_not_pred])
        v = negated(value_of(s, &o[1]));
    if (in->op == &ops[OP_and_pred] || in->op == &ops[OP_or_pred])
        v = combined(s, in);
    if (in->op->kind == ROW_COMPARE && !strncmp(in->opcode, "setp", 4))
        v = comparison(s, in);
    if (in->op == &ops[OP_mov_pack]) {
        for (unsigned i = 0; i < o[1].part_count; i++)
            parts[i] = value_of(s, &o[1].parts[i]);
        v = joined(parts, o[1].part_count, in->bytes);
    }
    if ((in->op == &ops[OP_mov_pred] || in->op == &ops[OP_not_pred]) && o[1].negated)
        v = negated(v);
    return v;
}

static void unpack(struct walk *k, struct state *s, const struct inst *in)
{
    struct value v = value_of(s, &in->operands[1]);

    for (unsigned i = 0; i < in->operands[0].part_count; i++)
        write_operand(k, s, in, &in->operands[0].parts[i], part_of(v, i * in->bytes, in->bytes));
}

/* Does a swap stand between the branch and where its sides meet? */
static bool decides_on_swap(const struct walk *k, const struct function *f, const struct inst *branch)
{
    bool *seen = zeroed(f->count, sizeof *seen), found = false;
    uint32_t *stack = zeroed(2 * (size_t)f->count + 2, sizeof *stack), depth = 0;

    stack[depth++] = branch->number + 1;
    if (branch->target != NO_PC)
        stack[depth++] = branch->target;
    while (depth && !found) {
        uint32_t pc = stack[--depth];
        if (pc >= f->count || pc == branch->reconv_pc || seen[pc])
            continue;
        const struct inst *in = &f->code[pc];
        seen[pc] = true;
        found = is_swap(in) || (in->call && in->call->target && k->swaps[in->call->target->part]);
        bool ends = in->op == &ops[OP_ret] || in->op == &ops[OP_exit_] || in->op == &ops[OP_trap] || in->op == &ops[OP_bra];
        if (in->target != NO_PC)
            stack[depth++] = in->target;
        if (!ends || is_guarded(in))
            stack[depth++] = pc + 1;
    }
    free(seen);
    free(stack);
    return found;
}

static void take_side(struct walk *k, const struct state *s, const struct inst *in, bool taken)
{
    struct state next = *s;
    struct value p = {.kind = CLEAN};
    bool predicate = taken == !in->guard_flip;
    uint32_t whole = (1u << k->load->access_bytes) - 1;

    if (is_guarded(in))
        p = register_value(&next, in->guard_register);
    if (p.kind == SURE && p.from != predicate)
        return;
    if (!is_guarded(in) && !taken)
        return;
    if (p.kind == EQUAL)
        next.validated |= p.equal[predicate];
    if ((next.validated & whole) == whole)
        return; /* the swap went through: all was right */
    if (is_tainted(p) && !next.control) {
        next.control = next.frame;
        next.control_end = in->reconv_pc;
        next.blind = !decides_on_swap(k, s->frame->f, in);
    }
    go_to(k, &next, taken ? in->target : s->pc + 1);
}

/* True if the walk goes on behind it at once. */
static bool step(struct walk *k, struct state *s)
{
    const struct inst *in = &s->frame->f->code[s->pc];
    const struct op *op = in->op;

    if (op == &ops[OP_bra]) {
        take_side(k, s, in, true);
        take_side(k, s, in, false);
        return false;
    }
    if (in->call) {
        call(k, s, in);
        return false;
    }
    if (op == &ops[OP_ret] || op == &ops[OP_exit_] || op == &ops[OP_trap]) {
        if (is_guarded(in))
            go_to(k, s, s->pc + 1);
        leave(k, s);
        return false;
    }
    if (in->targets || op == &ops[OP_alloca_])
        k->refused = true;
    else if (op == &ops[OP_ld])
        load(k, s, in);
    else if (op == &ops[OP_st])
        store(k, s, in);
    else if (op->as == AS_ATOMIC)
        atomic(k, s, in);
    else if (op == &ops[OP_mov_unpack])
        unpack(k, s, in);
    else if (op->kind != ROW_WARP || op == &ops[OP_mov_pack] || op == &ops[OP_mov_wide])
        write_all(k, s, in, computed_value(s, in));
    else if (reads_value(s, in) || (op->as == AS_BARRIER && any_stored(s, NULL)))
        k->refused = true; /* shuffles, votes, copies */
    else
        write_all(k, s, in, (struct value){.kind = CLEAN});
    return !k->refused;
}

static void follow(struct walk *k, struct state *s)
{
    while (!k->refused && s->pc < s->frame->f->count && holds_any(s, false)) {
        if (s->control == s->frame && s->control_end == s->pc)
            s->control = NULL;
        if (++k->steps > MOST_STEPS)
            k->refused = true;
        else if (step(k, s))
            s->pc++;
        else
            return;
    }
}

static void begin(struct walk *k)
{
    struct state *s = zeroed(1, sizeof *s);
    const struct operand *o = &k->load->operands[0];
    unsigned count = o->kind == OPERAND_VECTOR ? o->part_count : 1, each = k->load->access_bytes / count;

    s->frame = s->origin = frame_below(k, NULL, k->reader, 0);
    watch(k, k->watched, s->origin, &k->load->operands[1], 0);
    for (unsigned i = 0; i < count; i++)
        write_operand(k, s, k->load, o->kind == OPERAND_VECTOR ? &o->parts[i] : o,
                      (struct value){COPY, (uint8_t)(i * each), (uint8_t)each, {0, 0}});
    s->moved = false;
    go_to(k, s, k->load->number + 1);
    free(s);
}

static bool is_first_read(struct walk *k, const struct function *f, struct inst *in)
{
    k->reader = f;
    k->load = in;
    k->refused = k->fed = false;
    k->steps = 0;
    for (uint32_t p = 0; p < k->kernel->part_count; p++) {
        memset(k->watched[p], false, k->kernel->parts[p]->reg_count);
        memset(k->places[p], false, k->kernel->parts[p]->reg_count);
    }
    begin(k);
    while (k->todo_count) {
        struct state *s = k->todo[--k->todo_count];
        follow(k, s);
        free(s);
    }
    while (k->frame_count)
        free(k->frames[--k->frame_count]);
    if (k->seen_room)
        memset(k->seen, 0, k->seen_room * sizeof *k->seen);
    k->seen_count = 0;
    return k->fed && !k->refused;
}

static void find_writers(struct walk *k, uint32_t p)
{
    const struct function *f = k->kernel->parts[p];

    k->writer[p] = zeroed(f->reg_count, sizeof **k->writer);
    k->watched[p] = zeroed(f->reg_count, sizeof **k->watched);
    k->places[p] = zeroed(f->reg_count, sizeof **k->places);
    for (size_t r = 0; r < f->reg_count; r++)
        k->writer[p][r] = NOBODY;
    for (uint32_t pc = 0; pc < f->count; pc++)
        for (int i = 0; i < destinations(&f->code[pc]) && i < f->code[pc].operand_count; i++) {
            const struct operand *o = &f->code[pc].operands[i];
            for (unsigned j = 0; j < (o->kind == OPERAND_VECTOR ? o->part_count : 1u); j++) {
                const struct operand *d = o->kind == OPERAND_VECTOR ? &o->parts[j] : o;
                if (d->kind == OPERAND_REGISTER)
                    k->writer[p][d->index] =
                        k->writer[p][d->index] == NOBODY && d == &f->code[pc].operands[0] ? (int64_t)pc : SEVERAL;
            }
        }
}

/* By part, whether it swaps; and the widths that are swapped anywhere, as bits. */
static uint32_t find_swaps(struct walk *k)
{
    uint32_t widths = 0;
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t p = 0; p < k->kernel->part_count; p++)
            for (uint32_t pc = 0; pc < k->kernel->parts[p]->count && !k->swaps[p]; pc++) {
                const struct inst *in = &k->kernel->parts[p]->code[pc];
                if (is_swap(in) || (in->call && in->call->target && k->swaps[in->call->target->part]))
                    k->swaps[p] = changed = true;
            }
    }
    for (uint32_t p = 0; p < k->kernel->part_count; p++)
        for (uint32_t pc = 0; pc < k->kernel->parts[p]->count; pc++)
            if (is_swap(&k->kernel->parts[p]->code[pc]))
                widths |= 1u << k->kernel->parts[p]->code[pc].access_bytes;
    return widths;
}

static bool may_be(const struct inst *in, uint32_t widths)
{
    bool place = in->space == SPACE_GENERIC || in->space == SPACE_GLOBAL || in->space == SPACE_SHARED;

    return in->op == &ops[OP_ld] && place && !in->is_relaxed && !in->is_acquire && !is_guarded(in) && !strstr(in->opcode, ".nc") &&
           widths >> in->access_bytes & 1;
}

void find_first_reads(struct function *kernel)
{
    uint32_t parts = kernel->part_count, widths;
    struct walk k = {.kernel = kernel,
                     .writer = zeroed(parts, sizeof *k.writer),
                     .watched = zeroed(parts, sizeof *k.watched),
                     .places = zeroed(parts, sizeof *k.places),
                     .swaps = zeroed(parts, sizeof *k.swaps)};

    widths = find_swaps(&k);
    for (uint32_t p = 0; widths && p < parts; p++)
        find_writers(&k, p);
    for (uint32_t p = 0; widths && p < parts; p++)
        for (uint32_t pc = 0; pc < kernel->parts[p]->count; pc++) {
            struct inst *in = &kernel->parts[p]->code[pc];
            if (may_be(in, widths))
                in->feeds_cas = is_first_read(&k, kernel->parts[p], in);
        }
    for (uint32_t p = 0; p < parts; p++) {
        free(k.writer[p]);
        free(k.watched[p]);
        free(k.places[p]);
    }
    free(k.writer);
    free(k.watched);
    free(k.places);
    free(k.swaps);
    free(k.todo);
    free(k.seen);
}
