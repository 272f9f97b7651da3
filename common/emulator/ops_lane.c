/* Lane functions: each row of ops.def becomes, a type at a time, one plain loop over the 32 lanes, which the compiler turns into
 * SIMD, in two forms: all lanes, and those of a mask. */
#include "memory.h"
#include "ops.h"
#include <math.h>
#include <string.h>
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-local-typedefs"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wpedantic"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wtautological-constant-out-of-range-compare"
#pragma GCC diagnostic ignored "-Wliteral-conversion"
#pragma GCC diagnostic ignored "-Wabsolute-value"
#pragma GCC diagnostic ignored "-Wpass-failed"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < 32; i++)
#else
/* Destination and sources are the same row or rows apart, never shifted: lanes do not depend on each other. */
#define EACH_LANE _Pragma("GCC ivdep") for (int i = 0; i < 32; i++)
#endif
#endif

/* The C side of PTX's types: value, unsigned and signed of the same width, twice the width, and how a slot stores it. */
#define ALIAS __attribute__((may_alias))
#define TYPE(t, value, unsigned_, signed_, wide_, wide_unsigned, slot)                                                           \
    typedef value C_##t;                                                                                                         \
    typedef unsigned_ U_##t;                                                                                                     \
    typedef signed_ S_##t;                                                                                                       \
    typedef wide_ WIDE_##t;                                                                                                      \
    typedef wide_unsigned WIDEU_##t;                                                                                             \
    typedef slot ALIAS SLOT_##t;
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
TYPE(b8, uint8_t, uint8_t, int8_t, uint16_t, uint16_t, uint32_t)
TYPE(u8, uint8_t, uint8_t, int8_t, uint16_t, uint16_t, uint32_t)
TYPE(s8, int8_t, uint8_t, int8_t, int16_t, uint16_t, uint32_t)
TYPE(b16, uint16_t, uint16_t, int16_t, uint32_t, uint32_t, uint32_t)
TYPE(u16, uint16_t, uint16_t, int16_t, uint32_t, uint32_t, uint32_t)
TYPE(s16, int16_t, uint16_t, int16_t, int32_t, uint32_t, uint32_t)
TYPE(b32, uint32_t, uint32_t, int32_t, uint64_t, uint64_t, uint32_t)
TYPE(u32, uint32_t, uint32_t, int32_t, uint64_t, uint64_t, uint32_t)
TYPE(s32, int32_t, uint32_t, int32_t, int64_t, uint64_t, uint32_t)
TYPE(b64, uint64_t, uint64_t, int64_t, uint128, uint128, uint64_t)
TYPE(u64, uint64_t, uint64_t, int64_t, uint128, uint128, uint64_t)
TYPE(s64, int64_t, uint64_t, int64_t, int128, uint128, uint64_t)
TYPE(f32, float, uint32_t, int32_t, double, double, float)
TYPE(f64, double, uint64_t, int64_t, double, double, double)
typedef uint32_t ALIAS SLOT_pred;

/* What an operand kind of a row means for type t. */
#define KIND(t, kind) KIND_##kind(t)
#define KIND_T(t) t
#define KIND_W(t) WIDER_##t
#define KIND_u32(t) u32
#define KIND_s32(t) s32
#define KIND_pred(t) pred
#define KIND_none(t) none
#define WIDER_u16 u32
#define WIDER_s16 s32
#define WIDER_u32 u64
#define WIDER_s32 s64

/* Lists of types */
#define S32(X, ...) X(s32, __VA_ARGS__)
#define U64(X, ...) X(u64, __VA_ARGS__)
#define S64(X, ...) X(s64, __VA_ARGS__)
#define B32(X, ...) X(b32, __VA_ARGS__)
#define F32(X, ...) X(f32, __VA_ARGS__)
#define F64(X, ...) X(f64, __VA_ARGS__)
#define WORDS(X, ...) X(u32, __VA_ARGS__) X(s32, __VA_ARGS__)
#define UNSIGNED(X, ...) X(u16, __VA_ARGS__) X(u32, __VA_ARGS__) X(u64, __VA_ARGS__)
#define SIGNED(X, ...) X(s16, __VA_ARGS__) X(s32, __VA_ARGS__) X(s64, __VA_ARGS__)
#define INTS(X, ...) UNSIGNED(X, __VA_ARGS__) SIGNED(X, __VA_ARGS__)
#define NARROW(X, ...) X(u16, __VA_ARGS__) X(s16, __VA_ARGS__) X(u32, __VA_ARGS__) X(s32, __VA_ARGS__)
#define BITS(X, ...) X(b16, __VA_ARGS__) X(b32, __VA_ARGS__) X(b64, __VA_ARGS__)
#define WIDEBITS(X, ...) X(b32, __VA_ARGS__) X(b64, __VA_ARGS__)
#define WIDEINTS(X, ...) WORDS(X, __VA_ARGS__) X(u64, __VA_ARGS__) X(s64, __VA_ARGS__)
#define FLOATS(X, ...) X(f32, __VA_ARGS__) X(f64, __VA_ARGS__)
#define NUMBERS(X, ...) INTS(X, __VA_ARGS__) FLOATS(X, __VA_ARGS__)
#define ANY(X, ...) NUMBERS(X, __VA_ARGS__) BITS(X, __VA_ARGS__)
#define MOVES(X, ...) ANY(X, __VA_ARGS__)
#define PARAMETERS(X, ...) ANY(X, __VA_ARGS__) X(b8, __VA_ARGS__) X(u8, __VA_ARGS__) X(s8, __VA_ARGS__)

/* What the values of ops.def use. T, UT and the rest are typedefs inside each function. */
#define BITS_T (8 * (int)sizeof(T))
#define IS_SIGNED_T ((T)-1 < 0)
#define IS_FLOAT_T ((T)0.5 != 0)
#define QUOTIENT(a, b)                                                                                                           \
    _Generic((T)0, uint16_t: quotient_u32, int16_t: quotient_s32, uint32_t: quotient_u32, int32_t: quotient_s32,                 \
             uint64_t: quotient_u64, int64_t: quotient_s64)(a, b)
#define CANONICAL(x) CANONICAL_AS(T, x)
#define CANONICAL_D(x) CANONICAL_AS(D, x)
#define CANONICAL_AS(type, x) _Generic((type)0, float: canonical_f32, default: canonical_f64)(x)
#define FABS(x) _Generic((x), float: fabsf, default: fabs)(x)
#define SQRT(x) _Generic((x), float: sqrtf, default: sqrt)(x)
#define TRUNC(x) _Generic((x), float: truncf, default: trunc)(x)
#define NEAREST(x) _Generic((x), float: rintf, default: rint)(x)
#define FLOOR(x) _Generic((x), float: floorf, default: floor)(x)
#define CEIL(x) _Generic((x), float: ceilf, default: ceil)(x)
#define COPYSIGN(x, y) _Generic((x), float: copysignf, default: copysign)(x, y)
#define IS_SIGNED(type) ((type)-1 < 0)
#define MOST(type) ((type)(IS_SIGNED(type) ? ((uint64_t)1 << (8 * sizeof(type) - 1)) - 1 : UINT64_MAX))
#define LEAST(type) ((type)(IS_SIGNED(type) ? (uint64_t)1 << (8 * sizeof(type) - 1) : 0))
#define CLAMP(type, x) ((int128)(x) < (int128)LEAST(type) ? LEAST(type) : (int128)(x) > (int128)MOST(type) ? MOST(type) : (type)(x))
/* A NaN becomes 0, or where 64 bits take part the integer whose highest bit alone is set (PTX ISA, cvt). */
#define TO_INT(type, x)                                                                                                          \
    ({                                                                                                                           \
        __typeof__(x) value = (x);                                                                                               \
        value != value ? (type)(sizeof(type) == 8 || sizeof value == 8 ? (uint64_t)1 << (8 * sizeof(type) - 1) : 0)              \
        : value <= (__typeof__(x))LEAST(type)         ? LEAST(type)                                                              \
        : value >= (__typeof__(x))MOST(type) + 1      ? MOST(type)                                                               \
                                                      : (type)value;                                                             \
    })

/* a / b as PTX has it: all ones for b = 0; the smallest integer by -1 wraps. SIMD has no integer division, but a double holds 21
 * bits more than these operands, so the quotient of two doubles is too close to the true one to reach the next integer. What does
 * not fit is chosen by masks: a condition around a division keeps compilers from SIMD. */
static inline double double_of(uint32_t x) { return (double)(int32_t)(x ^ 0x80000000u) + 2147483648.0; }
static inline uint32_t quotient_u32(uint32_t a, uint32_t b)
{
    uint32_t small = 0 - (uint32_t)(b < 2), quotient = (uint32_t)(int32_t)(double_of(a) / double_of(b | (small & 2)));
    return (quotient & ~small) | ((a | (b - 1)) & small);
}

static inline int32_t quotient_s32(int32_t a, int32_t b)
{
    uint32_t zero = 0 - (uint32_t)(b == 0), minus = 0 - (uint32_t)(b == -1);
    uint32_t quotient = (uint32_t)(int32_t)((double)a / (double)(int32_t)(((uint32_t)b & ~minus) | (zero & 1) | (minus & 2)));
    return (int32_t)((quotient & ~minus) | ((0 - (uint32_t)a) & minus) | zero);
}

static inline uint64_t quotient_u64(uint64_t a, uint64_t b) { return b == 0 ? UINT64_MAX : a / b; }
static inline int64_t quotient_s64(int64_t a, int64_t b) { return b == 0 ? -1 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; }

static inline float canonical_f32(float x)
{
    static const union { uint32_t bits; float value; } nan = {0x7fffffff};
    return x != x ? nan.value : x;
}

static inline double canonical_f64(double x) { return x; }
static inline int32_t saturate_s32(int64_t x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x; }
static inline int64_t low24(int64_t x, int is_signed) { return is_signed ? (int64_t)((uint64_t)x << 40) >> 40 : x & 0xffffff; }
static inline uint32_t bit_count(uint64_t x) { return (uint32_t)__builtin_popcountll(x); }
static inline uint32_t bit_length(uint64_t x) { return x ? 64u - (uint32_t)__builtin_clzll(x) : 0; }
static inline uint32_t shift_amount(uint32_t length, int bits) { return length ? (uint32_t)bits - length : UINT32_MAX; }

static inline uint64_t bit_reverse(uint64_t x)
{
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(x);
}

/* bfe: `length` bits from `start`; past the top a signed value gives its sign. */
static inline uint64_t field_extract(uint64_t x, uint32_t start, uint32_t length, int bits, int is_signed)
{
    uint64_t value = start < (uint32_t)bits ? x >> start : 0, mask = length < 64 ? ((uint64_t)1 << length) - 1 : UINT64_MAX;
    uint32_t top = start + length > 0 ? start + length - 1 : 0;
    uint64_t sign;

    if (length == 0)
        return 0;
    sign = is_signed && (x >> (top < (uint32_t)bits ? top : (uint32_t)bits - 1) & 1) ? UINT64_MAX : 0;
    if (start >= (uint32_t)bits)
        return sign;
    if (start + length > (uint32_t)bits)
        mask = (uint32_t)bits - start < 64 ? ((uint64_t)1 << ((uint32_t)bits - start)) - 1 : UINT64_MAX;
    return (value & mask) | (sign & ~mask);
}

/* bfi: the low `length` bits of `field` into `base` at `start`. */
static inline uint64_t field_insert(uint64_t field, uint64_t base, uint32_t start, uint32_t length, int bits)
{
    uint64_t mask;

    if (start >= (uint32_t)bits || length == 0)
        return base;
    mask = (length < 64 ? ((uint64_t)1 << length) - 1 : UINT64_MAX) << start;
    return (base & ~mask) | (field << start & mask);
}

static inline uint32_t byte_permute(uint32_t a, uint32_t b, uint32_t selectors)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;

    for (int k = 0; k < 4; k++) {
        uint32_t selector = selectors >> (4 * k) & 15, byte = (uint32_t)(bytes >> (8 * (selector & 7))) & 255;
        if (selector & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * k);
    }
    return result;
}

/* lop3: bit k of `table` is the result where (a, b, c) spells k in binary. */
static inline uint32_t logic3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;

    for (uint32_t k = 0; k < 8; k++)
        if (table >> k & 1)
            result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return result;
}

/* How operands are read and results written. `none` reads nothing. */
#define PASTE(a, b) PASTE_(a, b)
#define PASTE_(a, b) a##b
#define C(kind) PASTE(C_, kind)
#define SLOT(kind) PASTE(SLOT_, kind)
#define POINT(kind, name, n) PASTE(POINT_, kind)(kind, name, n)
#define READ(kind, name) PASTE(READ_, kind)(kind, name)
#define POINT_VALUE(kind, name, n) const SLOT(kind) *row_##name = (const SLOT(kind) *)(regs + in->slot[n]);
#define READ_VALUE(kind, name) const C(kind) name = (C(kind))row_##name[i];
#define POINT_none(kind, name, n)
#define READ_none(kind, name)
#define POINT_pred(kind, name, n) const uint32_t row_##name = *(const SLOT_pred *)(regs + in->slot[n]);
#define READ_pred(kind, name) const uint32_t name = row_##name >> i & 1;
#define POINT_b8 POINT_VALUE
#define POINT_u8 POINT_VALUE
#define POINT_s8 POINT_VALUE
#define POINT_b16 POINT_VALUE
#define POINT_u16 POINT_VALUE
#define POINT_s16 POINT_VALUE
#define POINT_b32 POINT_VALUE
#define POINT_u32 POINT_VALUE
#define POINT_s32 POINT_VALUE
#define POINT_b64 POINT_VALUE
#define POINT_u64 POINT_VALUE
#define POINT_s64 POINT_VALUE
#define POINT_f32 POINT_VALUE
#define POINT_f64 POINT_VALUE
#define READ_b8 READ_VALUE
#define READ_u8 READ_VALUE
#define READ_s8 READ_VALUE
#define READ_b16 READ_VALUE
#define READ_u16 READ_VALUE
#define READ_s16 READ_VALUE
#define READ_b32 READ_VALUE
#define READ_u32 READ_VALUE
#define READ_s32 READ_VALUE
#define READ_b64 READ_VALUE
#define READ_u64 READ_VALUE
#define READ_s64 READ_VALUE
#define READ_f32 READ_VALUE
#define READ_f64 READ_VALUE

#define TYPEDEFS(t)                                                                                                              \
    typedef C_##t T;                                                                                                             \
    typedef U_##t UT;                                                                                                            \
    typedef S_##t ST;                                                                                                            \
    typedef WIDE_##t WIDE_T;                                                                                                     \
    typedef WIDEU_##t WIDE_UT;

/* The two functions of one row and type. */
#define LANE_FUNCTIONS(name, typedefs, kd, ka, kb, kc, ke, ...)                                                                  \
    static void name(char *regs, const struct inst *in)                                                                          \
    {                                                                                                                            \
        typedefs SLOT(kd) *d = (SLOT(kd) *)(regs + in->slot[0]);                                                                 \
        POINT(ka, a, 1) POINT(kb, b, 2) POINT(kc, c, 3) POINT(ke, e, 4) EACH_LANE                                                \
        {                                                                                                                        \
            READ(ka, a) READ(kb, b) READ(kc, c) READ(ke, e) d[i] = (SLOT(kd))(C(kd))(__VA_ARGS__);                               \
        }                                                                                                                        \
    }                                                                                                                            \
    static void name##_masked(char *regs, const struct inst *in, const struct lanes *lanes)                                      \
    {                                                                                                                            \
        typedefs SLOT(kd) *d = (SLOT(kd) *)(regs + in->slot[0]);                                                                 \
        POINT(ka, a, 1) POINT(kb, b, 2) POINT(kc, c, 3) POINT(ke, e, 4) EACH_LANE                                                \
        {                                                                                                                        \
            READ(ka, a) READ(kb, b) READ(kc, c) READ(ke, e) SLOT(kd) value = (SLOT(kd))(C(kd))(__VA_ARGS__);                     \
            d[i] = lanes->mask[i] ? value : d[i];                                                                                \
        }                                                                                                                        \
    }

/* setp: a comparison's 32 bits, combined with a third predicate where the opcode says so, into one or two predicates. */
static inline void set_predicates(char *regs, const struct inst *in, uint32_t compared, uint32_t lanes)
{
    SLOT_pred *p = (SLOT_pred *)(regs + in->slot[0]), *q = (SLOT_pred *)(regs + in->slot[4]);
    uint32_t other = *(const SLOT_pred *)(regs + in->slot[3]) ^ (in->flip ? UINT32_MAX : 0), opposite = ~compared;

    switch (in->combine) {
    case COMBINE_AND: compared &= other, opposite &= other; break;
    case COMBINE_OR: compared |= other, opposite |= other; break;
    case COMBINE_XOR: compared ^= other, opposite ^= other; break;
    }
    *p = (*p & ~lanes) | (compared & lanes);
    if (in->slot[4])
        *q = (*q & ~lanes) | (opposite & lanes);
}

#define COMPARE_FUNCTIONS(t, id, ...)                                                                                            \
    static inline uint32_t id##_##t##_bits(const char *regs, const struct inst *in)                                              \
    {                                                                                                                            \
        TYPEDEFS(t) POINT(t, a, 1) POINT(t, b, 2) uint32_t bits = 0;                                                             \
        EACH_LANE                                                                                                                \
        {                                                                                                                        \
            READ(t, a) READ(t, b) bits |= (__VA_ARGS__) ? (uint32_t)1 << i : 0;                                                  \
        }                                                                                                                        \
        return bits;                                                                                                             \
    }                                                                                                                            \
    static void id##_##t(char *regs, const struct inst *in)                                                                      \
    {                                                                                                                            \
        set_predicates(regs, in, id##_##t##_bits(regs, in), UINT32_MAX);                                                         \
    }                                                                                                                            \
    static void id##_##t##_masked(char *regs, const struct inst *in, const struct lanes *lanes)                                  \
    {                                                                                                                            \
        set_predicates(regs, in, id##_##t##_bits(regs, in), lanes->bits);                                                        \
    }

#define PREDICATE_FUNCTIONS(id, ...)                                                                                             \
    static inline uint32_t id##_bits(const char *regs, const struct inst *in)                                                    \
    {                                                                                                                            \
        uint32_t a = *(const SLOT_pred *)(regs + in->slot[1]), b = *(const SLOT_pred *)(regs + in->slot[2]);                     \
        return __VA_ARGS__;                                                                                                      \
    }                                                                                                                            \
    static void id##_pred(char *regs, const struct inst *in) { *(SLOT_pred *)(regs + in->slot[0]) = id##_bits(regs, in); }       \
    static void id##_pred_masked(char *regs, const struct inst *in, const struct lanes *lanes)                                   \
    {                                                                                                                            \
        SLOT_pred *d = (SLOT_pred *)(regs + in->slot[0]);                                                                        \
        *d = (*d & ~lanes->bits) | (id##_bits(regs, in) & lanes->bits);                                                          \
    }

/* The functions… */
#define LANE_TYPE(t, id, kd, ka, kb, kc, ke, ...)                                                                                \
    LANE_FUNCTIONS(id##_##t, TYPEDEFS(t), KIND(t, kd), KIND(t, ka), KIND(t, kb), KIND(t, kc), KIND(t, ke), __VA_ARGS__)
#define LANE1(id, mnemonic, types, allow, as, kd, ka, ...) types(LANE_TYPE, id, kd, ka, none, none, none, __VA_ARGS__)
#define LANE2(id, mnemonic, types, allow, as, kd, ka, kb, ...) types(LANE_TYPE, id, kd, ka, kb, none, none, __VA_ARGS__)
#define LANE3(id, mnemonic, types, allow, as, kd, ka, kb, kc, ...) types(LANE_TYPE, id, kd, ka, kb, kc, none, __VA_ARGS__)
#define LANE4(id, mnemonic, types, allow, as, kd, ka, kb, kc, ke, ...) types(LANE_TYPE, id, kd, ka, kb, kc, ke, __VA_ARGS__)
#define COMPARE(id, mnemonic, types, ...) types(COMPARE_FUNCTIONS, id, __VA_ARGS__)
#define PREDICATE1(id, mnemonic, ...) PREDICATE_FUNCTIONS(id, ((void)b, __VA_ARGS__))
#define PREDICATE2(id, mnemonic, ...) PREDICATE_FUNCTIONS(id, __VA_ARGS__)
/* CONVERT: for each source type the destinations in turn */
#define D_BYTES_AND_INTS(X, s, id, ...)                                                                                          \
    X(u8, s, id, __VA_ARGS__) X(s8, s, id, __VA_ARGS__) X(u16, s, id, __VA_ARGS__) X(s16, s, id, __VA_ARGS__)                    \
    X(u32, s, id, __VA_ARGS__) X(s32, s, id, __VA_ARGS__) X(u64, s, id, __VA_ARGS__) X(s64, s, id, __VA_ARGS__)
#define D_INTS D_BYTES_AND_INTS
#define D_FLOATS(X, s, id, ...) X(f32, s, id, __VA_ARGS__) X(f64, s, id, __VA_ARGS__)
#define CONVERT_INTS(X, ...) X(u8, __VA_ARGS__) X(s8, __VA_ARGS__) INTS(X, __VA_ARGS__)
#define CONVERT_FLOATS(X, ...) FLOATS(X, __VA_ARGS__)
#define CONVERT_PAIR(d_, s, id, ...)                                                                                             \
    LANE_FUNCTIONS(id##_##d_##_##s, TYPEDEFS(s) typedef C_##d_ D;, d_, s, none, none, none, __VA_ARGS__)
#define CONVERT_SOURCE(s, destinations, id, ...) destinations(CONVERT_PAIR, s, id, __VA_ARGS__)
#define CONVERT(id, mnemonic, destinations, sources, allow, ...) CONVERT_##sources(CONVERT_SOURCE, destinations, id, __VA_ARGS__)
#define ATOMIC(...)
#define WARP(...)
#include "ops.def"

/* …and the table of them. */
#define OF(kind) PASTE(T_, kind)
#define LANE_ENTRY(t, id, kd, ka, kb, kc, ke)                                                                                    \
    {OP_##id, {T_##t, T_none}, {OF(KIND(t, kd)), OF(KIND(t, ka)), OF(KIND(t, kb)), OF(KIND(t, kc)), OF(KIND(t, ke))},            \
     id##_##t, id##_##t##_masked},
#define LANE1(id, mnemonic, types, allow, as, kd, ka, ...) types(LANE_ENTRY, id, kd, ka, none, none, none)
#define LANE2(id, mnemonic, types, allow, as, kd, ka, kb, ...) types(LANE_ENTRY, id, kd, ka, kb, none, none)
#define LANE3(id, mnemonic, types, allow, as, kd, ka, kb, kc, ...) types(LANE_ENTRY, id, kd, ka, kb, kc, none)
#define LANE4(id, mnemonic, types, allow, as, kd, ka, kb, kc, ke, ...) types(LANE_ENTRY, id, kd, ka, kb, kc, ke)
#define COMPARE_ENTRY(t, id) {OP_##id, {T_##t, T_none}, {T_pred, T_##t, T_##t, T_pred}, id##_##t, id##_##t##_masked},
#define COMPARE(id, mnemonic, types, ...) types(COMPARE_ENTRY, id)
#define PREDICATE1(id, ...) {OP_##id, {T_none, T_none}, {T_pred, T_pred}, id##_pred, id##_pred_masked},
#define PREDICATE2(id, ...) {OP_##id, {T_none, T_none}, {T_pred, T_pred, T_pred}, id##_pred, id##_pred_masked},
#define CONVERT_ENTRY(d_, s, id, ...) {OP_##id, {T_##d_, T_##s}, {T_##d_, T_##s}, id##_##d_##_##s, id##_##d_##_##s##_masked},
#define CONVERT_ENTRIES(s, destinations, id) destinations(CONVERT_ENTRY, s, id, )
#define CONVERT(id, mnemonic, destinations, sources, allow, ...) CONVERT_##sources(CONVERT_ENTRIES, destinations, id)
#define ATOMIC(...)
#define WARP(...)

const struct variant variants[] = {
#include "ops.def"
    {.op = OP_COUNT}};
