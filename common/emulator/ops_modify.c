/* .ftz, .sat, .relu, directed rounding and registers wider than the type, for any lane row: operands are copied to scratch rows and
 * changed there, the row's own function works on those, and its result is changed before it is stored. Rare, so not fast. */
#include "ops.h"
#include <fenv.h>
#include <math.h>
#include <string.h>

static const int fe_modes[] = {[ROUND_DEFAULT] = FE_TONEAREST, [ROUND_RN] = FE_TONEAREST, [ROUND_RZ] = FE_TOWARDZERO,
                               [ROUND_RM] = FE_DOWNWARD,       [ROUND_RP] = FE_UPWARD,    [ROUND_RNA] = FE_TONEAREST};

/* Subnormals become zeros of the same sign. */
static void flush_parts(char *row, uint32_t exponent, uint32_t fraction)
{
    uint32_t bits;

    for (int i = 0; i < 32; i++) {
        memcpy(&bits, row + 4 * i, sizeof bits);
        if ((bits & exponent) == 0)
            bits &= ~fraction;
        memcpy(row + 4 * i, &bits, sizeof bits);
    }
}

static void flush_row(char *row, enum type type)
{
    if (type == T_f32)
        flush_parts(row, 0x7f800000u, 0x007fffffu);
    if (type == T_f16 || type == T_f16x2)
        flush_parts(row, 0x7c00u, 0x03ffu);
    if (type == T_f16x2)
        flush_parts(row, 0x7c000000u, 0x03ff0000u);
}

/* Into [0, 1], a NaN to +0; or, for .relu, negative values to +0. Halves are compared by their bits: 1.0 is `one`. */
static uint32_t saturate_half(uint32_t bits, uint32_t one, enum type type, uint8_t saturate)
{
    bool is_nan = (bits & 0x7fff) > (type == T_f16 || type == T_f16x2 ? 0x7c00u : 0x7f80u);

    if (is_nan)
        return saturate == SATURATE_RELU ? bits : 0;
    if (bits & 0x8000)
        return 0;
    return saturate == SATURATE_UNIT && bits > one ? one : bits;
}

static void saturate_row(char *row, enum type type, uint8_t saturate)
{
    bool is_pair = type == T_f16x2 || type == T_bf16x2;
    uint32_t one = type == T_f16 || type == T_f16x2 ? 0x3c00 : 0x3f80, bits;
    float x;
    double y;

    for (int i = 0; i < 32; i++)
        switch (type) {
        case T_f32:
            memcpy(&x, row + 4 * i, sizeof x);
            x = x > 0 ? (x < 1 ? x : 1) : 0;
            memcpy(row + 4 * i, &x, sizeof x);
            break;
        case T_f64:
            memcpy(&y, row + 8 * i, sizeof y);
            y = y > 0 ? (y < 1 ? y : 1) : 0;
            memcpy(row + 8 * i, &y, sizeof y);
            break;
        case T_f16:
        case T_bf16:
        case T_f16x2:
        case T_bf16x2:
            memcpy(&bits, row + 4 * i, sizeof bits);
            bits = saturate_half(bits & 0xffff, one, type, saturate) |
                   (is_pair ? saturate_half(bits >> 16, one, type, saturate) << 16 : 0);
            memcpy(row + 4 * i, &bits, sizeof bits);
            break;
        default: break;
        }
}

static void copy_source(char *to, const char *from, unsigned lane_bytes, bool wide)
{
    if (!wide)
        memcpy(to, from, 32 * lane_bytes);
    else
        for (int i = 0; i < 32; i++) /* the low half of each 8-byte lane */
            memcpy(to + 4 * i, from + 8 * i, 4);
}

static void store_result(char *to, const char *from, const struct inst *in, enum type type, const struct lanes *lanes)
{
    unsigned bytes = type_lane_bytes(type);

    for (int i = 0; i < 32; i++) {
        if (!lanes->mask[i])
            continue;
        if (in->wide & 1) {
            int32_t narrow;
            int64_t value;
            memcpy(&narrow, from + 4 * i, sizeof narrow);
            value = type_is_signed(type) ? narrow : (int64_t)(uint32_t)narrow;
            memcpy(to + 8 * i, &value, sizeof value);
        } else {
            memcpy(to + bytes * (unsigned)i, from + bytes * (unsigned)i, bytes);
        }
    }
}

static void modified_masked(char *regs, const struct inst *in, const struct lanes *lanes)
{
    const uint8_t *types = in->variant->operands;
    const uint32_t scratch = (uint32_t)in->offset; /* a lane row has no address */
    struct inst inner = *in;
    int mode = fegetround();

    for (int k = 1; k < VARIANT_OPERANDS && types[k] != T_none; k++) {
        if (types[k] == T_pred)
            continue;
        inner.slot[k] = scratch + 256 * (uint32_t)k;
        copy_source(regs + inner.slot[k], regs + in->slot[k], type_lane_bytes((enum type)types[k]), in->wide >> k & 1);
        if (in->ftz)
            flush_row(regs + inner.slot[k], (enum type)types[k]);
    }
    if (types[0] == T_pred) { /* setp.ftz */
        in->variant->masked(regs, &inner, lanes);
        return;
    }
    inner.slot[0] = scratch;
    fesetround(fe_modes[in->round]);
    in->variant->full(regs, &inner);
    fesetround(mode);
    if (in->ftz)
        flush_row(regs + scratch, (enum type)types[0]);
    if (in->saturate)
        saturate_row(regs + scratch, (enum type)types[0], in->saturate);
    store_result(regs + in->slot[0], regs + scratch, in, (enum type)types[0], lanes);
}

static void modified_full(char *regs, const struct inst *in)
{
    struct lanes all;

    lanes_set(&all, UINT32_MAX);
    modified_masked(regs, in, &all);
}

void ops_modify(struct inst *in, struct function *function)
{
    in->offset = function->scratch;
    in->full = modified_full;
    in->masked = modified_masked;
}
