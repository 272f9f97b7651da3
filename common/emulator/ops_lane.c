/* Lane functions: each row of ops.def becomes, a type at a time, one plain loop over the 32 lanes, which the compiler turns into
 * SIMD, in two forms: all lanes, and those of a mask. */
#include "memory.h"
#include "ops.h"
#include "ops_half.h"
#include "simd.h"
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
#define EACH(lanes) _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < (lanes); i++)
#else
/* Destination and sources are the same row or rows apart, never shifted: lanes do not depend on each other. */
#define EACH(lanes) _Pragma("GCC ivdep") for (int i = 0; i < (lanes); i++)
#endif
#endif

/* The C side of PTX's types: value, unsigned and signed of the same width, twice the width, and how a slot stores it. A pair
 * (f16x2) is two lanes of half the width: its row is walked as 64 of them. Half floats are floats until they are stored. */
#define ALIAS __attribute__((may_alias))
#define TYPE(t, value, unsigned_, signed_, wide_, wide_unsigned, slot)                                                           \
    typedef value C_##t;                                                                                                         \
    typedef unsigned_ U_##t;                                                                                                     \
    typedef signed_ S_##t;                                                                                                       \
    typedef wide_ WIDE_##t;                                                                                                      \
    typedef wide_unsigned WIDEU_##t;                                                                                             \
    typedef slot ALIAS SLOT_##t;                                                                                                 \
    enum { LANES_##t = sizeof(slot) == 2 ? 64 : 32 };
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
TYPE(f16, float, uint32_t, int32_t, double, double, uint32_t)
TYPE(bf16, float, uint32_t, int32_t, double, double, uint32_t)
TYPE(f16x2, float, uint32_t, int32_t, double, double, uint16_t)
TYPE(bf16x2, float, uint32_t, int32_t, double, double, uint16_t)
TYPE(u16x2, uint16_t, uint16_t, int16_t, uint32_t, uint32_t, uint16_t)
TYPE(s16x2, int16_t, uint16_t, int16_t, int32_t, uint32_t, uint16_t)
TYPE(none, int32_t, uint32_t, int32_t, int64_t, uint64_t, uint32_t)
typedef uint32_t ALIAS SLOT_pred;

/* What an operand kind of a row means for type t. */
#define KIND(t, kind) KIND_##kind(t)
#define KIND_T(t) t
#define KIND_W(t) WIDER_##t
#define KIND_u32(t) u32
#define KIND_s32(t) s32
#define KIND_f32(t) f32
#define KIND_b16(t) b16
#define KIND_b32(t) b32
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
#define F16(X, ...) X(f16, __VA_ARGS__) X(f16x2, __VA_ARGS__)
#define BF16(X, ...) X(bf16, __VA_ARGS__) X(bf16x2, __VA_ARGS__)
#define HALVES(X, ...) X(f16, __VA_ARGS__) X(bf16, __VA_ARGS__)
#define PAIRS(X, ...) X(f16x2, __VA_ARGS__) X(bf16x2, __VA_ARGS__)
#define REALS(X, ...) FLOATS(X, __VA_ARGS__) HALVES(X, __VA_ARGS__) PAIRS(X, __VA_ARGS__)
#define INT_PAIRS(X, ...) X(u16x2, __VA_ARGS__) X(s16x2, __VA_ARGS__)
#define S16X2(X, ...) X(s16x2, __VA_ARGS__)
#define UNTYPED(X, ...) X(none, __VA_ARGS__)
#define NUMBERS(X, ...) INTS(X, __VA_ARGS__) FLOATS(X, __VA_ARGS__)
#define ANY(X, ...) NUMBERS(X, __VA_ARGS__) BITS(X, __VA_ARGS__)
#define ORDERED(X, ...) INTS(X, __VA_ARGS__) REALS(X, __VA_ARGS__)
#define COMPARED(X, ...) ORDERED(X, __VA_ARGS__) BITS(X, __VA_ARGS__)
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
#define LEAST_NORMAL (sizeof(T) == 4 ? 0x1p-126 : 0x1p-1022)
#define LOWER(x, y) ((x) != (x) ? (y) : (y) != (y) ? (x) : (x) < (y) || ((x) == (y) && signbit(x)) ? (x) : (y))
#define HIGHER(x, y) ((x) != (x) ? (y) : (y) != (y) ? (x) : (x) > (y) || ((x) == (y) && signbit(y)) ? (x) : (y))
#define XORSIGN(x) CANONICAL(signbit(a) != signbit(b) ? -(x) : (x)) /* the sign is that of a * b */
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

/* All lanes often divide by one number: then a shift or a multiplication does it. The reciprocal is made larger by 2^-50, so that rounding
 * leaves no product below the true quotient where that is whole; above, it is less than the distance to the next. 0: they do not, or
 * the number is one that quotient_… treats apart. */
static inline bool all_are(const uint32_t *row, uint32_t value)
{
    int32_t same[32];

    EACH(32) same[i] = row[i] == value ? -1 : 0;
    return signs_of_32(same) == UINT32_MAX;
}

static inline double reciprocal_of(double x) { return 1 / x * (1 + 0x1p-50); }
static inline double reciprocal_u32(const void *row)
{
    uint32_t x = *(const uint32_t *)row;
    return x >= 2 && all_are(row, x) ? reciprocal_of(x) : 0;
}

static inline double reciprocal_s32(const void *row)
{
    int32_t x = *(const int32_t *)row;
    return x + 1u >= 3 && all_are(row, (uint32_t)x) ? reciprocal_of(x) : 0;
}

static inline int shift_u32(const void *row)
{
    uint32_t x = *(const uint32_t *)row;
    return x && (x & (x - 1)) == 0 && all_are(row, x) ? __builtin_ctz(x) : -1;
}

static inline int no_shift(const void *row) { return -1; }
static inline double no_reciprocal(const void *row) { return 0; }
static inline double double_s32(int32_t x) { return x; }
static inline double double_any(uint64_t x) { return 0; }
#define POWER_OF_TWO(row) _Generic((T)0, uint32_t: shift_u32, default: no_shift)(row) /* -1: no power of two for all */
#define RECIPROCAL(row) _Generic((T)0, uint32_t: reciprocal_u32, int32_t: reciprocal_s32, default: no_reciprocal)(row)
#define TIMES(a, reciprocal) (T)(int32_t)(_Generic((T)0, uint32_t: double_of, int32_t: double_s32, default: double_any)(a) * (reciprocal))

static inline float canonical_f32(float x)
{
    static const union { uint32_t bits; float value; } nan = {0x7fffffff};
    return x != x ? nan.value : x;
}

static inline double canonical_f64(double x) { return x; }
static inline int32_t saturate_s32(int64_t x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x; }
static inline int64_t low24(int64_t x, int is_signed) { return is_signed ? (int64_t)((uint64_t)x << 40) >> 40 : x & 0xffffff; }
static inline uint64_t product24(int64_t a, int64_t b, int is_signed)
{
    return (uint64_t)(low24(a, is_signed) * low24(b, is_signed));
}
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

/* bfe: `length` bits from `start`; past the top a signed value gives its sign. Of both, the manual has the low 8 bits count; for 64
 * bits, which no GPU does in one instruction, all count. */
#define FIELD(x) (BITS_T == 64 ? (x) < 64 ? (x) : 64 : (x) & 255)
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

/* dp4a: the sum of four products of bytes; dp2a: of the two halves of x with the two low bytes of y. */
static inline int32_t byte_of(uint32_t x, int k, int is_signed)
{
    return is_signed ? (int8_t)(x >> 8 * k) : (uint8_t)(x >> 8 * k);
}

static inline uint32_t dot_bytes(uint32_t x, uint32_t y, int x_signed, int y_signed)
{
    uint32_t sum = 0;

    for (int k = 0; k < 4; k++)
        sum += (uint32_t)(byte_of(x, k, x_signed) * byte_of(y, k, y_signed));
    return sum;
}

static inline uint32_t dot_shorts(uint32_t x, uint32_t y, int x_signed, int y_signed)
{
    uint32_t sum = 0;

    for (int k = 0; k < 2; k++)
        sum += (uint32_t)((x_signed ? (int16_t)(x >> 16 * k) : (int32_t)(x >> 16 * k & 0xffff)) * byte_of(y, k, y_signed));
    return sum;
}

/* vabsdiff4 and vabsdiff2: distances of the parts, and their sum. */
static inline uint32_t distances(uint32_t x, uint32_t y, int bits)
{
    uint32_t result = 0, most = (1u << bits) - 1;

    for (int at = 0; at < 32; at += bits) {
        uint32_t p = x >> at & most, q = y >> at & most;
        result |= (p < q ? q - p : p - q) << at;
    }
    return result;
}

static inline uint32_t distance_bytes(uint32_t x, uint32_t y) { return distances(x, y, 8); }
static inline uint32_t distance_shorts(uint32_t x, uint32_t y) { return distances(x, y, 16); }

static inline uint32_t sum_of(uint32_t x, int bits)
{
    uint32_t sum = 0;

    for (int at = 0; at < 32; at += bits)
        sum += x >> at & ((1u << bits) - 1);
    return sum;
}

/* fns: the |n|-th set bit of x from `base` on, upwards for n > 0, downwards for n < 0; n = 0: `base` itself if it is set. */
static inline uint32_t nth_set_bit(uint32_t x, uint32_t base, int32_t n)
{
    uint32_t left = n < 0 ? 0 - (uint32_t)n : (uint32_t)n, step = n < 0 ? UINT32_MAX : 1;

    if (n == 0)
        return base < 32 && (x >> base & 1) ? base : UINT32_MAX;
    for (; base < 32; base += step)
        if ((x >> base & 1) && --left == 0)
            return base;
    return UINT32_MAX;
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
#define READ_F16(kind, name) const float name = (float)widen_f16(row_##name[i]);
#define READ_BF16(kind, name) const float name = widen_bf16(row_##name[i]);
#define STORED(kind, ...) PASTE(STORED_, kind)(kind, __VA_ARGS__)
#define STORED_VALUE(kind, ...) (SLOT(kind))(C(kind))(__VA_ARGS__)
#define STORED_F16(kind, ...) (SLOT(kind))narrow_to_f16(__VA_ARGS__, in->round)
#define STORED_BF16(kind, ...) (SLOT(kind))narrow_to_bf16(__VA_ARGS__, in->round)
#define LANES(kind) PASTE(LANES_, kind)
#define LANE_OF(kind, i) ((i) / (LANES(kind) / 32))
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
#define POINT_u16x2 POINT_VALUE
#define POINT_s16x2 POINT_VALUE
#define POINT_f16 POINT_VALUE
#define POINT_f16x2 POINT_VALUE
#define POINT_bf16 POINT_VALUE
#define POINT_bf16x2 POINT_VALUE
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
#define READ_u16x2 READ_VALUE
#define READ_s16x2 READ_VALUE
#define READ_f16 READ_F16
#define READ_f16x2 READ_F16
#define READ_bf16 READ_BF16
#define READ_bf16x2 READ_BF16
#define STORED_b8 STORED_VALUE
#define STORED_u8 STORED_VALUE
#define STORED_s8 STORED_VALUE
#define STORED_b16 STORED_VALUE
#define STORED_u16 STORED_VALUE
#define STORED_s16 STORED_VALUE
#define STORED_b32 STORED_VALUE
#define STORED_u32 STORED_VALUE
#define STORED_s32 STORED_VALUE
#define STORED_b64 STORED_VALUE
#define STORED_u64 STORED_VALUE
#define STORED_s64 STORED_VALUE
#define STORED_f32 STORED_VALUE
#define STORED_f64 STORED_VALUE
#define STORED_u16x2 STORED_VALUE
#define STORED_s16x2 STORED_VALUE
#define STORED_f16 STORED_F16
#define STORED_f16x2 STORED_F16
#define STORED_bf16 STORED_BF16
#define STORED_bf16x2 STORED_BF16

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
        POINT(ka, a, 1) POINT(kb, b, 2) POINT(kc, c, 3) POINT(ke, e, 4) EACH(LANES(kd))                                          \
        {                                                                                                                        \
            READ(ka, a) READ(kb, b) READ(kc, c) READ(ke, e) d[i] = STORED(kd, __VA_ARGS__);                                      \
        }                                                                                                                        \
    }                                                                                                                            \
    static void name##_masked(char *regs, const struct inst *in, const struct lanes *lanes)                                      \
    {                                                                                                                            \
        typedefs SLOT(kd) *d = (SLOT(kd) *)(regs + in->slot[0]);                                                                 \
        POINT(ka, a, 1) POINT(kb, b, 2) POINT(kc, c, 3) POINT(ke, e, 4) EACH(LANES(kd))                                          \
        {                                                                                                                        \
            READ(ka, a) READ(kb, b) READ(kc, c) READ(ke, e) SLOT(kd) value = STORED(kd, __VA_ARGS__);                            \
            d[i] = lanes->mask[LANE_OF(kd, i)] ? value : d[i];                                                                   \
        }                                                                                                                        \
    }

/* A division: all lanes by one power of two, by one number, or each by its own. */
#define DIVISION_LANES(t, quotient_, ...)                                                                                        \
    EACH(32)                                                                                                                     \
    {                                                                                                                            \
        READ(t, a) READ(t, b)(void) b;                                                                                           \
        const T quotient = quotient_;                                                                                            \
        d[i] = STORED(t, __VA_ARGS__);                                                                                           \
    }
#define DIVISION_FUNCTIONS(t, id, ...)                                                                                           \
    LANE_FUNCTIONS(id##_##t##_each, TYPEDEFS(t), t, t, t, none, none, ({                                                         \
                       const T quotient = QUOTIENT(a, b);                                                                        \
                       __VA_ARGS__;                                                                                              \
                   }))                                                                                                           \
    static void id##_##t(char *regs, const struct inst *in)                                                                      \
    {                                                                                                                            \
        TYPEDEFS(t) SLOT(t) *d = (SLOT(t) *)(regs + in->slot[0]);                                                                \
        POINT(t, a, 1) POINT(t, b, 2) const int shift = POWER_OF_TWO(row_b);                                                     \
        if (shift >= 0) {                                                                                                        \
            DIVISION_LANES(t, (T)(a >> shift), __VA_ARGS__)                                                                      \
            return;                                                                                                              \
        }                                                                                                                        \
        const double reciprocal = RECIPROCAL(row_b);                                                                             \
        if (reciprocal != 0)                                                                                                     \
            DIVISION_LANES(t, TIMES(a, reciprocal), __VA_ARGS__)                                                                 \
        else                                                                                                                     \
            id##_##t##_each(regs, in);                                                                                           \
    }

/* A shift: all lanes by one amount that stands in the program, or each by its own. */
#define SHIFT_FUNCTIONS(t, id, ...)                                                                                              \
    LANE_FUNCTIONS(id##_##t##_each, TYPEDEFS(t), t, t, u32, none, none, __VA_ARGS__)                                             \
    static void id##_##t(char *regs, const struct inst *in)                                                                      \
    {                                                                                                                            \
        TYPEDEFS(t) SLOT(t) *d = (SLOT(t) *)(regs + in->slot[0]);                                                                \
        const uint32_t b = *(const uint32_t *)(regs + in->slot[2]);                                                              \
        if (!in->one_amount) {                                                                                                   \
            id##_##t##_each(regs, in);                                                                                           \
            return;                                                                                                              \
        }                                                                                                                        \
        POINT(t, a, 1) EACH(32) { READ(t, a) d[i] = STORED(t, __VA_ARGS__); }                                                    \
    }

/* A carry row: `total` is as wide as two registers. Its low half is the result; the bit above is the lane's carry (or borrow) for
 * the next carry row, if this one keeps it. */
#define CARRY_FUNCTIONS(t, id, keeps, kc, total)                                                                                 \
    static inline void id##_##t##_lanes(char *regs, const struct inst *in, const struct lanes *lanes)                            \
    {                                                                                                                            \
        TYPEDEFS(t) SLOT(t) *d = (SLOT(t) *)(regs + in->slot[0]);                                                                \
        uint32_t ALIAS *carries = (uint32_t ALIAS *)(regs + in->slot[5]);                                                        \
        POINT(t, a, 1) POINT(t, b, 2) POINT(kc, c, 3) EACH(32)                                                                   \
        {                                                                                                                        \
            READ(t, a) READ(t, b) READ(kc, c) const uint32_t carry = carries[i];                                                 \
            const WIDE_UT sum = (WIDE_UT)(total);                                                                                \
            const bool takes_part = !lanes || lanes->mask[i];                                                                    \
            d[i] = takes_part ? (SLOT(t))(UT)sum : d[i];                                                                         \
            carries[i] = takes_part && (keeps) ? (uint32_t)(sum >> BITS_T) & 1 : carry;                                          \
        }                                                                                                                        \
    }                                                                                                                            \
    static void id##_##t(char *regs, const struct inst *in) { id##_##t##_lanes(regs, in, NULL); }                                \
    static void id##_##t##_masked(char *regs, const struct inst *in, const struct lanes *lanes)                                  \
    {                                                                                                                            \
        id##_##t##_lanes(regs, in, lanes);                                                                                       \
    }

/* setp and set: a comparison's 32 bits, combined with a third predicate where the opcode says so, into one or two predicates. */
static inline uint32_t combined(uint32_t compared, const char *regs, const struct inst *in)
{
    uint32_t other = *(const SLOT_pred *)(regs + in->slot[3]) ^ (in->flip ? UINT32_MAX : 0);

    switch (in->combine) {
    case COMBINE_AND: return compared & other;
    case COMBINE_OR: return compared | other;
    case COMBINE_XOR: return compared ^ other;
    default: return compared;
    }
}

static __attribute__((noinline)) void set_combined(char *regs, const struct inst *in, uint32_t compared, uint32_t second,
                                                  uint32_t lanes)
{
    SLOT_pred *p = (SLOT_pred *)(regs + in->slot[0]), *q = (SLOT_pred *)(regs + in->slot[4]);
    uint32_t first = combined(compared, regs, in);

    second = combined(second, regs, in);
    *p = (*p & ~lanes) | (first & lanes);
    if (in->slot[4])
        *q = (*q & ~lanes) | (second & lanes);
}

static inline __attribute__((always_inline)) void set_predicates(char *regs, const struct inst *in, uint32_t compared, uint32_t second, uint32_t lanes)
{
    SLOT_pred *p = (SLOT_pred *)(regs + in->slot[0]);

    if (in->combine || in->slot[4])
        set_combined(regs, in, compared, second, lanes);
    else /* usual: one predicate, nothing combined */
        *p = (*p & ~lanes) | (compared & lanes);
}

/* Every second bit of a pair's 64: the low halves' or the high ones'. */
static inline uint32_t every_second(uint64_t bits)
{
    uint32_t result = 0;

    for (int i = 0; i < 32; i++)
        result |= (uint32_t)(bits >> 2 * i & 1) << i;
    return result;
}

static inline void set_pair_predicates(char *regs, const struct inst *in, uint64_t bits, uint32_t lanes)
{
    set_predicates(regs, in, every_second(bits), every_second(bits >> 1), lanes);
}

/* set: true is 1.0 of a float type, all ones of an integer type; a pair gives two. */
static void set_values(char *regs, const struct inst *in, uint64_t bits, uint32_t lanes)
{
    bool pairs = in->type2 == T_f16x2 || in->type2 == T_bf16x2;
    uint32_t one = in->type == T_f32                             ? 0x3f800000
                   : in->type == T_f16 || in->type == T_f16x2   ? 0x3c00
                   : in->type == T_bf16 || in->type == T_bf16x2 ? 0x3f80
                   : pairs                                      ? 0xffff
                                                                : UINT32_MAX;
    uint32_t ALIAS *d = (uint32_t ALIAS *)(regs + in->slot[0]);
    uint32_t low = combined(pairs ? every_second(bits) : (uint32_t)bits, regs, in);
    uint32_t high = pairs ? combined(every_second(bits >> 1), regs, in) : 0;

    for (int i = 0; i < 32; i++)
        if (lanes >> i & 1)
            d[i] = (low >> i & 1 ? one : 0) | (high >> i & 1 ? one << 16 : 0);
}

/* Comparisons make numbers as wide as what they compare, so that SIMD needs no other step. */
#define SIGNS(flags)                                                                                                             \
    (sizeof *(flags) == 8             ? signs_of_64((const int64_t *)(const void *)(flags))                                      \
     : sizeof(flags) == 4 * 32        ? signs_of_32((const int32_t *)(const void *)(flags))                                      \
                                      : signs_of_32((const int32_t *)(const void *)(flags)) |                                    \
                                            (uint64_t)signs_of_32((const int32_t *)(const void *)(flags) + 32) << 32)

/* The comparison's bits, and what setp and set make of them. */
#define BITS_FUNCTION(t, id, kb, ...)                                                                                            \
    typedef __typeof__(__builtin_choose_expr(LANES_##t == 64, (uint64_t)0, (uint32_t)0)) id##_##t##_mask;                        \
    static inline id##_##t##_mask id##_##t##_bits(const char *regs, const struct inst *in)                                       \
    {                                                                                                                            \
        TYPEDEFS(t) POINT(t, a, 1) POINT(kb, b, 2)                                                                               \
        __typeof__(__builtin_choose_expr(sizeof(SLOT_##t) == 8, (int64_t)0, (int32_t)0)) flags[LANES_##t];                       \
        EACH(LANES_##t)                                                                                                          \
        {                                                                                                                        \
            READ(t, a) READ(kb, b) flags[i] = (__VA_ARGS__) ? -1 : 0;                                                            \
        }                                                                                                                        \
        return (id##_##t##_mask)SIGNS(flags);                                                                                    \
    }
#define SETP_FUNCTION(t, id, name, parameters, lanes)                                                                            \
    static void name parameters                                                                                                  \
    {                                                                                                                            \
        id##_##t##_mask bits = id##_##t##_bits(regs, in);                                                                        \
        if (LANES_##t == 64)                                                                                                     \
            set_pair_predicates(regs, in, bits, lanes);                                                                          \
        else                                                                                                                     \
            set_predicates(regs, in, (uint32_t)bits, ~(uint32_t)bits, lanes);                                                    \
    }
#define TEST_FUNCTIONS(t, id, kb, ...)                                                                                           \
    BITS_FUNCTION(t, id, kb, __VA_ARGS__)                                                                                        \
    SETP_FUNCTION(t, id, id##_##t, (char *regs, const struct inst *in), UINT32_MAX)                                              \
    SETP_FUNCTION(t, id, id##_##t##_masked, (char *regs, const struct inst *in, const struct lanes *lanes), lanes->bits)
#define COMPARE_FUNCTIONS(t, id, ...)                                                                                            \
    TEST_FUNCTIONS(t, id, t, __VA_ARGS__)                                                                                        \
    static void id##_##t##_set(char *regs, const struct inst *in) { set_values(regs, in, id##_##t##_bits(regs, in), UINT32_MAX); } \
    static void id##_##t##_set_masked(char *regs, const struct inst *in, const struct lanes *lanes)                              \
    {                                                                                                                            \
        set_values(regs, in, id##_##t##_bits(regs, in), lanes->bits);                                                            \
    }

#define PREDICATE_FUNCTIONS(id, ...)                                                                                             \
    static inline uint32_t id##_bits(const char *regs, const struct inst *in)                                                    \
    {                                                                                                                            \
        uint32_t a = *(const SLOT_pred *)(regs + in->slot[1]) ^ (0u - (in->flip >> 1 & 1));                                     \
        uint32_t b = *(const SLOT_pred *)(regs + in->slot[2]) ^ (0u - (in->flip >> 2 & 1));                                     \
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
#define TEST(id, mnemonic, types, ...) types(TEST_FUNCTIONS, id, none, __VA_ARGS__)
#define DIVISION(id, mnemonic, types, ...) types(DIVISION_FUNCTIONS, id, __VA_ARGS__)
#define SHIFT(id, mnemonic, types, ...) types(SHIFT_FUNCTIONS, id, __VA_ARGS__)
#define CARRY2(id, mnemonic, keeps, total) WIDEINTS(CARRY_FUNCTIONS, id, keeps, none, total)
#define CARRY3(id, mnemonic, keeps, total) WIDEINTS(CARRY3_TYPE, id, keeps, total)
#define CARRY3_TYPE(t, id, keeps, total) CARRY_FUNCTIONS(t, id, keeps, t, total)
#define PREDICATE1(id, mnemonic, ...) PREDICATE_FUNCTIONS(id, ((void)b, __VA_ARGS__))
#define PREDICATE2(id, mnemonic, ...) PREDICATE_FUNCTIONS(id, __VA_ARGS__)
/* CONVERT: for each source type the destinations in turn */
#define D_BYTES_AND_INTS(X, s, id, ...)                                                                                          \
    X(u8, s, id, __VA_ARGS__) X(s8, s, id, __VA_ARGS__) X(u16, s, id, __VA_ARGS__) X(s16, s, id, __VA_ARGS__)                    \
    X(u32, s, id, __VA_ARGS__) X(s32, s, id, __VA_ARGS__) X(u64, s, id, __VA_ARGS__) X(s64, s, id, __VA_ARGS__)
#define D_INTS D_BYTES_AND_INTS
/* .sat between integers: only where it can change a value. */
#define D_CLAMPED(X, s, id, ...) D_CLAMPED_##s(X, s, id, __VA_ARGS__)
#define D_CLAMPED_u8(X, s, id, ...) X(s8, s, id, __VA_ARGS__)
#define D_CLAMPED_u16(X, s, id, ...) X(u8, s, id, __VA_ARGS__) X(s8, s, id, __VA_ARGS__) X(s16, s, id, __VA_ARGS__)
#define D_CLAMPED_u32(X, s, id, ...) X(u16, s, id, __VA_ARGS__) X(s32, s, id, __VA_ARGS__) D_CLAMPED_u16(X, s, id, __VA_ARGS__)
#define D_CLAMPED_u64(X, s, id, ...) X(u32, s, id, __VA_ARGS__) X(s64, s, id, __VA_ARGS__) D_CLAMPED_u32(X, s, id, __VA_ARGS__)
#define D_CLAMPED_s8(X, s, id, ...) X(u8, s, id, __VA_ARGS__) UNSIGNED(X, s, id, __VA_ARGS__)
#define D_CLAMPED_s16(X, s, id, ...) X(s8, s, id, __VA_ARGS__) D_CLAMPED_s8(X, s, id, __VA_ARGS__)
#define D_CLAMPED_s32(X, s, id, ...) X(s16, s, id, __VA_ARGS__) D_CLAMPED_s16(X, s, id, __VA_ARGS__)
#define D_CLAMPED_s64(X, s, id, ...) X(s32, s, id, __VA_ARGS__) D_CLAMPED_s32(X, s, id, __VA_ARGS__)
#define D_WHOLE D_INTS
#define D_FLOATS(X, s, id, ...) X(f32, s, id, __VA_ARGS__) X(f64, s, id, __VA_ARGS__)
#define D_SAME(X, s, id, ...) X(s, s, id, __VA_ARGS__)
#define D_HALVES(X, s, id, ...) X(f16, s, id, __VA_ARGS__) X(bf16, s, id, __VA_ARGS__)
#define CONVERT_INTS(X, ...) X(u8, __VA_ARGS__) X(s8, __VA_ARGS__) INTS(X, __VA_ARGS__)
#define CONVERT_FLOATS(X, ...) FLOATS(X, __VA_ARGS__)
#define CONVERT_F32(X, ...) X(f32, __VA_ARGS__)
#define CONVERT_HALVES(X, ...) HALVES(X, __VA_ARGS__)
#define CONVERT_F16(X, ...) X(f16, __VA_ARGS__)
#define CONVERT_BF16(X, ...) X(bf16, __VA_ARGS__)
#define CONVERT_REALS(X, ...) FLOATS(X, __VA_ARGS__) HALVES(X, __VA_ARGS__)
#define CONVERT_BYTES(X, ...) X(u8, __VA_ARGS__) X(s8, __VA_ARGS__)
#define CONVERT_UNSIGNED(X, ...) UNSIGNED(X, __VA_ARGS__)
#define CONVERT_SIGNED(X, ...) SIGNED(X, __VA_ARGS__)
#define CONVERT_PAIR(d_, s, id, ...)                                                                                             \
    LANE_FUNCTIONS(id##_##d_##_##s, TYPEDEFS(s) typedef C_##d_ D;, d_, s, none, none, none, __VA_ARGS__)
#define CONVERT_SOURCE(s, destinations, id, ...) destinations(CONVERT_PAIR, s, id, __VA_ARGS__)
#define CONVERT(id, mnemonic, destinations, sources, allow, ...) CONVERT_##sources(CONVERT_SOURCE, destinations, id, __VA_ARGS__)
#define RECODE(id, mnemonic, d_, s, kd, ka, kb, allow, ...) LANE_FUNCTIONS(id##_##d_##_##s, , kd, ka, kb, none, none, __VA_ARGS__)
/* CHOOSE: the type of the operand that decides, then as LANE3 */
#define CHOOSE_TYPE(t, id, kc, ...) LANE_FUNCTIONS(id##_##t, TYPEDEFS(t), t, t, t, kc, none, __VA_ARGS__)
#define CHOOSE(id, mnemonic, types, kc, allow, ...) types(CHOOSE_TYPE, id, kc, __VA_ARGS__)
#define ATOMIC(...)
#define WARP(...)
#include "ops.def"

/* what set may give for a comparison of each type */
#define D_SET_WORDS(X, s, id) X(u32, s, id) X(s32, s, id)
#define D_SET_32(X, s, id) D_SET_WORDS(X, s, id) X(f32, s, id)
#define D_SET_16(X, s, id) D_SET_WORDS(X, s, id) X(u16, s, id) X(s16, s, id) X(s, s, id)
#define D_SET_2(X, s, id) D_SET_WORDS(X, s, id) X(s, s, id)
#define D_SET_b16 D_SET_32
#define D_SET_b32 D_SET_32
#define D_SET_b64 D_SET_32
#define D_SET_u16 D_SET_32
#define D_SET_u32 D_SET_32
#define D_SET_u64 D_SET_32
#define D_SET_s16 D_SET_32
#define D_SET_s32 D_SET_32
#define D_SET_s64 D_SET_32
#define D_SET_f32 D_SET_32
#define D_SET_f64 D_SET_32
#define D_SET_f16 D_SET_16
#define D_SET_bf16 D_SET_16
#define D_SET_f16x2 D_SET_2
#define D_SET_bf16x2 D_SET_2

/* …and the table of them. */
#define OF(kind) PASTE(T_, kind)
#define LANE_ENTRY(t, id, kd, ka, kb, kc, ke)                                                                                    \
    {OP_##id, {T_##t, T_none}, {OF(KIND(t, kd)), OF(KIND(t, ka)), OF(KIND(t, kb)), OF(KIND(t, kc)), OF(KIND(t, ke))},            \
     id##_##t, id##_##t##_masked},
#define LANE1(id, mnemonic, types, allow, as, kd, ka, ...) types(LANE_ENTRY, id, kd, ka, none, none, none)
#define LANE2(id, mnemonic, types, allow, as, kd, ka, kb, ...) types(LANE_ENTRY, id, kd, ka, kb, none, none)
#define LANE3(id, mnemonic, types, allow, as, kd, ka, kb, kc, ...) types(LANE_ENTRY, id, kd, ka, kb, kc, none)
#define LANE4(id, mnemonic, types, allow, as, kd, ka, kb, kc, ke, ...) types(LANE_ENTRY, id, kd, ka, kb, kc, ke)
#define COMPARE_ENTRY(t, id) {OP_setp_##id, {T_##t, T_none}, {T_pred, T_##t, T_##t, T_pred}, id##_##t, id##_##t##_masked},
#define SET_ENTRY(d_, t, id) {OP_set_##id, {T_##d_, T_##t}, {T_##d_, T_##t, T_##t}, id##_##t##_set, id##_##t##_set_masked},
#define SET_ENTRIES(t, id) PASTE(D_SET_, t)(SET_ENTRY, t, id)
#define COMPARE(id, mnemonic, types, ...) types(COMPARE_ENTRY, id) types(SET_ENTRIES, id)
#define TEST_ENTRY(t, id) {OP_##id, {T_##t, T_none}, {T_pred, T_##t}, id##_##t, id##_##t##_masked},
#define TEST(id, mnemonic, types, ...) types(TEST_ENTRY, id)
#define CARRY_ENTRY(t, id, kc) {OP_##id, {T_##t, T_none}, {T_##t, T_##t, T_##t, PASTE(T_, kc)}, id##_##t, id##_##t##_masked},
#define CARRY3_ENTRY(t, id) CARRY_ENTRY(t, id, t)
#define DIVISION_ENTRY(t, id) {OP_##id, {T_##t, T_none}, {T_##t, T_##t, T_##t}, id##_##t, id##_##t##_each_masked},
#define DIVISION(id, mnemonic, types, ...) types(DIVISION_ENTRY, id)
#define SHIFT_ENTRY(t, id) {OP_##id, {T_##t, T_none}, {T_##t, T_##t, T_u32}, id##_##t, id##_##t##_each_masked},
#define SHIFT(id, mnemonic, types, ...) types(SHIFT_ENTRY, id)
#define CARRY2(id, mnemonic, keeps, total) WIDEINTS(CARRY_ENTRY, id, none)
#define CARRY3(id, mnemonic, keeps, total) WIDEINTS(CARRY3_ENTRY, id)
#define RECODE(id, mnemonic, d_, s, kd, ka, kb, allow, ...)                                                                      \
    {OP_##id, {T_##d_, T_##s}, {T_##kd, T_##ka, T_##kb}, id##_##d_##_##s, id##_##d_##_##s##_masked},
#define CHOOSE_ENTRY(t, id, kc) {OP_##id, {T_##t, T_##kc}, {T_##t, T_##t, T_##t, T_##kc}, id##_##t, id##_##t##_masked},
#define CHOOSE(id, mnemonic, types, kc, allow, ...) types(CHOOSE_ENTRY, id, kc)
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
