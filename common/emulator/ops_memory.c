/* Warp rows that read and write memory: loads, stores, atomics; and moves between one wide register and several narrow ones. */
#include "access_row.h"
#include "ops_half.h"
#include "simd.h"
#include <math.h>
#include <string.h>

/* Loads and stores of one element a lane. The switch is outside the loop, so each case is a plain gather or scatter. */
#define PLACE (near ? a->host_start + a->near[i] : a->host[i])
#define GATHER_LANE(from, to)                                                                                              \
    {                                                                                                                            \
        from value;                                                                                                              \
        memcpy(&value, PLACE + at, sizeof value);                                                                          \
        to widened = (to)value;                                                                                                  \
        memcpy(row + sizeof widened * i, &widened, sizeof widened);                                                              \
    }
#define GATHER(from, to)                                                                                                         \
    if (a->mask == UINT32_MAX && near)                                                                                           \
        for (uint32_t i = 0; i < WARP_SIZE; i++)                                                                                 \
            GATHER_LANE(from, to)                                                                                          \
    else                                                                                                                         \
        EACH_OF(a->mask) GATHER_LANE(from, to)                                                                             \
    break

static void load_element(char *row, const struct access *a, const struct inst *in, size_t at)
{
    const bool is_signed = type_is_signed((enum type)in->type), near = a->shape == SHAPE_NEAR;

    switch (in->bytes * 4 + (in->element_lane_bytes == 8) * 2 + is_signed) {
    case 4: GATHER(uint8_t, uint32_t);
    case 5: GATHER(int8_t, int32_t);
    case 6: GATHER(uint8_t, uint64_t);
    case 7: GATHER(int8_t, int64_t);
    case 8: GATHER(uint16_t, uint32_t);
    case 9: GATHER(int16_t, int32_t);
    case 10: GATHER(uint16_t, uint64_t);
    case 11: GATHER(int16_t, int64_t);
    case 16:
    case 17:
        if (a->mask == UINT32_MAX && near) {
            gather_32(row, a->host_start + at, a->near);
            break;
        }
        GATHER(uint32_t, uint32_t);
    case 18: GATHER(uint32_t, uint64_t);
    case 19: GATHER(int32_t, int64_t);
    default: GATHER(uint64_t, uint64_t);
    }
}

#define SCATTER(type, lane)                                                                                                      \
    EACH_OF(a->mask)                                                                                                             \
    {                                                                                                                            \
        lane value;                                                                                                              \
        memcpy(&value, row + sizeof value * i, sizeof value);                                                                    \
        type narrowed = (type)value;                                                                                             \
        memcpy(PLACE + at, &narrowed, sizeof narrowed);                                                                    \
    }                                                                                                                            \
    break

static void store_element(const char *row, const struct access *a, const struct inst *in, size_t at)
{
    const bool near = a->shape == SHAPE_NEAR;

    switch (in->bytes * 2 + (in->element_lane_bytes == 8)) {
    case 2: SCATTER(uint8_t, uint32_t);
    case 3: SCATTER(uint8_t, uint64_t);
    case 4: SCATTER(uint16_t, uint32_t);
    case 5: SCATTER(uint16_t, uint64_t);
    case 8: SCATTER(uint32_t, uint32_t);
    case 9: SCATTER(uint32_t, uint64_t);
    default: SCATTER(uint64_t, uint64_t);
    }
}

/* The lanes of a row, all in one copy or those of the mask. */
static void load_row(struct warp *w, char *to, const char *from, unsigned lane_bytes, uint32_t mask)
{
    struct lanes others;

    if (mask != UINT32_MAX)
        load_lanes(to, from, lane_bytes, warp_lanes(w, mask, &others));
    else if (lane_bytes == 4)
        memcpy(to, from, 4 * WARP_SIZE);
    else
        memcpy(to, from, 8 * WARP_SIZE);
}

static void store_row(struct warp *w, char *to, const char *from, unsigned lane_bytes, uint32_t mask)
{
    struct lanes others;

    if (mask != UINT32_MAX)
        store_lanes(to, from, lane_bytes, warp_lanes(w, mask, &others));
    else if (lane_bytes == 4)
        memcpy(to, from, 4 * WARP_SIZE);
    else
        memcpy(to, from, 8 * WARP_SIZE);
}

static __attribute__((noinline)) int load_apart(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct access a;

    if (!access_begin_short(w, in, mask, &a))
        return WARP_STOP;
    for (unsigned k = 0; k < in->vector; k++)
        load_element(w->regs + in->slot[k], &a, in, (size_t)k * in->bytes);
    return WARP_NEXT;
}

static __attribute__((noinline)) int store_apart(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct access a;

    if (!access_begin_short(w, in, mask, &a))
        return WARP_STOP;
    for (unsigned k = 0; k < in->vector; k++)
        store_element(w->regs + in->slot[k], &a, in, (size_t)k * in->bytes);
    return WARP_NEXT;
}

/* Words into 64-bit registers. */
static void load_wider(uint64_t *to, const char *from, bool is_signed, uint32_t mask)
{
    int32_t word[WARP_SIZE];

    if (mask == UINT32_MAX) {
        memcpy(word, from, sizeof word);
        for (int i = 0; i < WARP_SIZE; i++)
            to[i] = is_signed ? (uint64_t)(int64_t)word[i] : (uint32_t)word[i];
        return;
    }
    EACH_OF(mask)
    {
        memcpy(word, from + 4 * i, 4);
        to[i] = is_signed ? (uint64_t)(int64_t)word[0] : (uint32_t)word[0];
    }
}

int warp_load(struct warp *w, const struct inst *in, uint32_t mask)
{
    const char *from = access_row(w, in, mask);

    if (!from)
        return load_apart(w, in, mask);
    if (in->bytes == in->element_lane_bytes)
        load_row(w, w->regs + in->slot[0], from, in->bytes, mask);
    else
        load_wider(warp_row64(w, in->slot[0]), from, type_is_signed((enum type)in->type), mask);
    return WARP_NEXT;
}

int warp_store(struct warp *w, const struct inst *in, uint32_t mask)
{
    char *to = access_row(w, in, mask);

    if (!to)
        return store_apart(w, in, mask);
    store_row(w, to, w->regs + in->slot[0], in->bytes, mask);
    return WARP_NEXT;
}

/* Atomics: lane by lane in lane order, each as one atomic operation of the host. */

typedef uint64_t atomic_fn(enum type type, uint64_t old, uint64_t a, uint64_t b);

static inline uint32_t flushed(uint32_t bits) { return bits & 0x7f800000 ? bits : bits & 0x80000000; }
static uint64_t change_add_flushed(enum type type, uint64_t old, uint64_t a, uint64_t b);

static uint64_t lane_value(struct warp *w, uint32_t slot, unsigned bytes, uint32_t lane)
{
    return bytes == 8 ? warp_row64(w, slot)[lane] : warp_row32(w, slot)[lane];
}

#define EXCHANGE_LOOP(type_)                                                                                                     \
    {                                                                                                                            \
        type_ *place = (type_ *)(void *)host, seen = __atomic_load_n(place, __ATOMIC_SEQ_CST);                                   \
        while (!__atomic_compare_exchange_n(place, &seen, (type_)change(type, seen, a, b), false, __ATOMIC_SEQ_CST,              \
                                            __ATOMIC_SEQ_CST)) {                                                                 \
        }                                                                                                                        \
        return seen;                                                                                                             \
    }

static uint64_t atomic_at(char *host, unsigned bytes, enum type type, atomic_fn *change, uint64_t a, uint64_t b)
{
    if (bytes == 8)
        EXCHANGE_LOOP(uint64_t)
    if (bytes == 4)
        EXCHANGE_LOOP(uint32_t)
    EXCHANGE_LOOP(uint16_t)
}

static enum space space_of_lane(const struct access *a, uint32_t lane)
{
    return a->shape == SHAPE_MIXED ? (enum space)a->space_of[lane] : a->space;
}

static int atomic(struct warp *w, const struct inst *in, uint32_t mask, atomic_fn *change)
{
    struct access a;
    bool returns = in->op->signature[0] == 'd', may_flush = in->type == T_f32;

    if (!access_begin(w, in, mask, &a))
        return WARP_STOP;
    EACH_OF(mask)
    {
        uint64_t operand = lane_value(w, in->slot[2], in->bytes, i);
        uint64_t second = strchr(in->op->signature, 'b') ? lane_value(w, in->slot[3], in->bytes, i) : 0;
        atomic_fn *how = may_flush && space_of_lane(&a, i) == SPACE_GLOBAL ? change_add_flushed : change;
        uint64_t old = atomic_at(a.host[i], in->bytes, (enum type)in->type, how, operand, second);
        if (returns && in->bytes == 8)
            warp_row64(w, in->slot[0])[i] = old;
        else if (returns)
            warp_row32(w, in->slot[0])[i] = (uint32_t)old;
    }
    return WARP_NEXT;
}

/* Where it is done in global memory, subnormal floats count as zeros, and one that comes out becomes a zero; elsewhere not. */
static uint64_t add_floats(uint64_t a, uint64_t b, bool flush)
{
    float x = bits_float(flush ? flushed((uint32_t)a) : (uint32_t)a), y = bits_float(flush ? flushed((uint32_t)b) : (uint32_t)b);
    uint32_t bits;

    x += y;
    memcpy(&bits, &x, sizeof bits);
    return x != x ? 0x7fffffffu : flush ? flushed(bits) : bits;
}

static uint64_t add_doubles(uint64_t a, uint64_t b)
{
    double x, y;

    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&a, &x, sizeof a);
    return a;
}

static uint64_t add_half(enum type type, uint64_t a, uint64_t b)
{
    return type == T_f16 || type == T_f16x2 ? narrow_to_f16(widen_f16((uint32_t)a) + widen_f16((uint32_t)b), ROUND_RN)
                                            : narrow_to_bf16(widen_bf16((uint16_t)a) + widen_bf16((uint16_t)b), ROUND_RN);
}

static uint64_t add_halves(enum type type, uint64_t a, uint64_t b)
{
    uint64_t low = add_half(type, a & 0xffff, b & 0xffff);

    return type_bytes[type] == 2 ? low : low | add_half(type, a >> 16 & 0xffff, b >> 16 & 0xffff) << 16;
}

/* The lower or the higher: a number rather than a NaN, -0 below +0. */
static uint64_t choose_half(enum type type, uint64_t a, uint64_t b, bool lower)
{
    bool is_f16 = type == T_f16 || type == T_f16x2;
    double x = is_f16 ? widen_f16((uint32_t)a) : widen_bf16((uint16_t)a), y = is_f16 ? widen_f16((uint32_t)b) : widen_bf16((uint16_t)b);

    if (x != x || y != y)
        return x == x ? a : y == y ? b : 0x7fff;
    return (x < y || (x == y && signbit(x))) == lower ? a : b;
}

static uint64_t choose_halves(enum type type, uint64_t a, uint64_t b, bool lower)
{
    uint64_t low = choose_half(type, a & 0xffff, b & 0xffff, lower);

    return type_bytes[type] == 2 ? low : low | choose_half(type, a >> 16 & 0xffff, b >> 16 & 0xffff, lower) << 16;
}

static bool less(enum type type, uint64_t a, uint64_t b)
{
    switch (type) {
    case T_s32: return (int32_t)a < (int32_t)b;
    case T_s64: return (int64_t)a < (int64_t)b;
    default: return a < b;
    }
}

#define CHANGE(name, ...)                                                                                                        \
    static uint64_t change_##name(enum type type, uint64_t old, uint64_t a, uint64_t b)                                          \
    {                                                                                                                            \
        (void)type, (void)old, (void)a, (void)b;                                                                                            \
        return __VA_ARGS__;                                                                                                      \
    }                                                                                                                            \
    int warp_atomic_##name(struct warp *w, const struct inst *in, uint32_t mask) { return atomic(w, in, mask, change_##name); }
CHANGE(add, type == T_f32 ? add_floats(old, a, false) : type == T_f64 ? add_doubles(old, a) : old + a)
CHANGE(add_half, add_halves(type, old, a))
CHANGE(min, less(type, a, old) ? a : old)
CHANGE(max, less(type, old, a) ? a : old)
CHANGE(and, old & a)
CHANGE(or, old | a)
CHANGE(xor, old ^ a)
CHANGE(inc, (uint32_t)old >= (uint32_t)a ? 0 : old + 1)
CHANGE(dec, (uint32_t)old == 0 || (uint32_t)old > (uint32_t)a ? a : old - 1)
CHANGE(exch, a)
CHANGE(cas, old == (type_bytes[type] == 8 ? a : type_bytes[type] == 4 ? (uint32_t)a : (uint16_t)a) ? b : old)

static uint64_t change_add_flushed(enum type type, uint64_t old, uint64_t a, uint64_t b)
{
    (void)type, (void)b;
    return add_floats(old, a, true);
}

/* On vectors: an atomic operation for every element, from the first to the last. What an element of a lane gives is written when all
 * are done, for one register may be given and taken. */
static int atomic_vector(struct warp *w, const struct inst *in, uint32_t mask, atomic_fn *change)
{
    struct access a;
    uint64_t old[MOST_PARTS];
    bool returns = in->op->signature[0] == 'V';

    if (!access_begin(w, in, mask, &a))
        return WARP_STOP;
    EACH_OF(mask)
    {
        if (space_of_lane(&a, i) != SPACE_GLOBAL)
            return warp_fault(w, in, (int)i, 717, "add up an element at a time", "'%s' reaches %s memory: vectors have atomic operations "
                              "in global memory alone", in->opcode, space_names[space_of_lane(&a, i)]);
        for (unsigned k = 0; k < in->vector; k++)
            old[k] = atomic_at(a.host[i] + k * in->bytes, in->bytes, (enum type)in->type, change,
                               lane_value(w, in->parts->taken[k], in->bytes, i), 0);
        for (unsigned k = 0; returns && k < in->vector; k++)
            warp_row32(w, in->parts->given[k])[i] = (uint32_t)old[k];
    }
    return WARP_NEXT;
}

#define CHANGE_VECTOR(name, ...)                                                                                                 \
    static uint64_t change_##name##_vector(enum type type, uint64_t old, uint64_t a, uint64_t b)                                 \
    {                                                                                                                            \
        (void)type, (void)b;                                                                                                     \
        return __VA_ARGS__;                                                                                                      \
    }                                                                                                                            \
    int warp_atomic_##name##_vector(struct warp *w, const struct inst *in, uint32_t mask)                                        \
    {                                                                                                                            \
        return atomic_vector(w, in, mask, change_##name##_vector);                                                               \
    }
CHANGE_VECTOR(add, add_floats(old, a, true))
CHANGE_VECTOR(add_half, add_halves(type, old, a))
CHANGE_VECTOR(min_half, choose_halves(type, a, old, true))
CHANGE_VECTOR(max_half, choose_halves(type, a, old, false))

/* 128 bits: a row for each half. They exclude each other by a lock; with narrower ones at the same place PTX has them race. */
static int atomic_wide(struct warp *w, const struct inst *in, uint32_t mask, bool compares)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct access a;

    if (!access_begin(w, in, mask, &a))
        return WARP_STOP;
    EACH_OF(mask)
    {
        uint64_t first[2], second[2], old[2];
        for (uint32_t k = 0; k < 2; k++) {
            first[k] = warp_row64(w, in->slot[2] + WIDE_HALF * k)[i];
            second[k] = compares ? warp_row64(w, in->slot[3] + WIDE_HALF * k)[i] : 0;
        }
        pthread_mutex_lock(&lock);
        memcpy(old, a.host[i], sizeof old);
        if (!compares || !memcmp(old, first, sizeof old))
            memcpy(a.host[i], compares ? second : first, sizeof old);
        pthread_mutex_unlock(&lock);
        for (uint32_t k = 0; k < 2; k++)
            warp_row64(w, in->slot[0] + WIDE_HALF * k)[i] = old[k];
    }
    return WARP_NEXT;
}

int warp_atomic_exch_wide(struct warp *w, const struct inst *in, uint32_t mask) { return atomic_wide(w, in, mask, false); }
int warp_atomic_cas_wide(struct warp *w, const struct inst *in, uint32_t mask) { return atomic_wide(w, in, mask, true); }

int warp_move_wide(struct warp *w, const struct inst *in, uint32_t mask)
{
    for (uint32_t k = 0; k < 2; k++)
        EACH_OF(mask)
            warp_row64(w, in->slot[0] + WIDE_HALF * k)[i] = warp_row64(w, in->slot[2] + WIDE_HALF * k)[i];
    return WARP_NEXT;
}

/* isspacep: does a generic address point into the space? */
static int is_space(struct warp *w, const struct inst *in, uint32_t mask, uint64_t window)
{
    const uint64_t *address = warp_row64(w, in->slot[2]);
    uint32_t *p = warp_predicate(w, in->slot[0]), bits = 0;

    EACH_OF(mask)
    {
        uint64_t top = address[i] & WINDOW_MASK;
        bool in_other = top == WINDOW_SHARED || top == WINDOW_LOCAL || top == WINDOW_PARAM;
        bits |= (uint32_t)(window ? top == window : !in_other) << i;
    }
    *p = (*p & ~mask) | bits;
    return WARP_NEXT;
}

int warp_is_global(struct warp *w, const struct inst *in, uint32_t mask) { return is_space(w, in, mask, 0); }
int warp_is_shared(struct warp *w, const struct inst *in, uint32_t mask) { return is_space(w, in, mask, WINDOW_SHARED); }
int warp_is_local(struct warp *w, const struct inst *in, uint32_t mask) { return is_space(w, in, mask, WINDOW_LOCAL); }

int warp_is_param(struct warp *w, const struct inst *in, uint32_t mask) { return is_space(w, in, mask, WINDOW_PARAM); }

int warp_is_const(struct warp *w, const struct inst *in, uint32_t mask)
{
    const uint64_t *address = warp_row64(w, in->slot[2]);
    uint32_t *p = warp_predicate(w, in->slot[0]), bits = 0;

    EACH_OF(mask)
    {
        const struct allocation *found = memory_find(address[i]);
        bits |= (uint32_t)(found && found->kind == MEMORY_CONSTANT) << i;
    }
    *p = (*p & ~mask) | bits;
    return WARP_NEXT;
}

/* mov.b64 %rd, {%r1, %r2} and back: parts in memory order, the first lowest. Usually two words, of all lanes. */
static bool is_two_words(const struct inst *in, uint32_t mask)
{
    return mask == UINT32_MAX && in->vector == 2 && in->bytes == 4 && in->element_lane_bytes == 4 && type_bytes[in->type2] == 8;
}

int warp_pack(struct warp *w, const struct inst *in, uint32_t mask)
{
    const uint32_t *low = warp_row32(w, in->slot[0]), *high = warp_row32(w, in->slot[1]);
    uint64_t *both = warp_row64(w, in->slot[4]);
    unsigned whole_bytes = type_bytes[in->type2];

    if (is_two_words(in, mask)) {
        for (int i = 0; i < WARP_SIZE; i++)
            both[i] = low[i] | (uint64_t)high[i] << 32;
        return WARP_NEXT;
    }
    EACH_OF(mask)
    {
        uint64_t whole[2] = {0, 0};
        for (unsigned k = 0; k < in->vector; k++) {
            uint64_t part = lane_value(w, in->slot[k], in->element_lane_bytes, i);
            unsigned at = in->bytes * k;
            whole[at / 8] |= (part & UINT64_MAX >> (64 - 8 * in->bytes)) << 8 * (at % 8);
        }
        if (whole_bytes < 8)
            warp_row32(w, in->slot[4])[i] = (uint32_t)whole[0];
        for (unsigned half = 0; half < whole_bytes / 8; half++)
            warp_row64(w, in->slot[4] + WIDE_HALF * half)[i] = whole[half];
    }
    return WARP_NEXT;
}

int warp_unpack(struct warp *w, const struct inst *in, uint32_t mask)
{
    const uint64_t *both = warp_row64(w, in->slot[4]);
    uint32_t *low = warp_row32(w, in->slot[0]), *high = warp_row32(w, in->slot[1]);
    unsigned whole_bytes = type_bytes[in->type2];

    if (is_two_words(in, mask)) {
        for (int i = 0; i < WARP_SIZE; i++) {
            low[i] = (uint32_t)both[i];
            high[i] = (uint32_t)(both[i] >> 32);
        }
        return WARP_NEXT;
    }
    EACH_OF(mask)
    {
        uint64_t whole[2] = {lane_value(w, in->slot[4], whole_bytes < 8 ? 4 : 8, i), 0};
        if (whole_bytes == 16)
            whole[1] = warp_row64(w, in->slot[4] + WIDE_HALF)[i];
        for (unsigned k = 0; k < in->vector; k++) {
            unsigned at = in->bytes * k;
            uint64_t part = whole[at / 8] >> 8 * (at % 8) & UINT64_MAX >> (64 - 8 * in->bytes);
            if (in->element_lane_bytes == 8)
                warp_row64(w, in->slot[k])[i] = part;
            else
                warp_row32(w, in->slot[k])[i] = (uint32_t)part;
        }
    }
    return WARP_NEXT;
}

/* The emulator has no clock: these give the warp's instruction count, which grows and is the same in every run. */
int warp_clock(struct warp *w, const struct inst *in, uint32_t mask)
{
    EACH_OF(mask)
    {
        if (in->bytes == 8)
            warp_row64(w, in->slot[0])[i] = w->issued;
        else
            warp_row32(w, in->slot[0])[i] = (uint32_t)w->issued;
    }
    return WARP_NEXT;
}
