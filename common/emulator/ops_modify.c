/* .ftz, .sat, directed rounding and registers wider than the type, for any lane row: operands are copied to scratch rows and
 * changed there, the row's own function works on those, and its result is changed before it is stored. Rare, so not fast. */
#include "ops.h"
#include <fenv.h>
#include <math.h>
#include <string.h>

static const int fe_modes[] = {[ROUND_DEFAULT] = FE_TONEAREST, [ROUND_RN] = FE_TONEAREST, [ROUND_RZ] = FE_TOWARDZERO,
                               [ROUND_RM] = FE_DOWNWARD, [ROUND_RP] = FE_UPWARD};

/* Subnormals become zeros of the same sign. */
static void flush_row(char *row)
{
    uint32_t bits;

    for (int i = 0; i < 32; i++) {
        memcpy(&bits, row + 4 * i, sizeof bits);
        if ((bits & 0x7f800000u) == 0)
            bits &= 0x80000000u;
        memcpy(row + 4 * i, &bits, sizeof bits);
    }
}

/* Into [0, 1]; NaN becomes +0. */
static void saturate_row(char *row, enum type type)
{
    for (int i = 0; i < 32; i++) {
        if (type == T_f32) {
            float x;
            memcpy(&x, row + 4 * i, sizeof x);
            x = x > 0 ? (x < 1 ? x : 1) : 0;
            memcpy(row + 4 * i, &x, sizeof x);
        } else {
            double x;
            memcpy(&x, row + 8 * i, sizeof x);
            x = x > 0 ? (x < 1 ? x : 1) : 0;
            memcpy(row + 8 * i, &x, sizeof x);
        }
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
        if (in->ftz && types[k] == T_f32)
            flush_row(regs + inner.slot[k]);
    }
    if (types[0] == T_pred) { /* setp.ftz */
        in->variant->masked(regs, &inner, lanes);
        return;
    }
    inner.slot[0] = scratch;
    fesetround(fe_modes[in->round]);
    in->variant->full(regs, &inner);
    fesetround(mode);
    if (in->ftz && types[0] == T_f32)
        flush_row(regs + scratch);
    if (in->saturate && (types[0] == T_f32 || types[0] == T_f64))
        saturate_row(regs + scratch, (enum type)types[0]);
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
