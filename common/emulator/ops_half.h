/* f16 and bf16 as lanes see them: a double, which holds every value of both, rounded once when it is stored. Also the 8-bit
 * formats e4m3 and e5m2, and tf32, which are only converted to and from. */
#ifndef OPS_HALF_H
#define OPS_HALF_H
#include "ops.h"
#include <math.h>
#include <string.h>

/* A format's fraction bits, lowest and highest exponent of normal values. */
struct narrow_format { int fraction, least, most; };
static const struct narrow_format narrow_f16 = {10, -14, 15}, narrow_bf16 = {7, -126, 127}, narrow_e4m3 = {3, -6, 8},
                                  narrow_e5m2 = {2, -14, 15}, narrow_tf32 = {10, -126, 127};

static inline uint64_t double_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double bits_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float bits_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float widen_bf16(uint32_t bits) { return bits_float(bits << 16); }

static inline double widen_f16(uint32_t bits)
{
    uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;

    if (exponent == 31)
        return bits_float(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0)
        return (sign ? -0x1p-24 : 0x1p-24) * fraction;
    return bits_float(sign | (exponent + 112) << 23 | fraction << 13);
}

/* Does a magnitude of `kept` and a rest of `rest` / 2^`shift` round away from zero? */
static inline bool rounds_up(uint64_t kept, uint64_t rest, int shift, bool negative, int round)
{
    uint64_t half = (uint64_t)1 << (shift - 1);

    switch (round) {
    case ROUND_RZ: return false;
    case ROUND_RM: return negative && rest;
    case ROUND_RP: return !negative && rest;
    case ROUND_RNA: return rest >= half;
    default: return rest > half || (rest == half && (kept & 1));
    }
}

/* Sign and magnitude of x in the format, rounded once; *beyond: it is larger than the format's largest value. x is no NaN. */
static inline uint64_t narrow_magnitude(const struct narrow_format *f, double x, int round, bool *beyond)
{
    uint64_t bits = double_bits(x), kept, significand = bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7ff), shift = 52 - f->fraction;
    bool negative = bits >> 63;

    if (exponent)
        significand |= (uint64_t)1 << 52;
    exponent = exponent ? exponent - 1023 : -1022;
    if (exponent < f->least)
        shift += f->least - exponent;
    if (shift > 63)
        shift = 63; /* a rest below half of the smallest value */
    kept = significand >> shift;
    kept += rounds_up(kept, significand & (((uint64_t)1 << shift) - 1), shift, negative, round);
    if (exponent > f->least)
        kept += (uint64_t)(exponent - f->least) << f->fraction;
    *beyond = kept >= (uint64_t)(f->most - f->least + 2) << f->fraction;
    return kept;
}

/* f16 or bf16: beyond the largest value is infinity, or the largest value where the mode rounds towards zero. */
static inline uint32_t narrow_half(const struct narrow_format *f, double x, int round)
{
    uint32_t sign = signbit(x) ? 0x8000 : 0, infinity = (uint32_t)(f->most - f->least + 2) << f->fraction;
    bool beyond, to_zero = round == ROUND_RZ || round == (sign ? ROUND_RP : ROUND_RM);
    uint64_t magnitude;

    if (x != x)
        return 0x7fff;
    if (x - x != 0)
        return sign | infinity;
    magnitude = narrow_magnitude(f, x, round, &beyond);
    return sign | (beyond ? infinity - to_zero : (uint32_t)magnitude);
}

static inline uint32_t narrow_to_f16(double x, int round) { return narrow_half(&narrow_f16, x, round); }
static inline uint32_t narrow_to_bf16(double x, int round) { return narrow_half(&narrow_bf16, x, round); }

/* From .f64: a NaN keeps its sign and the top of its payload, and becomes quiet. */
static inline uint32_t narrow_double(const struct narrow_format *f, double x, const struct inst *in)
{
    uint64_t bits = double_bits(x);

    if (in->saturate)
        x = x > 0 ? (x < 1 ? x : 1) : 0;
    if (x != x)
        return (uint32_t)(bits >> 63 << 15 | (bits >> (52 - f->fraction) & 0x7fff)) | 1u << (f->fraction - 1);
    return narrow_half(f, x, in->round);
}

/* a * b + c so that a later rounding to f16 or bf16 rounds the exact value: rounded to odd. The product of two halves is exact. */
static inline double fma_odd(double a, double b, double c)
{
    double product = a * b, sum = product + c, part = sum - product, error = (product - (sum - part)) + (c - part);
    uint64_t bits = double_bits(sum);

    if (!(error < 0 || error > 0) || (bits & 1))
        return sum;
    return bits_double((error < 0) == (sum < 0) ? bits + 1 : bits - 1);
}

/* An integer as a double whose lowest bit says whether something was lost. */
static inline double odd_from_u64(uint64_t x)
{
    return (double)(x >> 53 ? (x >> 11 | ((x & 0x7ff) != 0)) << 11 : x);
}

static inline double odd_from_s64(int64_t x) { return x < 0 ? -odd_from_u64(0 - (uint64_t)x) : odd_from_u64((uint64_t)x); }

/* What .relu makes of a value: negative becomes 0, a NaN stays one. */
static inline double relu(double x, const struct inst *in) { return in->saturate == SATURATE_RELU && x <= 0 ? 0 : x; }

static inline uint32_t pack_halves(const struct narrow_format *f, double low, double high, const struct inst *in)
{
    return narrow_half(f, relu(low, in), in->round) | narrow_half(f, relu(high, in), in->round) << 16;
}

/* .rna adds half a unit and cuts off, a NaN's payload too; the other modes are one instruction of the hardware. */
static inline uint32_t narrow_tf(float value, int round, const struct inst *in)
{
    double x = value;
    uint32_t bits;
    bool beyond;

    memcpy(&bits, &value, sizeof bits);
    if (x != x && round == ROUND_RNA)
        return bits & 0xffffe000;
    x = relu(x, in);
    if (x != x)
        return 0x7fffe000;
    uint32_t sign = signbit(x) ? 0x80000000u : 0;
    if (x - x != 0)
        return sign | 0x7f800000;
    return sign | (uint32_t)(narrow_magnitude(&narrow_tf32, x, round, &beyond) << 13);
}

/* e4m3 has no infinity, and one NaN: 0x7f. Beyond the largest value is the largest value (.satfinite). */
static inline uint32_t narrow_byte(const struct narrow_format *f, double x)
{
    uint32_t sign = signbit(x) ? 0x80 : 0, most = f->fraction == 3 ? 0x7e : 0x7b;
    bool beyond;
    uint64_t magnitude;

    if (x != x)
        return 0x7f;
    if (x - x != 0)
        return sign | most;
    magnitude = narrow_magnitude(f, x, ROUND_RN, &beyond);
    return sign | (magnitude < most ? (uint32_t)magnitude : most);
}

static inline uint32_t pack_bytes(const struct narrow_format *f, double low, double high, const struct inst *in)
{
    return narrow_byte(f, relu(low, in)) | narrow_byte(f, relu(high, in)) << 8;
}

static inline double widen_e5m2(uint32_t bits) { return widen_f16(bits << 8 & 0xff00); }

static inline double widen_e4m3(uint32_t bits)
{
    uint32_t exponent = bits >> 3 & 15, fraction = bits & 7;
    double magnitude = exponent ? bits_double((uint64_t)(exponent + 1016) << 52 | (uint64_t)fraction << 49) : fraction * 0x1p-9;

    if ((bits & 0x7f) == 0x7f)
        return bits_float(0x7fffffff);
    return bits & 0x80 ? -magnitude : magnitude;
}
#endif
