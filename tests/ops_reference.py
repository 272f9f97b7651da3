"""Writes tests of single instructions in the form that ops_run.c reads. Every expected value is worked out here from the rules of
the PTX ISA manual (NVIDIA, PTX ISA 9.0, "Instructions"), in exact whole-number and fraction arithmetic; the emulator has no part in
it. Where the manual bounds an error instead of saying a value, a range is written; where it leaves a value to the machine, "?".

    python3 tests/ops_reference.py                       tests/ops.test: edge values, the same every time
    python3 tests/ops_reference.py --random 24 --seed 7  random inputs besides, for every instruction
"""
import argparse
import math
import random
from fractions import Fraction

LANES = 32


# ---- numbers ----
class Float:
    """A binary interchange format: bits <-> (kind, sign, value), and correct rounding in all four directions."""

    def __init__(self, width, exponent):
        self.width, self.mantissa = width, width - exponent - 1
        self.bias = (1 << (exponent - 1)) - 1
        self.most_exponent = (1 << exponent) - 1
        self.inf = self.most_exponent << self.mantissa
        self.sign_bit = 1 << (width - 1)

    def kind(self, bits):
        exponent, fraction = bits >> self.mantissa & self.most_exponent, bits & ((1 << self.mantissa) - 1)
        if exponent == self.most_exponent:
            return "nan" if fraction else "inf"
        return "number" if exponent or fraction else "zero"

    def sign(self, bits):
        return bits >> (self.width - 1)

    def value(self, bits):
        exponent, fraction = bits >> self.mantissa & self.most_exponent, bits & ((1 << self.mantissa) - 1)
        if exponent:
            fraction |= 1 << self.mantissa
        scale = max(exponent, 1) - self.bias - self.mantissa
        magnitude = Fraction(fraction) * (Fraction(2) ** scale)
        return -magnitude if self.sign(bits) else magnitude

    def is_nan(self, bits):
        return self.kind(bits) == "nan"

    def round(self, value, mode="rn", zero_sign=0):
        """Bits of an exact value. Overflow and underflow as IEEE 754 says for the direction."""
        if value == 0:
            return self.sign_bit * zero_sign
        sign = value < 0
        magnitude = abs(value)
        up = {"rn": None, "rz": False, "rp": not sign, "rm": sign}[mode]
        exponent = math.floor(math.log2(magnitude)) if 0 < magnitude < 2**1000 and magnitude > Fraction(1, 2**1000) else None
        if exponent is None:
            exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        while Fraction(2) ** exponent > magnitude:
            exponent -= 1
        while Fraction(2) ** (exponent + 1) <= magnitude:
            exponent += 1
        exponent = max(exponent, 1 - self.bias)
        units = magnitude / Fraction(2) ** (exponent - self.mantissa)
        whole, rest = divmod(units.numerator, units.denominator)
        rest = Fraction(rest, units.denominator)
        if up is None:
            whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1)
        elif up:
            whole += rest > 0
        bits = whole + ((exponent + self.bias - 1) << self.mantissa) if whole >> self.mantissa else whole
        if bits >= self.inf:
            bits = self.inf if up is None or up else self.inf - 1
        return bits | self.sign_bit * sign

    def flush(self, bits):
        return bits & self.sign_bit if bits & self.inf == 0 else bits


F16, BF16, F32, F64 = Float(16, 5), Float(16, 8), Float(32, 8), Float(64, 11)
FORMATS = {"f32": F32, "f64": F64}
HALVES = {"f16": F16, "bf16": BF16}
FLOATS = FORMATS | HALVES


def width_of(kind):
    """f16x2 and its like are pairs."""
    single = kind.removesuffix("x2")
    return int(single.lstrip("usbf")) << (single != kind)


def mask_of(width):
    return (1 << width) - 1


def signed(bits, width):
    return bits - (1 << width) if bits >> (width - 1) & 1 else bits


def number(bits, kind):
    """What the bits mean as an integer of that type."""
    bits &= mask_of(width_of(kind))
    return signed(bits, width_of(kind)) if kind[0] == "s" else bits


def limits(kind):
    width = width_of(kind)
    return (-(1 << (width - 1)), mask_of(width - 1)) if kind[0] == "s" else (0, mask_of(width))


# ---- results ----
class Nan:
    def __init__(self, kind):
        self.kind = kind


class Between:
    """Floats from low to high, both included."""

    def __init__(self, low, high):
        self.low, self.high = low, high


ANYTHING = object()


def nan_of(kind):
    """NaN results: for .f32, .f16 and .bf16 the canonical one; for .f64 the manual names none."""
    return {"f32": 0x7FFFFFFF, "f16": 0x7FFF, "bf16": 0x7FFF}.get(kind) or Nan(kind)


def spell(value, width):
    if value is ANYTHING:
        return f"?{width}"
    if isinstance(value, Nan):
        return f"nanb{width}" if value.kind == "bf16" else f"nan{width}"
    if isinstance(value, Between):
        return f"0x{value.low:0{width // 4}x}..0x{value.high:0{width // 4}x}"
    if width == 1:
        return str(int(bool(value)))
    return f"0x{value & mask_of(width):0{width // 4}x}"


# ---- inputs ----
FLOAT_EDGES = {
    "f32": [0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x40490FDB, 0x7F7FFFFF, 0x00800000, 0x00000001, 0x807FFFFF, 0x7F800000,
            0xFF800000, 0x7FC00000, 0x7FA00001, 0xFFC12345, 0x3EAAAAAB, 0x4B800001, 0xC2F6E979, 0x3F7FFFFF],
    "f64": [0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000, 0x400921FB54442D18, 0x7FEFFFFFFFFFFFFF,
            0x0010000000000000, 0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
            0x7FF4000000000001, 0xFFF8123456789ABC, 0x3FD5555555555555, 0x4340000000000001, 0xC05EDD2F1A9FBE77, 0x3FEFFFFFFFFFFFFF],
}


FLOAT_EDGES["f16"] = [0x0000, 0x8000, 0x3C00, 0xBC00, 0x4248, 0x7BFF, 0x0400, 0x0001, 0x83FF, 0x7C00, 0xFC00, 0x7E00, 0x7D01, 0xFF23, 0x3555, 0x6801, 0xD7B0, 0x3BFF]
FLOAT_EDGES["bf16"] = [0x0000, 0x8000, 0x3F80, 0xBF80, 0x4049, 0x7F7F, 0x0080, 0x0001, 0x807F, 0x7F80, 0xFF80, 0x7FC0, 0x7FA1, 0xFFC3, 0x3EAB, 0x4381, 0xC2F7, 0x3F7F]


def edges(kind):
    if kind in FLOAT_EDGES:
        return FLOAT_EDGES[kind]
    if kind == "pred":
        return [0, 1]
    width = width_of(kind)
    top = 1 << (width - 1)
    return [0, 1, mask_of(width), top, top - 1, top + 1, 0x0123456789ABCDEF & mask_of(width), 0xFEDCBA9876543210 >> (64 - width), 7,
            mask_of(width) - 1, 1 << (width // 2), 0xA5]


def any_value(random_numbers, kind):
    if kind == "pred":
        return random_numbers.getrandbits(1)
    width = width_of(kind)
    bits = random_numbers.getrandbits(width)
    if kind in FLOATS and random_numbers.random() < 0.7:  # usually near one, or nothing would meet
        form = FLOATS[kind]
        exponent = form.bias + (random_numbers.randrange(-8, 8) if kind == "f16" else random_numbers.randrange(-30, 30))
        bits = bits & ~form.inf | exponent << form.mantissa
    elif kind not in FLOATS and random_numbers.random() < 0.3:
        bits >>= random_numbers.randrange(width)
    return bits


# Pairs of edge values by place in the list, so that each meets the ones that matter: equal, opposite, zero, NaN.
PAIRS = [(0, 0), (2, 2), (3, 2), (1, 0), (0, 1), (5, 6), (4, 2), (6, 7), (9, 2), (8, 8), (3, 8), (2, 3)]
FLOAT_PAIRS = [(0, 1), (1, 1), (2, 4), (5, 5), (7, 8), (9, 10), (9, 0), (15, 17), (2, 12), (3, 2), (13, 11), (11, 2), (2, 0), (1, 0), (6, 6), (4, 14), (9, 9), (5, 14)]


# What a comparison must be tried on: equal, less, greater, both zeros, infinities, one NaN on either side, two.
COMPARED_FLOATS = [(2, 12), (0, 1), (4, 2), (13, 11), (2, 4), (9, 10), (12, 9), (5, 5), (7, 8)]


class Writer:
    def __init__(self, extra, seed):
        self.lines, self.extra, self.random = [], extra, random.Random(seed)

    def note(self, text):
        self.lines.append(f"# {text}\n")

    def case(self, text, inputs, outputs):
        """inputs, outputs: (name, width, value or list of 32)."""

        def side(values):
            parts = []
            for name, width, value in values:
                if isinstance(value, list) and len({spell(v, width) for v in value}) == 1:
                    value = value[0]  # one value for all lanes
                shown = ",".join(spell(v, width) for v in value) if isinstance(value, list) else spell(value, width)
                parts.append(f"{name}={shown}")
            return " ".join(parts)

        self.lines.append(f"{text}\n{side(inputs)}\n{side(outputs)}\n")

    def inputs(self, kinds, most=8):
        """Tuples of bits for operands of these types: edge values, then random ones."""
        floats = any(k in FLOATS for k in kinds)
        tuples = []
        pairs = FLOAT_PAIRS if floats else PAIRS
        if len(kinds) == 1:
            count = len(edges(kinds[0]))
            tuples = [(edges(kinds[0])[i],) for i in range(min(count, most))]
        else:
            for n, pair in enumerate(pairs[:most]):
                places = list(pair) + [(pair[0] * 5 + n * 3 + 1) % 12, (pair[1] * 7 + n + 2) % 12]
                tuples.append(tuple(edges(k)[places[i] % len(edges(k))] for i, k in enumerate(kinds)))
        for _ in range(self.extra):
            tuples.append(tuple(any_value(self.random, k) for k in kinds))
        return tuples

    def compared(self, kind, most):
        if kind not in FLOATS:
            return self.inputs([kind, kind], most)
        return [(edges(kind)[i], edges(kind)[j]) for i, j in COMPARED_FLOATS[: most + 2]] + [(any_value(self.random, kind), any_value(self.random, kind)) for _ in range(self.extra)]

    def rule(self, text, result, kinds, compute, most=9, tuples=None):
        """text with operands d, a, b, …; kinds of a, b, …; compute(bits…) gives d's."""
        width = 1 if result == "pred" else width_of(result)
        for values in tuples or self.inputs(kinds, most):
            widths = [1 if k == "pred" else width_of(k) for k in kinds]
            self.case(text, list(zip("abce", widths, values)), [("d", width, compute(*values))])


UNSIGNED, SIGNED, BITS = ["u16", "u32", "u64"], ["s16", "s32", "s64"], ["b16", "b32", "b64"]
INTS = UNSIGNED + SIGNED


def wider(kind):
    return kind[0] + str(2 * width_of(kind))


# ---- integers ----
def truncated_division(a, b):
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def divide(kind):
    def compute(a, b):
        x, y = number(a, kind), number(b, kind)
        if y == 0:
            return ANYTHING  # "division by zero yields an unspecified, machine-specific value"
        return truncated_division(x, y)

    return compute


def remainder(kind):
    def compute(a, b):
        x, y = number(a, kind), number(b, kind)
        return ANYTHING if y == 0 else x - y * truncated_division(x, y)

    return compute


def clamp(value, kind):
    low, high = limits(kind)
    return min(max(value, low), high)


def integer_rules(w):
    for k in INTS:
        n = lambda x, k=k: number(x, k)
        high = lambda x, k=k: x >> width_of(k)
        w.rule(f"add.{k} d, a, b", k, [k, k], lambda a, b: n(a) + n(b))
        w.rule(f"sub.{k} d, a, b", k, [k, k], lambda a, b: n(a) - n(b))
        w.rule(f"mul.lo.{k} d, a, b", k, [k, k], lambda a, b: n(a) * n(b))
        w.rule(f"mul.hi.{k} d, a, b", k, [k, k], lambda a, b: high(n(a) * n(b)))
        w.rule(f"mad.lo.{k} d, a, b, c", k, [k] * 3, lambda a, b, c: n(a) * n(b) + n(c))
        if width_of(k) < 64:
            w.rule(f"mad.hi.{k} d, a, b, c", k, [k] * 3, lambda a, b, c: high(n(a) * n(b)) + n(c))
            w.rule(f"mul.wide.{k} d, a, b", wider(k), [k, k], lambda a, b: n(a) * n(b))
            w.rule(f"mad.wide.{k} d, a, b, c", wider(k), [k, k, wider(k)], lambda a, b, c: n(a) * n(b) + number(c, wider(k)))
        w.rule(f"div.{k} d, a, b", k, [k, k], divide(k))
        w.rule(f"rem.{k} d, a, b", k, [k, k], remainder(k))
        w.rule(f"min.{k} d, a, b", k, [k, k], lambda a, b: min(n(a), n(b)))
        w.rule(f"max.{k} d, a, b", k, [k, k], lambda a, b: max(n(a), n(b)))
        w.rule(f"sad.{k} d, a, b, c", k, [k] * 3, lambda a, b, c: n(c) + abs(n(a) - n(b)))
    for k in SIGNED:
        w.rule(f"abs.{k} d, a", k, [k], lambda a: abs(number(a, k)))
        w.rule(f"neg.{k} d, a", k, [k], lambda a: -number(a, k))
    for name, sign in ("add", 1), ("sub", -1):
        w.rule(f"{name}.sat.s32 d, a, b", "s32", ["s32", "s32"], lambda a, b: clamp(number(a, "s32") + sign * number(b, "s32"), "s32"))
    for k in "u32", "s32":
        def low24(x, k=k):
            return signed(x & mask_of(24), 24) if k == "s32" else x & mask_of(24)

        cases = [(0x00800000, 1), (0x00FFFFFF, 0x00FFFFFF), (0xFF000001, 0x00000003), (0x007FFFFF, 0x01000002), (0x80000000, 5), (0x00800000, 0x00800001)]
        w.rule(f"mul24.lo.{k} d, a, b", k, [k, k], lambda a, b: low24(a) * low24(b), tuples=cases + w.inputs([k, k])[3:])


def bit_rules(w):
    for k in BITS:
        width = width_of(k)
        w.rule(f"and.{k} d, a, b", k, [k, k], lambda a, b: a & b, 6)
        w.rule(f"or.{k} d, a, b", k, [k, k], lambda a, b: a | b, 6)
        w.rule(f"xor.{k} d, a, b", k, [k, k], lambda a, b: a ^ b, 6)
        w.rule(f"not.{k} d, a", k, [k], lambda a: ~a, 5)
        w.rule(f"cnot.{k} d, a", k, [k], lambda a: int(a == 0), 5)
        shifts = [0, 1, width - 1, width, width + 1, 33, 64, 0x80000000, 0xFFFFFFFF]
        values = [mask_of(width), 1 << (width - 1), 0x0123456789ABCDEF & mask_of(width)]
        tuples = [(values[i % 3], s) for i, s in enumerate(shifts)] + [(any_value(w.random, k), w.random.randrange(width + 3)) for _ in range(w.extra)]
        w.rule(f"shl.{k} d, a, b", k, [k, "u32"], lambda a, b: a << b if b < width else 0, tuples=tuples)
        for kind in k, "u" + k[1:]:
            w.rule(f"shr.{kind} d, a, b", k, [k, "u32"], lambda a, b: a >> b if b < width else 0, tuples=tuples)
        w.rule(f"shr.s{width} d, a, b", k, [k, "u32"], lambda a, b: signed(a, width) >> min(b, width), tuples=tuples)
    for mode in "wrap", "clamp":
        amount = lambda c: c & 31 if mode == "wrap" else min(c, 32)
        tuples = [(0x89ABCDEF, 0x01234567, s) for s in (0, 1, 4, 31, 32, 33, 63, 64, 0xFFFFFFFF)]
        tuples += [(any_value(w.random, "b32"), any_value(w.random, "b32"), w.random.randrange(70)) for _ in range(w.extra)]
        kinds = ["b32"] * 3
        w.rule(f"shf.l.{mode}.b32 d, a, b, c", "b32", kinds, lambda a, b, c: (b << 32 | a) << amount(c) >> 32, tuples=tuples)
        w.rule(f"shf.r.{mode}.b32 d, a, b, c", "b32", kinds, lambda a, b, c: (b << 32 | a) >> amount(c), tuples=tuples)
    for k in "b32", "b64":
        width = width_of(k)
        w.rule(f"popc.{k} d, a", "u32", [k], lambda a: bin(a).count("1"))
        w.rule(f"clz.{k} d, a", "u32", [k], lambda a: width - a.bit_length())
        w.rule(f"brev.{k} d, a", k, [k], lambda a: int(f"{a:0{width}b}"[::-1], 2))

        def insert(a, b, c, e):
            start, length = c & 255, e & 255
            for i in range(min(length, max(0, width - start))):
                b = b & ~(1 << (start + i)) | (a >> i & 1) << (start + i)
            return b

        fields = [(0, 8), (4, 0), (width - 4, 8), (width, 4), (5, 255), (0, width), (0x10C, 0x104), (1, width - 1), (255, 255), (31, 1)]
        tuples = [(0xFEDCBA9876543210 >> (64 - width), 0x5555555555555555 & mask_of(width) if i & 1 else 0, *f) for i, f in enumerate(fields)]
        tuples += [(*(any_value(w.random, k) for _ in range(2)), w.random.randrange(width + 9), w.random.randrange(width + 9)) for _ in range(w.extra)]
        w.rule(f"bfi.{k} d, a, b, c, e", k, [k, k, "u32", "u32"], insert, tuples=tuples)
    for k in "u32", "s32", "u64", "s64":
        width = width_of(k)

        def extract(a, b, c):
            # "b and c are restricted to 0..255": so it is for 32 bits. For 64 the assembler writes shifts, which take all bits of both.
            start, length = (b & 255, c & 255) if width == 32 else (b, c)
            sign = a >> min(start + length - 1, width - 1) & 1 if k[0] == "s" and length else 0
            return sum((a >> (start + i) & 1 if i < length and start + i < width else sign) << i for i in range(width))

        fields = [(0, 8), (4, 0), (width - 4, 8), (width, 4), (5, 255), (0, width), (0x10C, 0x104), (1, width - 1), (255, 255), (31, 1), (width - 1, 1), (4, 0x104), (0xFFFFFFFF, 2)]
        tuples = [(0xFEDCBA9876543210 >> (64 - width) ^ (mask_of(width) if i & 1 else 0), *f) for i, f in enumerate(fields)]
        tuples += [(any_value(w.random, k), w.random.randrange(width + 9), w.random.randrange(width + 9)) for _ in range(w.extra)]
        w.rule(f"bfe.{k} d, a, b, c", k, [k, "u32", "u32"], extract, tuples=tuples)

        def find(a):
            x = ~a & mask_of(width) if k[0] == "s" and a >> (width - 1) else a
            return x.bit_length() - 1

        w.rule(f"bfind.{k} d, a", "u32", [k], find)
        w.rule(f"bfind.shiftamt.{k} d, a", "u32", [k], lambda a: width - 1 - find(a) if find(a) >= 0 else -1)

    def permute(a, b, c):
        result = 0
        for i in range(4):
            selector = c >> (4 * i) & 15
            byte = (b << 32 | a) >> (8 * (selector & 7)) & 255
            result |= (255 * (byte >> 7) if selector & 8 else byte) << (8 * i)
        return result

    tuples = [(0x83828180, 0x07060504, s) for s in (0x3210, 0x7654, 0x0123, 0x89AB, 0xCDEF, 0x5140, 0xFFFF3210, 0x8888)]
    tuples += [tuple(any_value(w.random, "b32") for _ in range(3)) for _ in range(w.extra)]
    w.rule("prmt.b32 d, a, b, c", "b32", ["b32"] * 3, permute, tuples=tuples)
    for table in 0x00, 0x01, 0x80, 0xFE, 0x96, 0xE8, 0xCA, 0xF0, 0xAA, 0xCC, 0xFF, 0x1E:
        def logic(a, b, c):
            return sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i for i in range(32))

        w.rule(f"lop3.b32 d, a, b, c, 0x{table:02x}", "b32", ["b32"] * 3, logic, tuples=[(0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA), (0x0123ABCD, 0xFFFF0000, 0x12345678)])


# ---- floats ----
def with_nan(kind, compute, ftz=False, sat=False):
    """A rule on numbers becomes one on bits: NaN in, NaN out; .ftz flushes .f32 inputs and result; .sat clamps to [0, 1], NaN to 0."""
    form = FLOATS[kind]

    def on_bits(*bits):
        bits = [form.flush(b) if ftz else b for b in bits]
        result = nan_of(kind) if any(form.is_nan(b) for b in bits) else compute(*bits)
        if result is None:
            result = nan_of(kind)
        if ftz and isinstance(result, int):
            result = form.flush(result)
        if sat:
            if isinstance(result, Nan) or form.is_nan(result) or form.sign(result):
                result = 0
            result = min(result, form.round(Fraction(1)))
        return result

    return on_bits


def add_bits(form, a, b, mode):
    ka, kb, sa, sb = form.kind(a), form.kind(b), form.sign(a), form.sign(b)
    if ka == "inf" or kb == "inf":
        if ka == kb and sa != sb:
            return None
        return a if ka == "inf" else b
    total = form.value(a) + form.value(b)
    if total == 0:  # exact: the signs agree, or the direction decides
        return form.sign_bit * (sa if ka == kb == "zero" and sa == sb else mode == "rm")
    return form.round(total, mode)


def multiply_bits(form, a, b, mode):
    sign = form.sign(a) ^ form.sign(b)
    kinds = {form.kind(a), form.kind(b)}
    if kinds == {"inf", "zero"}:
        return None
    if "inf" in kinds:
        return form.inf | form.sign_bit * sign
    return form.round(form.value(a) * form.value(b), mode, sign)


def fma_bits(form, a, b, c, mode):
    sign = form.sign(a) ^ form.sign(b)
    kinds = {form.kind(a), form.kind(b)}
    if kinds == {"inf", "zero"} or ("inf" in kinds and form.kind(c) == "inf" and form.sign(c) != sign):
        return None
    if "inf" in kinds:
        return form.inf | form.sign_bit * sign
    if form.kind(c) == "inf":
        return c
    total = form.value(a) * form.value(b) + form.value(c)
    if total == 0:
        product_zero = "zero" in kinds
        return form.sign_bit * (sign if product_zero and form.kind(c) == "zero" and form.sign(c) == sign else mode == "rm")
    return form.round(total, mode)


def divide_bits(form, a, b, mode):
    sign = form.sign(a) ^ form.sign(b)
    ka, kb = form.kind(a), form.kind(b)
    if ka == kb and ka in ("inf", "zero"):
        return None
    if ka == "inf" or kb == "zero":
        return form.inf | form.sign_bit * sign
    if ka == "zero" or kb == "inf":
        return form.sign_bit * sign
    return form.round(form.value(a) / form.value(b), mode)


def root_bits(form, a, mode):
    if form.kind(a) == "zero":
        return a
    if form.sign(a):
        return None
    if form.kind(a) == "inf":
        return a
    value = form.value(a)
    shift = 2 * (form.mantissa + 1200)  # a root with far more bits than any rounding needs, and a sticky bit below them
    scaled = (value.numerator << (2 * shift)) // value.denominator
    root = math.isqrt(scaled)
    exact = root * root == scaled and (value.numerator << (2 * shift)) % value.denominator == 0
    return form.round(Fraction(2 * root + (not exact), 2 << shift), mode)


def smaller(form, a, b, sign):
    """min for sign 1, max for -1; -0 is below +0."""
    def order(x):
        magnitude = x & ~form.sign_bit
        return -magnitude - 1 if form.sign(x) else magnitude

    return a if order(a) * sign <= order(b) * sign else b


def approximate(kind, function, relative=0.0, absolute=0.0, special=lambda x: None, ftz=False):
    """A range around function(x), worked out in double precision."""
    form = FLOATS[kind]

    def compute(*bits):
        if ftz:
            bits = [form.flush(b) for b in bits]
        if any(form.is_nan(b) for b in bits):
            return nan_of(kind)
        known = special(*bits)
        if known is not None:
            return nan_of(kind) if known == "nan" else known
        exact = Fraction(function(*(float(form.value(b)) for b in bits)))
        error = abs(exact) * Fraction(relative) + Fraction(absolute)
        low, high = form.round(exact - error, "rm"), form.round(exact + error, "rp")
        if form.kind(low) == "zero":
            low = form.sign_bit
        if form.kind(high) == "zero":
            high = 0
        if ftz and form.flush(low) != low and form.flush(high) != high:
            return Between(form.sign_bit, 0)
        return Between(low, high)

    return compute


def float_rules(w):
    for k in "f32", "f64":
        form = FORMATS[k]
        modes = ["rn", "rz", "rm", "rp"]
        for mode in modes:
            w.rule(f"add.{mode}.{k} d, a, b", k, [k, k], with_nan(k, lambda a, b: add_bits(form, a, b, mode)))
            w.rule(f"sub.{mode}.{k} d, a, b", k, [k, k], with_nan(k, lambda a, b: add_bits(form, a, b ^ form.sign_bit, mode)))
            w.rule(f"mul.{mode}.{k} d, a, b", k, [k, k], with_nan(k, lambda a, b: multiply_bits(form, a, b, mode)))
            w.rule(f"fma.{mode}.{k} d, a, b, c", k, [k] * 3, with_nan(k, lambda a, b, c: fma_bits(form, a, b, c, mode)))
            w.rule(f"mad.{mode}.{k} d, a, b, c", k, [k] * 3, with_nan(k, lambda a, b, c: fma_bits(form, a, b, c, mode)))
            w.rule(f"div.{mode}.{k} d, a, b", k, [k, k], with_nan(k, lambda a, b: divide_bits(form, a, b, mode)))
            w.rule(f"sqrt.{mode}.{k} d, a", k, [k], with_nan(k, lambda a: root_bits(form, a, mode)), 18)
            w.rule(f"rcp.{mode}.{k} d, a", k, [k], with_nan(k, lambda a: divide_bits(form, form.round(Fraction(1)), a, mode)), 18)
        for name, change in ("add", 0), ("sub", form.sign_bit):
            w.rule(f"{name}.{k} d, a, b", k, [k, k], with_nan(k, lambda a, b: add_bits(form, a, b ^ change, "rn")), 18)
        w.rule(f"mul.{k} d, a, b", k, [k, k], with_nan(k, lambda a, b: multiply_bits(form, a, b, "rn")), 18)
        # "abs and neg of NaN yield an unspecified NaN"
        w.rule(f"abs.{k} d, a", k, [k], lambda a: Nan(k) if form.is_nan(a) else a & ~form.sign_bit, 18)
        w.rule(f"neg.{k} d, a", k, [k], lambda a: Nan(k) if form.is_nan(a) else a ^ form.sign_bit, 18)
        for name, sign in ("min", 1), ("max", -1):
            def prefer_number(a, b):
                if form.is_nan(a) or form.is_nan(b):
                    return nan_of(k) if form.is_nan(a) and form.is_nan(b) else b if form.is_nan(a) else a
                return smaller(form, a, b, sign)

            w.rule(f"{name}.{k} d, a, b", k, [k, k], prefer_number, 18)
            if k == "f32":
                w.rule(f"{name}.NaN.f32 d, a, b", k, [k, k], with_nan(k, lambda a, b: smaller(form, a, b, sign)))
                w.rule(f"{name}.ftz.f32 d, a, b", k, [k, k], lambda a, b: prefer_number(form.flush(a), form.flush(b)))
        w.rule(f"copysign.{k} d, a, b", k, [k, k], lambda a, b: b & ~form.sign_bit | a & form.sign_bit)
    for name, compute in ("add", add_bits), ("mul", multiply_bits):
        w.rule(f"{name}.ftz.f32 d, a, b", "f32", ["f32"] * 2, with_nan("f32", lambda a, b: compute(F32, a, b, "rn"), ftz=True))
        w.rule(f"{name}.sat.f32 d, a, b", "f32", ["f32"] * 2, with_nan("f32", lambda a, b: compute(F32, a, b, "rn"), sat=True))
        w.rule(f"{name}.rz.ftz.sat.f32 d, a, b", "f32", ["f32"] * 2, with_nan("f32", lambda a, b: compute(F32, a, b, "rz"), ftz=True, sat=True))
    w.rule("sub.ftz.f32 d, a, b", "f32", ["f32"] * 2, with_nan("f32", lambda a, b: add_bits(F32, a, b ^ F32.sign_bit, "rn"), ftz=True))
    w.rule("fma.rn.ftz.f32 d, a, b, c", "f32", ["f32"] * 3, with_nan("f32", lambda a, b, c: fma_bits(F32, a, b, c, "rn"), ftz=True))
    w.rule("fma.rp.sat.f32 d, a, b, c", "f32", ["f32"] * 3, with_nan("f32", lambda a, b, c: fma_bits(F32, a, b, c, "rp"), sat=True))
    w.rule("div.rn.ftz.f32 d, a, b", "f32", ["f32"] * 2, with_nan("f32", lambda a, b: divide_bits(F32, a, b, "rn"), ftz=True))
    w.rule("abs.ftz.f32 d, a", "f32", ["f32"], lambda a: Nan("f32") if F32.is_nan(a) else F32.flush(a) & ~F32.sign_bit, 18)
    w.rule("neg.ftz.f32 d, a", "f32", ["f32"], lambda a: Nan("f32") if F32.is_nan(a) else F32.flush(a) ^ F32.sign_bit, 18)
    w.rule("sqrt.rn.ftz.f32 d, a", "f32", ["f32"], with_nan("f32", lambda a: root_bits(F32, a, "rn"), ftz=True), 18)
    approximate_rules(w)


def approximate_rules(w):
    k = "f32"
    inf, sign = F32.inf, F32.sign_bit

    def quotient(a, b):
        if F32.kind(a) == "number" and F32.kind(b) == "number":
            return None if 2.0**-126 <= abs(F32.value(b)) <= 2.0**126 else ANYTHING
        return divide_bits(F32, a, b, "rn") if divide_bits(F32, a, b, "rn") is not None else "nan"

    # div.approx and .full: at most 2 ulp for a divisor between 2^-126 and 2^126
    w.rule("div.approx.f32 d, a, b", k, [k, k], approximate(k, lambda a, b: a / b, 2.0**-22, special=quotient))
    w.rule("div.full.f32 d, a, b", k, [k, k], approximate(k, lambda a, b: a / b, 2.0**-22, special=quotient))
    w.rule("div.approx.ftz.f32 d, a, b", k, [k, k], approximate(k, lambda a, b: a / b, 2.0**-22, special=quotient, ftz=True))

    def reciprocal(form):
        return lambda a: {"zero": form.inf | a & form.sign_bit, "inf": a & form.sign_bit}.get(form.kind(a))

    def root(a):
        return a if F32.kind(a) == "zero" else "nan" if a & sign else a if a == inf else None

    def reverse_root(form):
        def special(a):
            if form.kind(a) == "zero":
                return form.inf | a & form.sign_bit
            return "nan" if a & form.sign_bit else 0 if a == form.inf else None

        return special

    for ftz in "", ".ftz":
        f = bool(ftz)
        w.rule(f"rcp.approx{ftz}.f32 d, a", k, [k], approximate(k, lambda a: 1 / Fraction(a), 2.0**-23, special=reciprocal(F32), ftz=f), 18)
        w.rule(f"sqrt.approx{ftz}.f32 d, a", k, [k], approximate(k, math.sqrt, 2.0**-23, special=root, ftz=f), 18)
        w.rule(f"rsqrt.approx{ftz}.f32 d, a", k, [k], approximate(k, lambda a: a**-0.5, 2.0**-22.9, special=reverse_root(F32), ftz=f), 18)
    w.rule("rsqrt.approx.f64 d, a", "f64", ["f64"], approximate("f64", lambda a: a**-0.5, 2.0**-20, special=reverse_root(F64)), 18)
    small = [x for x in edges("f64") if F64.kind(x) != "number" or 2.0**-1000 < abs(float(F64.value(x))) < 2.0**1000]
    w.rule("rcp.approx.ftz.f64 d, a", "f64", ["f64"], approximate("f64", lambda a: 1 / a, 2.0**-19, special=reciprocal(F64)), tuples=[(x,) for x in small])
    angles = [0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x3FC90FDB, 0x40490FDB, 0xC0490FDB, 0x3F060A92, 0x40C90FDB, 0x7F800000, 0xFF800000, 0x7FC00000]
    infinite = lambda a: "nan" if F32.kind(a) == "inf" else None
    tuples = [(x,) for x in angles] + [(F32.round(Fraction(w.random.uniform(-6.28, 6.28))),) for _ in range(w.extra)]
    w.rule("sin.approx.f32 d, a", k, [k], approximate(k, math.sin, absolute=2.0**-20.5, special=infinite), tuples=tuples)
    w.rule("cos.approx.f32 d, a", k, [k], approximate(k, math.cos, absolute=2.0**-20.5, special=infinite), tuples=tuples)

    def logarithm(a):
        return sign | inf if F32.kind(a) == "zero" else "nan" if a & sign else inf if a == inf else None

    # lg2: 2^-22 absolute between 0.5 and 2, relative elsewhere
    w.rule("lg2.approx.f32 d, a", k, [k], approximate(k, math.log2, 2.0**-22, 2.0**-22, special=logarithm), 18)

    def power(a):
        if F32.kind(a) == "inf":
            return 0 if a & sign else inf
        return inf if F32.value(a) >= 128 else ANYTHING if F32.value(a) < -140 else None

    w.rule("ex2.approx.f32 d, a", k, [k], approximate(k, lambda a: 2.0**a, 2.0**-22, 2.0**-149, special=power), 18)
    ends = lambda a: F32.round(Fraction(-1 if a & sign else 1)) if F32.kind(a) == "inf" else None
    w.rule("tanh.approx.f32 d, a", k, [k], approximate(k, math.tanh, 2.0**-10.9, special=ends), 18)


# ---- compare, select, move, convert ----
def compare(kind, how, a, b):
    if kind in FLOATS:
        form = FLOATS[kind]
        unordered = form.is_nan(a) or form.is_nan(b)
        if how in ("num", "nan"):
            return unordered == (how == "nan")
        if unordered:
            return how.endswith("u") and len(how) == 3
        order = lambda bits: {"inf": Fraction(2) ** 1100}.get(form.kind(bits), abs(form.value(bits)) if form.kind(bits) != "inf" else 0) * (-1 if form.sign(bits) else 1)
        x, y = order(a), order(b)
        how = how[:2]
    else:
        x, y = number(a, kind), number(b, kind)
        how = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(how, how)
    return {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[how]


def compare_rules(w):
    signs = {"eq", "ne", "lt", "le", "gt", "ge"}
    for k in INTS + BITS + ["f32", "f64"]:
        allowed = {"eq", "ne"} if k[0] == "b" else signs
        if k[0] == "u":
            allowed = signs | {"lo", "ls", "hi", "hs"}
        if k[0] == "f":
            allowed = signs | {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}
        width = width_of(k)
        for how in sorted(allowed):
            for a, b in w.compared(k, 6):
                w.case(f"setp.{how}.{k} p, a, b", [("a", width, a), ("b", width, b)], [("p", 1, compare(k, how, a, b))])
    for how, k in ("lt", "s32"), ("geu", "f32"), ("ne", "b64"):
        width = width_of(k)
        for name, combine in ("and", lambda x, y: x & y), ("or", lambda x, y: x | y), ("xor", lambda x, y: x ^ y):
            for n, (a, b) in enumerate(w.compared(k, 6)):
                for r in 0, 1:
                    t = int(compare(k, how, a, b))
                    inputs = [("a", width, a), ("b", width, b), ("r", 1, r)]
                    w.case(f"setp.{how}.{name}.{k} p|q, a, b, r", inputs, [("p", 1, combine(t, r)), ("q", 1, combine(1 - t, r))])
                    if n < 2:
                        w.case(f"setp.{how}.{name}.{k} p, a, b, !r", inputs, [("p", 1, combine(t, 1 - r))])
    for a, b in w.inputs(["f32", "f32"], 6) + w.compared("f32", 6):
        w.case("setp.eq.ftz.f32 p|q, a, b", [("a", 32, a), ("b", 32, b)],
               [("p", 1, compare("f32", "eq", F32.flush(a), F32.flush(b))), ("q", 1, not compare("f32", "eq", F32.flush(a), F32.flush(b)))])
    for k in INTS + BITS + ["f32", "f64"]:
        width = width_of(k)
        a, b = (edges(k)[11], edges(k)[12]) if k in FORMATS else (edges(k)[6], edges(k)[3])
        for p in 0, 1:
            w.case(f"selp.{k} d, a, b, p", [("a", width, a), ("b", width, b), ("p", 1, p)], [("d", width, a if p else b)])
    for name, combine in ("and", lambda x, y: x & y), ("or", lambda x, y: x | y), ("xor", lambda x, y: x ^ y):
        for p in 0, 1:
            for q in 0, 1:
                w.case(f"{name}.pred d, p, q", [("p", 1, p), ("q", 1, q)], [("d", 1, combine(p, q))])
    for p in 0, 1:
        w.case("not.pred d, p", [("p", 1, p)], [("d", 1, 1 - p)])
        w.case("mov.pred d, p", [("p", 1, p)], [("d", 1, p)])
    for k in INTS + BITS + ["f32", "f64"]:
        w.rule(f"mov.{k} d, a", k, [k], lambda a: a, 18 if k in FORMATS else 3)
    for k, parts in ("b32", 2), ("b64", 2), ("b64", 4):
        width, part = width_of(k), width_of(k) // parts
        names = "abce"[:parts]
        value = 0xFEDCBA9876543210 >> (64 - width)
        pieces = [(n, part, value >> (part * i) & mask_of(part)) for i, n in enumerate(names)]
        w.case(f"mov.{k} d, {{{', '.join(names)}}}", pieces, [("d", width, value)])
        w.case(f"mov.{k} {{{', '.join(names)}}}, d", [("d", width, value)], pieces)
    w.case("mov.b64 {_, b}, d", [("d", 64, 0x0123456789ABCDEF)], [("b", 32, 0x01234567)])


CONVERT_INTS = ["u8", "s8", *UNSIGNED, *SIGNED]


def extended(value, kind, width):
    """A result in a register wider than its type: sign or zero extended by the type."""
    return number(value & mask_of(width_of(kind)), kind) & mask_of(width)


def convert_integers(w):
    for source in CONVERT_INTS:
        for target in CONVERT_INTS:
            width = max(width_of(target), 32)
            inputs = [edges(source)[i] for i in (2, 3, 4, 6)] + [any_value(w.random, source) for _ in range(w.extra)]
            for a in inputs:
                x = number(a, source)
                w.case(f"cvt.{target}.{source} d, a", [("a", width_of(source), a)], [("d", width, extended(x, target, width))])
            if limits(source)[0] >= limits(target)[0] and limits(source)[1] <= limits(target)[1]:
                continue  # no assembler takes a .sat that can do nothing
            for a in inputs:
                w.case(f"cvt.sat.{target}.{source} d, a", [("a", width_of(source), a)], [("d", width, extended(clamp(number(a, source), target), target, width))])
    w.case("cvt.s64.s8 d, a", [("a", 32, 0x7FFFFF80)], [("d", 64, 0xFFFFFFFFFFFFFF80)])
    w.case("cvt.u16.u64 d, a", [("a", 64, 0xFFFFFFFFFFFF8001)], [("d", 16, 0x8001)])


INTEGER_ROUNDING = {
    "rzi": math.trunc,
    "rmi": math.floor,
    "rpi": math.ceil,
    "rni": lambda x: round(x),  # a Fraction's round is to nearest, ties to even
}
CONVERT_EDGES = [Fraction(n, 2) for n in (1, -1, 3, 5, -5, -3, 7, 255, 257, 511, -257)] + [127, 128, -128, -129, 255, 256, 32767, 32768, -32769, 65535,
                 65536, 2**31 - 128, 2**31, -(2**31), -(2**31) - 256, 2**32, 2**63, 2**64, -(2**63), 10**30, -(10**30)]


def convert_floats(w):
    for source, form in FORMATS.items():
        inputs = [form.round(Fraction(x)) for x in CONVERT_EDGES] + FLOAT_EDGES[source]
        inputs += [any_value(w.random, source) for _ in range(w.extra)]
        for target in CONVERT_INTS:
            width = max(width_of(target), 32)
            low, high = limits(target)
            near = [form.round(Fraction(high)), form.round(Fraction(low)), form.round(Fraction(2 * high + 1, 2)), form.round(Fraction(2 * low - 1, 2))]
            for how, rounding in INTEGER_ROUNDING.items():
                # The edges that this target's limits make interesting, and the specials.
                specials = len(CONVERT_EDGES)
                chosen = near + inputs[:6] + [inputs[specials + i] for i in (1, 4, 7, 9, 10, 11)]
                for a in dict.fromkeys(chosen + (inputs[-w.extra:] if w.extra else [])):
                    if form.is_nan(a):
                        # zero, but the least value when the source is .f64 or the destination has 64 bits
                        value = 1 << (width_of(target) - 1) if source == "f64" or width_of(target) == 64 else 0
                        value = number(value, target)
                    elif form.kind(a) == "inf":
                        value = low if form.sign(a) else high
                    else:
                        value = clamp(rounding(form.value(a)), target)
                    w.case(f"cvt.{how}.{target}.{source} d, a", [("a", form.width, a)], [("d", width, extended(value, target, width))])
        for how, rounding in INTEGER_ROUNDING.items():
            for a in dict.fromkeys(inputs[:11] + FLOAT_EDGES[source]):
                w.case(f"cvt.{how}.{source}.{source} d, a", [("a", form.width, a)], [("d", form.width, round_float(form, source, rounding, a))])
        for target, out in FORMATS.items():
            for mode in ["rn", "rz", "rm", "rp"] if (source, target) == ("f64", "f32") else [None]:
                def convert(a, ftz=False, sat=False):
                    if ftz and source == "f32":
                        a = form.flush(a)
                    moved = form is out is F32 and not ftz and not sat  # no conversion at all
                    result = a if moved else float_to_float(form, out, target, a, mode or "rn")
                    if sat:
                        bad = isinstance(result, Nan) or out.is_nan(result) or out.sign(result)
                        result = 0 if bad else min(result, out.round(Fraction(1)))
                    return out.flush(result) if ftz and target == "f32" and isinstance(result, int) else result

                dot = f".{mode}" if mode else ""
                halves = [0x36A0000000000000, 0x36A0000000000001, 0x3690000000000000, 0x3810000000000000, 0x380FFFFFFFFFFFFF, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000]
                some = FLOAT_EDGES[source] + (halves + [0x3FF0000010000000, 0x3FF0000030000000, 0xBFF0000010000001] if source == "f64" else [])
                for a in some + [any_value(w.random, source) for _ in range(w.extra)]:
                    inputs_a = [("a", form.width, a)]
                    w.case(f"cvt{dot}.{target}.{source} d, a", inputs_a, [("d", out.width, convert(a))])
                for a in some[:18]:
                    w.case(f"cvt{dot}.sat.{target}.{source} d, a", [("a", form.width, a)], [("d", out.width, convert(a, sat=True))])
                    if "f32" in (source, target):
                        w.case(f"cvt{dot}.ftz.{target}.{source} d, a", [("a", form.width, a)], [("d", out.width, convert(a, ftz=True))])
    for source in CONVERT_INTS:
        for target, out in FORMATS.items():
            for mode in "rn", "rz", "rm", "rp":
                values = [0, 1, mask_of(width_of(source)), 1 << (width_of(source) - 1), 0x01000001, 0x01000003, 0x7FFFFFC1, 0x20000000000001, 0x20000000000003, 0x7FFFFFFFFFFFFFFF]
                values = dict.fromkeys(v & mask_of(width_of(source)) for v in values + [any_value(w.random, source) for _ in range(w.extra)])
                for a in values:
                    w.case(f"cvt.{mode}.{target}.{source} d, a", [("a", width_of(source), a)], [("d", out.width, out.round(Fraction(number(a, source)), mode))])


def converted_nan(form, out, target, a):
    """The manual names no NaN for conversions; this is what an H200 gives. What it gives as .f64 is not looked at."""
    if form is F64 and out is not F64:  # sign and the top of the payload, quiet
        payload = (a & mask_of(form.mantissa)) >> (form.mantissa - out.mantissa)
        return out.sign_bit * form.sign(a) | out.inf | 1 << (out.mantissa - 1) | payload
    if form is BF16 and out is F32:  # a shift
        return a << 16
    return nan_of(target)


def float_to_float(form, out, target, a, mode):
    kind = form.kind(a)
    if kind == "nan":
        return converted_nan(form, out, target, a)
    sign = out.sign_bit * form.sign(a)
    return sign | out.inf if kind == "inf" else out.round(form.value(a), mode, form.sign(a))


def round_float(form, kind, rounding, a):
    if form.kind(a) != "number":
        return float_to_float(form, form, kind, a, "rn")
    return form.round(Fraction(rounding(form.value(a))), "rn", form.sign(a))


# ---- further integer instructions ----
def dot(a, b, width, signed_a, signed_b):
    total = 0
    for i in range(len(a)):
        x = signed(a[i], width) if signed_a else a[i]
        y = signed(b[i], 8) if signed_b else b[i]
        total += x * y
    return total


def bytes_of(x, width=8):
    return [x >> i & mask_of(width) for i in range(0, 32, width)]


def further_rules(w):
    for k in "u64", "s64":
        w.rule(f"mad.hi.{k} d, a, b, c", k, [k] * 3, lambda a, b, c: (number(a, k) * number(b, k) >> 64) + number(c, k))
    s32 = lambda x: number(x, "s32")
    w.rule("mad.hi.sat.s32 d, a, b, c", "s32", ["s32"] * 3, lambda a, b, c: clamp((s32(a) * s32(b) >> 32) + s32(c), "s32"))
    for k in "u32", "s32":
        def product24(a, b):
            cut = (lambda x: signed(x & mask_of(24), 24)) if k == "s32" else (lambda x: x & mask_of(24))
            return cut(a) * cut(b)

        tuples = [(0x00800000, 1, 5), (0x00FFFFFF, 0x00FFFFFF, 0xFFFFFFFF), (0xFF000001, 0x00000003, 0x80000000), (0x007FFFFF, 0x017FFFFF, 0x7FFFFFFF)]
        tuples += [tuple(any_value(w.random, k) for _ in range(3)) for _ in range(w.extra)]
        w.rule(f"mul24.hi.{k} d, a, b", k, [k] * 2, lambda a, b: product24(a, b) >> 16, tuples=[t[:2] for t in tuples])
        w.rule(f"mad24.lo.{k} d, a, b, c", k, [k] * 3, lambda a, b, c: product24(a, b) + c, tuples=tuples)
        w.rule(f"mad24.hi.{k} d, a, b, c", k, [k] * 3, lambda a, b, c: (product24(a, b) >> 16) + c, tuples=tuples)
        if k == "s32":
            w.rule("mad24.hi.sat.s32 d, a, b, c", k, [k] * 3, lambda a, b, c: clamp((product24(a, b) >> 16) + s32(c), "s32"), tuples=tuples)
    for name, choose in ("min", min), ("max", max):
        w.rule(f"{name}.relu.s32 d, a, b", "s32", ["s32"] * 2, lambda a, b: max(choose(s32(a), s32(b)), 0))

        def in_halves(kind, combine):
            return lambda a, b: sum((combine(number(x, kind), number(y, kind)) & 0xFFFF) << 16 * i for i, (x, y) in enumerate(zip(bytes_of(a, 16), bytes_of(b, 16))))

        pairs = [(0x80007FFF, 0x7FFF8000), (0x0001FFFF, 0xFFFF0001), (0x00050005, 0x0003FFF0), (0xFFFEFFFD, 0xFFFDFFFE)]
        pairs += [(any_value(w.random, "b32"), any_value(w.random, "b32")) for _ in range(w.extra)]
        for k in "u16", "s16":
            w.rule(f"{name}.{k}x2 d, a, b", "b32", ["b32"] * 2, in_halves(k, choose), tuples=pairs)
            if name == "min":
                w.rule(f"add.{k}x2 d, a, b", "b32", ["b32"] * 2, in_halves(k, lambda x, y: x + y), tuples=pairs)
        w.rule(f"{name}.relu.s16x2 d, a, b", "b32", ["b32"] * 2, in_halves("s16", lambda x, y: max(choose(x, y), 0)), tuples=pairs)
    words = [(0xFF7F8001, 0x0180FF7F, 10), (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF), (0x80808080, 0x7F7F7F7F, 0x80000000), (0x01020304, 0x05060708, 0)]
    words += [tuple(any_value(w.random, "b32") for _ in range(3)) for _ in range(w.extra)]
    for ka in "u32", "s32":
        for kb in "u32", "s32":
            w.rule(f"dp4a.{ka}.{kb} d, a, b, c", "b32", ["b32"] * 3, lambda a, b, c: c + dot(bytes_of(a), bytes_of(b), 8, ka == "s32", kb == "s32"), tuples=words)
            for half, first in ("lo", 0), ("hi", 2):
                w.rule(f"dp2a.{half}.{ka}.{kb} d, a, b, c", "b32", ["b32"] * 3,
                       lambda a, b, c: c + dot(bytes_of(a, 16), bytes_of(b)[first:first + 2], 16, ka == "s32", kb == "s32"), tuples=words)
    apart = lambda a, b, width: [abs(x - y) for x, y in zip(bytes_of(a, width), bytes_of(b, width))]
    w.rule("vabsdiff4.u32.u32.u32 d, a, b, c", "b32", ["b32"] * 3, lambda a, b, c: sum(x << 8 * i for i, x in enumerate(apart(a, b, 8))), tuples=[(*t[:2], 0) for t in words])
    w.rule("vabsdiff4.u32.u32.u32.add d, a, b, c", "b32", ["b32"] * 3, lambda a, b, c: c + sum(apart(a, b, 8)), tuples=words)
    w.rule("vabsdiff2.u32.u32.u32.add d, a, b, c", "b32", ["b32"] * 3, lambda a, b, c: c + sum(apart(a, b, 16)), tuples=words)

    modes = {"f4e": ["3210", "4321", "5432", "6543"], "b4e": ["5670", "6701", "7012", "0123"], "rc8": ["0000", "1111", "2222", "3333"],
             "ecl": ["3210", "3211", "3222", "3333"], "ecr": ["0000", "1110", "2210", "3210"], "rc16": ["1010", "3232", "1010", "3232"]}
    for mode, tables in modes.items():
        def permute(a, b, c):
            source = bytes_of(a) + bytes_of(b)
            return int.from_bytes(bytes(source[int(n)] for n in tables[c & 3]), "big")

        w.rule(f"prmt.{mode}.b32 d, a, b, c", "b32", ["b32"] * 3, permute, tuples=[(0x83828180, 0x87868584, c) for c in (0, 1, 2, 3, 0xFFFFFFFE)])
    for mode in "clamp", "wrap":
        amount = lambda x: min(x, 32) if mode == "clamp" else x & 31
        counts = [0, 1, 7, 8, 31, 32, 33, 0xFFFFFFFF]
        for k in "u32", "s32":
            def extend(a, b):
                n = amount(b)
                low = a & mask_of(n)
                return signed(low, n) if k == "s32" and n else low

            w.rule(f"szext.{mode}.{k} d, a, b", k, [k, "u32"], extend, tuples=[(0x80FF00C1, n) for n in counts] + [(any_value(w.random, k), w.random.randrange(40)) for _ in range(w.extra)])
        tuples = [(0, 0), (0, 32), (31, 1), (31, 32), (32, 5), (4, 8), (33, 33), (0xFFFFFFFF, 1), (1, 0xFFFFFFFF)] + [(w.random.randrange(40), w.random.randrange(40)) for _ in range(w.extra)]
        w.rule(f"bmsk.{mode}.b32 d, a, b", "b32", ["u32", "u32"], lambda a, b: mask_of(amount(b)) << amount(a), tuples=tuples)

    def nth(mask, base, offset):
        offset = number(offset, "s32")
        if offset == 0:
            return base if mask >> base & 1 else -1
        left, step, at = abs(offset) - 1, 1 if offset > 0 else -1, base
        while 0 <= at < 32:
            if mask >> at & 1:
                if left == 0:
                    return at
                left -= 1
            at += step
        return -1

    tuples = [(0x80000101, 0, 1), (0x80000101, 0, 2), (0x80000101, 0, 3), (0x80000101, 0, 4), (0x80000101, 31, 0xFFFFFFFF), (0x80000101, 31, 0xFFFFFFFD), (0x80000101, 8, 0),
              (0x80000101, 9, 0), (0, 0, 1), (0xFFFFFFFF, 5, 20), (0xFFFFFFFF, 5, 0xFFFFFFFA), (0xFFFFFFFF, 5, 0xFFFFFFF9)]
    tuples += [(any_value(w.random, "b32"), w.random.randrange(32), w.random.randrange(-9, 9) & MASK32) for _ in range(w.extra)]
    w.rule("fns.b32 d, a, b, c", "b32", ["b32", "u32", "s32"], nth, tuples=tuples)
    carry_rules(w)
    for k in "s32", "f32":
        for t in [*INTS, *BITS, "f32", "f64"]:
            width = width_of(t)
            a, b = (edges(t)[11], edges(t)[2]) if t in FLOATS else (edges(t)[6], edges(t)[3])
            for c in [0, 1, 0xFFFFFFFF, 0x80000000] if k == "s32" else [0x80000000, 0x00000001, 0x80000001, 0x7FC00000, 0xFF800000]:
                positive = number(c, "s32") >= 0 if k == "s32" else not F32.is_nan(c) and F32.value(c & ~F32.inf if F32.kind(c) == "inf" else c) >= 0 and c != 0xFF800000
                w.case(f"slct.{t}.{k} d, a, b, c", [("a", width, a), ("b", width, b), ("c", 32, c)], [("d", width, a if positive else b)])
    for c in 0x80000001, 0x80800000:
        w.case("slct.ftz.u32.f32 d, a, b, c", [("a", 32, 1), ("b", 32, 2), ("c", 32, c)], [("d", 32, 1 if c == 0x80000001 else 2)])


MASK32 = mask_of(32)


def carry_rules(w):
    """Pairs of instructions: the first one's carry shows in the second one's result."""
    for k in "u32", "s32", "u64", "s64":
        width = width_of(k)
        top = 1 << width
        edge = [0, 1, top - 1, top // 2, top // 2 - 1, 0x1234567 % top]
        tuples = [(a, b, c, e) for a, b in ((edge[2], 1), (edge[2], edge[2]), (0, 0), (0, 1), (edge[3], edge[3]), (edge[4], edge[5])) for c, e in ((0, 0), (edge[2], 0), (edge[2], edge[2]), (edge[3], edge[4]))][::2]
        tuples += [tuple(any_value(w.random, k) for _ in range(4)) for _ in range(w.extra)]
        n = lambda x: number(x, k)
        high = lambda x, y: (n(x) * n(y) >> width) % top
        for a, b, c, e in tuples:
            inputs = [("a", width, a), ("b", width, b), ("c", width, c), ("e", width, e)]
            carry = (a + b) >> width
            w.case(f"add.cc.{k} d, a, b; addc.{k} f, c, e", inputs, [("d", width, a + b), ("f", width, c + e + carry)])
            carry2 = (c + e + carry) >> width
            w.case(f"add.cc.{k} d, a, b; addc.cc.{k} f, c, e; addc.{k} g, a, c", inputs, [("d", width, a + b), ("f", width, c + e + carry), ("g", width, a + c + carry2)])
            borrow = int(a < b)
            w.case(f"sub.cc.{k} d, a, b; subc.{k} f, c, e", inputs, [("d", width, a - b), ("f", width, c - e - borrow)])
            borrow2 = int(c < e + borrow)
            w.case(f"sub.cc.{k} d, a, b; subc.cc.{k} f, c, e; subc.{k} g, a, c", inputs, [("d", width, a - b), ("f", width, c - e - borrow), ("g", width, a - c - borrow2)])
            # Mixed: the manual has a subtraction keep its borrow. An H200 keeps the carry of a + ~b + 1, which is the opposite.
            w.case(f"sub.cc.{k} d, a, b; addc.{k} f, c, e", inputs, [("d", width, a - b), ("f", width, c + e + 1 - borrow)])
            w.case(f"add.cc.{k} d, a, b; subc.{k} f, c, e", inputs, [("d", width, a + b), ("f", width, c - e - 1 + carry)])
            w.case(f"sub.cc.{k} d, a, b; subc.cc.{k} f, c, e; addc.{k} g, a, c", inputs, [("d", width, a - b), ("f", width, c - e - borrow), ("g", width, a + c + 1 - borrow2)])
            low = a * b % top + c
            w.case(f"mad.lo.cc.{k} d, a, b, c; madc.hi.{k} f, a, b, e", inputs, [("d", width, low), ("f", width, high(a, b) + e + (low >> width))])
            mid = high(a, b) + e + (low >> width)
            w.case(f"mad.lo.cc.{k} d, a, b, c; madc.hi.cc.{k} f, a, b, e; addc.{k} g, c, e", inputs, [("d", width, low), ("f", width, mid), ("g", width, c + e + (mid >> width))])
            top_part = high(a, b) + c
            w.case(f"mad.hi.cc.{k} d, a, b, c; madc.lo.{k} f, a, b, e", inputs, [("d", width, top_part), ("f", width, a * b + e + (top_part >> width))])
            last = a * b % top + e + (top_part >> width)
            w.case(f"mad.hi.cc.{k} d, a, b, c; madc.lo.cc.{k} f, a, b, e; addc.{k} g, a, e", inputs, [("d", width, top_part), ("f", width, last), ("g", width, a + e + (last >> width))])


# ---- halves, alone and in pairs ----
def pair_up(compute, *operands):
    """Each half of the words by itself. Results are whole halves: the rules of halves give no NaN but the canonical one."""
    results = [compute(*(o >> 16 * i & 0xFFFF for o in operands)) for i in (0, 1)]
    return ANYTHING if any(not isinstance(r, int) for r in results) else results[0] & 0xFFFF | (results[1] & 0xFFFF) << 16


def both(w, text, kind, count, compute, most=9):
    """The rule for .f16 and for .f16x2 alike; `text` has {k} for the type."""
    operands = ", ".join("abc"[:count])
    tuples = w.inputs([kind] * count, most)
    w.rule(f"{text.format(k=kind)} d, {operands}", kind, [kind] * count, compute, tuples=tuples)
    words = [tuple(x | y << 16 for x, y in zip(t, u)) for t, u in zip(tuples, tuples[1:] + tuples[:1])]
    w.rule(f"{text.format(k=kind + 'x2')} d, {operands}", "b32", ["b32"] * count, lambda *o: pair_up(compute, *o), tuples=words)


def relu(kind, compute):
    form = FLOATS[kind]

    def on_bits(*bits):
        result = compute(*bits)
        return result if form.is_nan(result) or not form.sign(result) else 0

    return on_bits


def half_rules(w):
    for k, form in HALVES.items():
        add = lambda a, b: add_bits(form, a, b, "rn")
        sub = lambda a, b: add_bits(form, a, b ^ form.sign_bit, "rn")
        multiply = lambda a, b: multiply_bits(form, a, b, "rn")
        fuse = lambda a, b, c: fma_bits(form, a, b, c, "rn")
        for name, compute in ("add", add), ("sub", sub), ("mul", multiply):
            both(w, name + ".rn.{k}", k, 2, with_nan(k, compute), 16)
            if k == "f16":
                both(w, name + ".ftz.{k}", k, 2, with_nan(k, compute, ftz=True))
                both(w, name + ".sat.{k}", k, 2, with_nan(k, compute, sat=True))
        both(w, "fma.rn.{k}", k, 3, with_nan(k, fuse), 16)
        both(w, "fma.rn.relu.{k}", k, 3, relu(k, with_nan(k, fuse)))
        if k == "f16":
            both(w, "fma.rn.ftz.{k}", k, 3, with_nan(k, fuse, ftz=True))
            both(w, "fma.rn.sat.{k}", k, 3, with_nan(k, fuse, sat=True))
        both(w, "abs.{k}", k, 1, lambda a: Nan(k) if form.is_nan(a) else a & ~form.sign_bit, 18)
        both(w, "neg.{k}", k, 1, lambda a: Nan(k) if form.is_nan(a) else a ^ form.sign_bit, 18)
        for name, sign in ("min", 1), ("max", -1):
            def prefer_number(a, b):
                if form.is_nan(a) or form.is_nan(b):
                    return nan_of(k) if form.is_nan(a) and form.is_nan(b) else b if form.is_nan(a) else a
                return smaller(form, a, b, sign)

            both(w, name + ".{k}", k, 2, prefer_number, 18)
            both(w, name + ".NaN.{k}", k, 2, with_nan(k, lambda a, b: smaller(form, a, b, sign)))
        small = 2.0**-149 if k == "bf16" else 2.0**-24
        error = {"f16": 2.0**-9.9, "bf16": 2.0**-7}[k]

        def power(a):
            if form.kind(a) == "inf":
                return 0 if form.sign(a) else form.inf
            return form.inf if form.value(a) >= form.bias + 1 else ANYTHING if form.value(a) < 1 - form.bias else None

        name = "ex2.approx.{k}" if k == "f16" else "ex2.approx.ftz.{k}"
        both_ranges(w, name, k, approximate(k, lambda a: 2.0**a, error, small, special=power))
        ends = lambda a: form.round(Fraction(-1 if form.sign(a) else 1)) if form.kind(a) == "inf" else None
        both_ranges(w, "tanh.approx.{k}", k, approximate(k, math.tanh, 0 if k == "f16" else 2.0**-7, 2.0**-10.5 if k == "f16" else 2.0**-8, special=ends))
    for name, sign in ("min", 1), ("max", -1):
        def signless(a, b):
            a_magnitude, b_magnitude = a & ~F32.sign_bit, b & ~F32.sign_bit
            if F32.is_nan(a) or F32.is_nan(b):
                chosen = nan_of("f32") if F32.is_nan(a) and F32.is_nan(b) else b_magnitude if F32.is_nan(a) else a_magnitude
            else:
                chosen = smaller(F32, a_magnitude, b_magnitude, sign)
            return Nan("f32") if F32.is_nan(chosen) else chosen | (a ^ b) & F32.sign_bit

        w.rule(f"{name}.xorsign.abs.f32 d, a, b", "f32", ["f32"] * 2, signless, 18)
        w.rule(f"{name}.NaN.xorsign.abs.f32 d, a, b", "f32", ["f32"] * 2, with_nan("f32", signless), 18)
    for k, form in FORMATS.items():
        least = form.round(Fraction(2) ** (1 - form.bias))
        tests = {"finite": lambda a: form.kind(a) in ("number", "zero"), "infinite": lambda a: form.kind(a) == "inf", "number": lambda a: not form.is_nan(a),
                 # The manual names subnormals and infinities as no normal numbers; zeros are normal to the hardware.
                 "notanumber": form.is_nan, "normal": lambda a: form.kind(a) == "zero" or form.kind(a) == "number" and a & ~form.sign_bit >= least,
                 "subnormal": lambda a: form.kind(a) == "number" and a & ~form.sign_bit < least}
        for name, compute in tests.items():
            for (a,) in w.inputs([k], 18):
                w.case(f"testp.{name}.{k} p, a", [("a", form.width, a)], [("p", 1, compute(a))])
    set_rules(w)
    convert_halves(w)


def both_ranges(w, text, kind, compute):
    for (a,) in w.inputs([kind], 18):
        w.case(f"{text.format(k=kind)} d, a", [("a", 16, a)], [("d", 16, compute(a))])
    # The two halves of a pair are looked at one by one.
    for (a,) in w.inputs([kind], 18):
        w.case(f"mov.b32 e, {{a, b}}; {text.format(k=kind + 'x2')} e, e; mov.b32 {{d, f}}, e", [("a", 16, a), ("b", 16, a ^ 1), ("e", 32, 0)], [("d", 16, compute(a)), ("f", 16, compute(a ^ 1))])


def set_rules(w):
    signs = {"eq", "ne", "lt", "le", "gt", "ge"}
    one = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}
    for k in INTS + BITS + [*FLOATS]:
        allowed = {"eq", "ne"} if k[0] == "b" and k not in FLOATS else signs
        if k[0] == "u":
            allowed = signs | {"lo", "ls", "hi", "hs"}
        if k in FLOATS:
            allowed = signs | {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}
        width = width_of(k)
        targets = ["u32", "s32", "f32"] if k not in HALVES else ["u32", "s32", "u16", "s16", k]
        for how in sorted(allowed):
            for target in targets:
                yes = one.get(target, mask_of(width_of(target)))
                for a, b in w.compared(k, 6)[: None if w.extra else 4]:
                    w.case(f"set.{how}.{target}.{k} d, a, b", [("a", width, a), ("b", width, b)], [("d", width_of(target), yes if compare(k, how, a, b) else 0)])
            if k in HALVES:
                tuples = w.compared(k, 6)
                for n, ((a, b), (c, e)) in enumerate(zip(tuples, tuples[1:])):
                    low, high = compare(k, how, a, b), compare(k, how, c, e)
                    inputs = [("a", 32, a | c << 16), ("b", 32, b | e << 16)]
                    w.case(f"setp.{how}.{k} p, a, b", [("a", 16, a), ("b", 16, b)], [("p", 1, low)])
                    w.case(f"setp.{how}.{k}x2 p|q, a, b", inputs, [("p", 1, low), ("q", 1, high)])
                    if n < 2:
                        for target in "u32", "s32":
                            w.case(f"set.{how}.{target}.{k}x2 d, a, b", inputs, [("d", 32, 0xFFFF * low | 0xFFFF0000 * high)])
                        w.case(f"set.{how}.{k}x2.{k}x2 d, a, b", inputs, [("d", 32, one[k] * low | (one[k] * high) << 16)])


def whole_number(form, target, rounding, a):
    """The integer that a float becomes: clamped; of a NaN 0, or with 64 bits the least number."""
    low, high = limits(target)
    if form.is_nan(a):
        return number(1 << 63, target) if width_of(target) == 64 else 0
    if form.kind(a) == "inf":
        return low if form.sign(a) else high
    return clamp(rounding(form.value(a)), target)


def convert_halves(w):
    for k, form in HALVES.items():
        for source in "f32", "f64":
            wide = FORMATS[source]
            near = [wide.round(form.value(x) * n / 2048) for x in (0x3C00, 0x0001, 0x7BFF if k == "f16" else 0x7F7F) for n in (2047, 2048, 2049, 2050, 1024, 1025)]
            for mode in "rn", "rz":
                for a in [*FLOAT_EDGES[source], *near, *(any_value(w.random, source) for _ in range(w.extra))]:
                    w.case(f"cvt.{mode}.{k}.{source} d, a", [("a", wide.width, a)], [("d", 16, float_to_float(wide, form, k, a, mode))])
            for a in FLOAT_EDGES[k]:
                w.case(f"cvt.{source}.{k} d, a", [("a", 16, a)], [("d", wide.width, float_to_float(form, wide, source, a, "rn"))])
        for a in FLOAT_EDGES["f32"]:
            result = float_to_float(F32, form, k, a, "rn")
            w.case(f"cvt.rn.relu.{k}.f32 d, a", [("a", 32, a)], [("d", 16, result if form.is_nan(result) or not form.sign(result) else 0)])
        for source in CONVERT_INTS:
            width = width_of(source)
            if k == "bf16" and width == 8:
                continue  # see narrow_integers_of_bf16
            values = [0, 1, mask_of(width), 1 << (width - 1), 2049, 2051, 65519, 65520, 0x7FFFFFC1, 257, 259, 0x8000000000000001, 0x0040200000000001]
            values = dict.fromkeys(v & mask_of(width) for v in values + [any_value(w.random, source) for _ in range(w.extra)])
            for a in values:
                w.case(f"cvt.rn.{k}.{source} d, a", [("a", width, a)], [("d", 16, form.round(Fraction(number(a, source)), "rn"))])
        for target in CONVERT_INTS:
            width = max(width_of(target), 32)
            low, high = limits(target)
            if k == "bf16" and width_of(target) < 32:
                continue  # see narrow_integers_of_bf16
            for how, rounding in INTEGER_ROUNDING.items():
                halves = [form.round(Fraction(n, 2)) for n in (1, -1, 3, 5, -5, 255, 257)]
                for a in dict.fromkeys(halves + [form.round(Fraction(high)), form.round(Fraction(low)), 0x8000, form.inf, form.inf | form.sign_bit, FLOAT_EDGES[k][11]]):
                    value = whole_number(form, target, rounding, a)
                    w.case(f"cvt.{how}.{target}.{k} d, a", [("a", 16, a)], [("d", width, extended(value, target, width))])
        for how, rounding in INTEGER_ROUNDING.items():
            for a in FLOAT_EDGES[k] + [form.round(Fraction(n, 2)) for n in (1, -1, 3, 5, -5, 255)]:
                w.case(f"cvt.{how}.{k}.{k} d, a", [("a", 16, a)], [("d", 16, round_float(form, k, rounding, a))])
        for other, out in HALVES.items():
            for a in FLOAT_EDGES[k]:
                if k != other:
                    w.case(f"cvt.rn.{other}.{k} d, a", [("a", 16, a)], [("d", 16, float_to_float(form, out, other, a, "rn"))])
        for a in FLOAT_EDGES[k]:
            w.case(f"cvt.{k}.{k} d, a", [("a", 16, a)], [("d", 16, a if not form.is_nan(a) else nan_of(k))])
        for n, a in enumerate(FLOAT_EDGES["f32"]):
            b = FLOAT_EDGES["f32"][n * 5 % 18]
            for mode in "rn", "rz":
                packed = float_to_float(F32, form, k, b, mode) | float_to_float(F32, form, k, a, mode) << 16
                w.case(f"cvt.{mode}.{k}x2.f32 d, a, b", [("a", 32, a), ("b", 32, b)], [("d", 32, packed)])

    def tensor_float(a):
        """19 bits kept: to nearest, ties away from zero. The assembler adds half a unit to finite values and cuts off all."""
        return a + (0x1000 if F32.kind(a) in ("number", "zero") else 0) & ~0x1FFF

    for a in [*FLOAT_EDGES["f32"], 0x3F801000, 0x3F803000, 0xBF800FFF]:
        w.case("cvt.rna.tf32.f32 d, a", [("a", 32, a)], [("d", 32, tensor_float(a))])
    for kind, form, most in ("e4m3x2", Float(8, 4), 0x7E), ("e5m2x2", Float(8, 5), 0x7B):
        def narrow(a, wide):
            if wide.is_nan(a):
                return 0x7F
            sign = 0x80 * wide.sign(a)
            if wide.kind(a) == "inf":
                return sign | most
            limit = 448 if most == 0x7E else 57344
            magnitude = min(abs(wide.value(a)), Fraction(limit))
            return sign | eight_bits(form, magnitude)

        values = [*FLOAT_EDGES["f32"], *(F32.round(Fraction(x)) for x in (448, 449, 464, 465, 57344, 61440, 0.001953125, 0.0009765625, 17, 18, 19, 1.0625))]
        for n, a in enumerate(values):
            b = values[n * 7 % len(values)]
            w.case(f"cvt.rn.satfinite.{kind}.f32 d, a, b", [("a", 32, a), ("b", 32, b)], [("d", 16, narrow(a, F32) << 8 | narrow(b, F32))])
        for n, a in enumerate(FLOAT_EDGES["f16"]):
            b = FLOAT_EDGES["f16"][n * 5 % 18]
            w.case(f"cvt.rn.satfinite.{kind}.f16x2 d, a", [("a", 32, a << 16 | b)], [("d", 16, narrow(a, F16) << 8 | narrow(b, F16))])

        def widen(x):
            magnitude = x & 0x7F
            if magnitude > most and not (kind == "e5m2x2" and magnitude == 0x7C):
                return 0x7FFF
            if kind == "e5m2x2" and magnitude == 0x7C:
                return 0x7C00 | (x & 0x80) << 8
            exponent, fraction = magnitude >> form.mantissa, magnitude & mask_of(form.mantissa)
            value = Fraction(fraction | (exponent > 0) << form.mantissa) * Fraction(2) ** (max(exponent, 1) - form.bias - form.mantissa)
            return F16.round(value) | (x & 0x80) << 8

        for a in 0x0001, 0x807F, 0x7E3C, 0x7B7C, 0xFD08, 0x0481, 0x38B8:
            w.case(f"cvt.rn.f16x2.{kind} d, a", [("a", 16, a)], [("d", 32, widen(a >> 8) << 16 | widen(a & 255))])
    for k in "s16", "u16", "s8", "u8":
        width = width_of(k)
        for a, b in (5, 0xFFFFFFFB), (0x7FFFFFFF, 0x80000000), (0x0000FFFF, 0xFFFF0000), (200, 0xFFFFFF80), (0x8000, 0x7FFF):
            packed = (clamp(number(a, "s32"), k) & mask_of(width)) << width | clamp(number(b, "s32"), k) & mask_of(width)
            if width == 16:
                w.case(f"cvt.pack.sat.{k}.s32 d, a, b", [("a", 32, a), ("b", 32, b)], [("d", 32, packed)])
            else:
                w.case(f"cvt.pack.sat.{k}.s32.b32 d, a, b, c", [("a", 32, a), ("b", 32, b), ("c", 32, 0xABCD1234)], [("d", 32, packed | 0x12340000)])


def eight_bits(form, magnitude):
    """To nearest, ties to even, without the infinities that Float.round knows: e4m3 has none."""
    if magnitude == 0:
        return 0
    exponent = max(magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - 1, 1 - form.bias)
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    units = magnitude / Fraction(2) ** (exponent - form.mantissa)
    whole = round(units)  # a Fraction's round: ties to even
    return whole + ((exponent + form.bias - 1) << form.mantissa) if whole >> form.mantissa else whole


# ---- addresses and memory ----
def common_divisor_rules(w):
    """All lanes divide by one number, where an implementation may multiply: multiples of it, those less one, and extremes."""
    for k in "u32", "s32":
        for y in 2, 3, 7, 10, 641, 65537, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF6, 0xFFFFFFFE, 0xFFFFFFFF, 1:
            most = limits(k)[1] // abs(number(y, k))
            ends = [0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0, 1, 0x80000001, y, y - 1]
            multiples = [number(y, k) * w.random.randint(0, most) for _ in range(10)] + [number(y, k) * most]
            x = (ends + multiples + [m - 1 for m in multiples] + [number(y, k), number(y, k) + 1])[:LANES]
            x = [v & 0xFFFFFFFF for v in x]
            w.case(f"div.{k} d, x, y", [("x", 32, x), ("y", 32, y)], [("d", 32, [divide(k)(v, y) for v in x])])
            w.case(f"rem.{k} d, x, y", [("x", 32, x), ("y", 32, y)], [("d", 32, [remainder(k)(v, y) for v in x])])


def memory_rules(w):
    value = 0xFEDCBA9876543210
    for k in ["b8", "u8", "s8", *BITS, *UNSIGNED, *SIGNED, "f32", "f64"]:
        size = width_of(k)
        wide = max(size, 32)
        for name in "ld.global", "ldu.global":
            w.case(f"{name}.{k} d, [m]", [("m", 64, value)], [("d", wide, extended(value, k, wide) if k[0] in "us" else value & mask_of(size)), ("m", 64, value)])
        w.case(f"st.global.{k} [m], a", [("m", 64, 0x1111111111111111), ("a", wide, value & mask_of(wide))],
               [("m", 64, 0x1111111111111111 & ~mask_of(size) | value & mask_of(size))])
    for name in ("ld.volatile.global.s16", "ld.relaxed.gpu.global.s16", "ld.acquire.sys.global.s16", "ld.global.nc.s16", "ld.global.ca.L2::128B.s16", "ld.s16"):
        w.case(f"{name} d, [m+2]", [("m", 64, value)], [("d", 32, 0x7654), ("m", 64, value)])
    whole = 0x0F1E2D3C4B5A69788796A5B4C3D2E1F0
    w.case("ld.global.v2.u32 {d, e}, [m]", [("m", 128, whole)], [("d", 32, whole), ("e", 32, whole >> 32), ("m", 128, whole)])
    w.case("ld.global.v4.u32 {d, e, f, g}, [m]", [("m", 128, whole)], [(n, 32, whole >> 32 * i) for i, n in enumerate("defg")] + [("m", 128, whole)])
    w.case("ld.global.v2.u64 {d, e}, [m]", [("m", 128, whole)], [("d", 64, whole), ("e", 64, whole >> 64), ("m", 128, whole)])
    w.case("ld.global.v4.s8 {d, e, f, g}, [m+4]", [("m", 128, whole)], [(n, 32, extended(whole >> 32 + 8 * i, "s8", 32)) for i, n in enumerate("defg")] + [("m", 128, whole)])
    w.case("st.global.v4.b32 [m], {a, b, c, e}", [("m", 128, 0)] + [(n, 32, whole >> 32 * i) for i, n in enumerate("abce")], [("m", 128, whole)])
    w.case("st.global.v2.b16 [m+8], {a, b}", [("m", 128, whole), ("a", 16, 0x1234), ("b", 16, 0x5678)],
           [("m", 128, whole & ~(mask_of(32) << 64) | 0x56781234 << 64)])

    def atomic(name, k, new, *operands, before):
        width = width_of(k)
        inputs = [("m", width, before), *[(n, width, o) for n, o in zip("ab", operands)]]
        after = new(before, *operands)
        w.case(f"atom.global.{name}.{k} d, [m], {', '.join('ab'[:len(operands)])}", inputs, [("d", width, before), ("m", width, after)])
        if name not in ("exch", "cas"):
            w.case(f"red.global.{name}.{k} [m], a", inputs, [("m", width, after)])

    for k in ["b32", "b64", "u32", "u64", "s32", "s64"]:
        top = 1 << (width_of(k) - 1)
        n = lambda x: number(x, k)
        for before, a in (5, 7), (top, top), (mask_of(width_of(k)), 1), (top - 1, mask_of(width_of(k))):
            if k in ("u32", "s32", "u64"):
                atomic("add", k, lambda m, a: n(m) + n(a), a, before=before)
            if k[0] == "b":
                atomic("and", k, lambda m, a: m & a, a, before=before)
                atomic("or", k, lambda m, a: m | a, a, before=before)
                atomic("xor", k, lambda m, a: m ^ a, a, before=before)
            else:
                atomic("min", k, lambda m, a: min(n(m), n(a)), a, before=before)
                atomic("max", k, lambda m, a: max(n(m), n(a)), a, before=before)
        if k[0] == "b":
            atomic("exch", k, lambda m, a: a, top, before=3)
    for k in BITS:
        top = 1 << (width_of(k) - 1)
        atomic("cas", k, lambda m, a, b: b if m == a else m, top, 9, before=top)
        atomic("cas", k, lambda m, a, b: b if m == a else m, 0, 9, before=top)
    for k in ["u32"]:
        for before, a in (5, 7), (7, 7), (8, 7), (0, 7), (0xFFFFFFFF, 3), (3, 0xFFFFFFFF), (0x80000000, 0x7FFFFFFF):
            atomic("inc", k, lambda m, a: 0 if m >= a else m + 1, a, before=before)
            atomic("dec", k, lambda m, a: a if m == 0 or m > a else m - 1, a, before=before)
    for k, form in FORMATS.items():
        for i, j in (2, 4), (0, 1), (5, 5), (9, 2), (15, 2), (3, 2):
            a, before = FLOAT_EDGES[k][i], FLOAT_EDGES[k][j]
            atomic("add", k, lambda m, a: add_bits(form, m, a, "rn"), a, before=before)
    for k, form in HALVES.items():
        edge = FLOAT_EDGES[k]
        for i, j in (2, 4), (0, 1), (5, 5), (9, 2), (15, 2), (3, 2):
            a, before = edge[i], edge[j]
            sums = [add_bits(form, before, a, "rn"), add_bits(form, a, a, "rn")]
            if form.is_nan(a) or form.is_nan(before) or None in sums:
                continue
            atomic("add.noftz", k, lambda m, a: add_bits(form, m, a, "rn"), a, before=before)
            atomic("add.noftz", k + "x2", lambda m, _: sums[0] | sums[1] << 16, a | a << 16, before=before | a << 16)


def address_rules(w):
    """Generic addresses have no fixed numbers: there and back is the address; a global one is itself."""
    for space in "global", "const":
        w.case(f"cvta.{space}.u64 d, a", [("a", 64, 0x12345678)], [("d", 64, 0x12345678)])
        w.case(f"cvta.to.{space}.u64 d, a", [("a", 64, 0x12345678)], [("d", 64, 0x12345678)])
    # One opcode line may hold several instructions, so that what lies between them needs no name.
    for space in "shared", "local", "param":
        w.case(f"cvta.{space}.u64 d, a; cvta.to.{space}.u64 d, d", [("a", 64, 0x40)], [("d", 64, 0x40)])
    for space in "shared", "local":
        w.case(f"cvta.{space}.u64 d, a; isspacep.{space} p, d", [("a", 64, 0x40)], [("d", 64, ANYTHING), ("p", 1, 1)])
        w.case(f"cvta.{space}.u64 d, a; isspacep.global p, d", [("a", 64, 0x40)], [("d", 64, ANYTHING), ("p", 1, 0)])
    w.case("isspacep.global p, m; ld.global.u32 d, [m]", [("m", 32, 1)], [("p", 1, 1), ("d", 32, 1), ("m", 32, 1)])
    for space in "shared", "local", "const", "param":
        w.case(f"isspacep.{space} p, m; ld.global.u32 d, [m]", [("m", 32, 1)], [("p", 1, 0), ("d", 32, 1), ("m", 32, 1)])
    w.case("pmevent 1; ld.global.u32 d, [m]", [("m", 32, 1)], [("d", 32, 1), ("m", 32, 1)])
    w.case("prefetch.global.L2 [m]; ld.global.u32 d, [m]", [("m", 32, 1)], [("d", 32, 1), ("m", 32, 1)])
    w.case("prefetchu.L1 [m]; ld.global.u32 d, [m]", [("m", 32, 1)], [("d", 32, 1), ("m", 32, 1)])


# ---- between lanes ----
def shuffle(how, lane, b, c):
    distance, limit, segment = b & 31, c & 31, c >> 8 & 31
    most, least = lane & segment | limit & ~segment & 31, lane & segment
    source = {"up": lane - distance, "down": lane + distance, "bfly": lane ^ distance, "idx": least | distance & ~segment & 31}[how]
    inside = source >= most if how == "up" else source <= most
    return (source if inside else lane), inside


def lane_rules(w):
    data = [(0x9E3779B9 * (i + 1)) & mask_of(32) for i in range(LANES)]
    for k in ["b32"]:
        for how in "up", "down", "bfly", "idx":
            full = 0 if how == "up" else 31
            cases = [(1, full), (16, full), (31, full), (0, full), (5, full), (33, full)]
            cases += [(1, (32 - width) << 8 | (0 if how == "up" else 31)) for width in (2, 4, 8, 16)]
            cases += [(3, (32 - 8) << 8 | (0 if how == "up" else 31)), (2, 0x1807 if how != "up" else 0x1802), (4, 12)]
            varying = [[(i * 7 + 3) & 31 for i in range(LANES)], [full] * LANES]
            for b, c in [varying] + cases:
                bs, cs = (b, c) if isinstance(b, list) else ([b] * LANES, [c] * LANES)
                chosen = [shuffle(how, i, bs[i], cs[i]) for i in range(LANES)]
                w.case(f"shfl.sync.{how}.{k} d|p, a, b, c, -1", [("a", 32, data), ("b", 32, bs), ("c", 32, cs)],
                       [("d", 32, [data[s] for s, _ in chosen]), ("p", 1, [inside for _, inside in chosen])])
        # Two halves, each with a mask of its own.
        masks = [0x0000FFFF if i < 16 else 0xFFFF0000 for i in range(LANES)]
        w.case(f"shfl.sync.bfly.{k} d, a, 8, 31, e", [("a", 32, data), ("e", 32, masks)], [("d", 32, [data[i ^ 8] for i in range(LANES)])])
    patterns = [[0] * LANES, [1] * LANES, [i % 3 == 0 for i in range(LANES)], [i == 31 for i in range(LANES)], [i < 16 for i in range(LANES)]]
    halves, turns = [0x0000FFFF if i < 16 else 0xFFFF0000 for i in range(LANES)], [0x55555555 << (i & 1) for i in range(LANES)]
    for masks in turns, halves, [0xFFFFFFFF] * LANES:
        for bits in reversed(patterns):
            def among(i):
                return [k for k in range(LANES) if masks[i] >> k & 1]

            ballots = [sum(int(bits[k]) << k for k in among(i)) for i in range(LANES)]
            inputs = [("a", 1, bits), ("e", 32, masks)]
            w.case("vote.sync.all.pred d, a, e", inputs, [("d", 1, [ballots[i] == masks[i] for i in range(LANES)])])
            w.case("vote.sync.any.pred d, a, e", inputs, [("d", 1, [ballots[i] != 0 for i in range(LANES)])])
            w.case("vote.sync.uni.pred d, a, e", inputs, [("d", 1, [ballots[i] in (0, masks[i]) for i in range(LANES)])])
            w.case("vote.sync.ballot.b32 d, a, e", inputs, [("d", 32, ballots)])
            w.case("vote.sync.ballot.b32 d, !a, e", inputs, [("d", 32, [masks[i] & ~ballots[i] for i in range(LANES)])])
        for k in "b32", "b64":
            width = width_of(k)
            for values in [i % 5 << (width - 8) for i in range(LANES)], [7] * LANES, [(i // 16) for i in range(LANES)]:
                same = [sum(1 << j for j in among(i) if values[j] == values[i]) for i in range(LANES)]
                inputs = [("a", width, values), ("e", 32, masks)]
                w.case(f"match.any.sync.{k} d, a, e", inputs, [("d", 32, same)])
                w.case(f"match.all.sync.{k} d|p, a, e", inputs,
                       [("d", 32, [masks[i] if same[i] == masks[i] else 0 for i in range(LANES)]), ("p", 1, [same[i] == masks[i] for i in range(LANES)])])
        for k in "u32", "s32", "b32":
            kind = "u32" if k == "b32" else k

            def fold(i, combine):
                result = None
                for j in among(i):
                    result = number(data[j], kind) if result is None else combine(result, number(data[j], kind))
                return result

            whole = {"add": lambda x, y: x + y, "min": min, "max": max}
            bitwise = {"and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y}
            for name, combine in (bitwise if k == "b32" else whole).items():
                w.case(f"redux.sync.{name}.{k} d, a, e", [("a", 32, data), ("e", 32, masks)], [("d", 32, [fold(i, combine) for i in range(LANES)])])
    w.case("activemask.b32 d", [("a", 32, data)], [("d", 32, [0xFFFFFFFF] * LANES)])
    w.case("nanosleep.u32 a; mov.b32 d, a", [("a", 32, 20)], [("d", 32, 20)])
    w.case("bar.warp.sync e; mov.b32 d, e", [("e", 32, [0x0000FFFF if i < 16 else 0xFFFF0000 for i in range(LANES)])],
           [("d", 32, [0x0000FFFF if i < 16 else 0xFFFF0000 for i in range(LANES)])])
    for fence in "membar.cta", "membar.gl", "membar.sys", "fence.sc.cta", "fence.acq_rel.gpu", "fence.acq_rel.sys":
        w.case(f"{fence}; mov.b32 d, a", [("a", 32, 5)], [("d", 32, 5)])


# ---- what later toolkits emit, and what nvcc does not ----
def narrow_integers_of_bf16(w):
    """The assembler wants registers as wide as the types, so those of 8 bits stand inside."""
    for k in "u8", "s8", "u16", "s16":
        width = width_of(k)
        low, high = limits(k)
        for how, rounding in INTEGER_ROUNDING.items():
            text = f"cvt.{how}.{k}.bf16 d, a" if width == 16 else f".reg .b8 t; cvt.{how}.{k}.bf16 t, a; mov.b16 d, {{t, 0}}"
            values = [BF16.round(Fraction(n, 2)) for n in (1, -1, 3, 5, -5, 255, 257, 2 * low, 2 * high, 2 * high + 1)]
            for a in dict.fromkeys(values + [0x8000, BF16.inf, BF16.inf | BF16.sign_bit, 0x7FC0] + [any_value(w.random, "bf16") for _ in range(w.extra)]):
                w.case(text, [("a", 16, a)], [("d", 16, whole_number(BF16, k, rounding, a) & mask_of(width))])
        if width == 8:
            for a in dict.fromkeys([0, 1, 127, 128, 255, 85] + [any_value(w.random, k) for _ in range(w.extra)]):
                w.case(f".reg .b8 t, u; mov.b16 {{t, u}}, a; cvt.rn.bf16.{k} d, t", [("a", 16, a | 0x5500)],
                       [("d", 16, BF16.round(Fraction(number(a, k))))])


def negated_predicates(w):
    for k in ["b32", "f64", "s16"]:
        w.rule(f"selp.{k} d, a, b, !c", k, [k, k, "pred"], lambda a, b, c: b if c else a)
    for name, compute in ("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b):
        for text, m, n in ("!a, b", 1, 0), ("a, !b", 0, 1), ("!a, !b", 1, 1):
            for a, b in (0, 0), (0, 1), (1, 0), (1, 1):
                w.case(f"{name}.pred p, {text}", [("a", 1, a), ("b", 1, b)], [("p", 1, compute(a ^ m, b ^ n))])
    for a in 0, 1:
        w.case("not.pred p, !a", [("a", 1, a)], [("p", 1, a)])
        w.case("mov.pred p, !a", [("a", 1, a)], [("p", 1, 1 - a)])


BOOLEAN = {"and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y}


def combined_sets(w):
    """set with a Boolean operator and a third predicate; a pair's two results have the one predicate."""
    one = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}
    for k, target, how in ("s32", "u32", "lt"), ("f32", "f32", "geu"), ("u64", "s32", "ne"), ("f64", "f32", "num"), ("f16", "f16", "le"), ("bf16", "u32", "gt"):
        yes = one.get(target, mask_of(width_of(target)))
        for name, compute in BOOLEAN.items():
            for n, (a, b) in enumerate(w.compared(k, 6)):
                for negated in "", "!":
                    c = n & 1
                    answer = compute(int(compare(k, how, a, b)), c ^ (negated == "!"))
                    w.case(f"set.{how}.{name}.{target}.{k} d, a, b, {negated}c", [("a", width_of(k), a), ("b", width_of(k), b), ("c", 1, c)],
                           [("d", width_of(target), yes * answer)])
                    if k == "f32":
                        answer = compute(int(compare(k, how, F32.flush(a), F32.flush(b))), c ^ (negated == "!"))
                        w.case(f"set.{how}.{name}.ftz.{target}.{k} d, a, b, {negated}c", [("a", 32, a), ("b", 32, b), ("c", 1, c)], [("d", 32, yes * answer)])
    for k in HALVES:
        tuples = w.compared(k, 6)
        for name, compute in BOOLEAN.items():
            for n, ((a, b), (c, e)) in enumerate(zip(tuples, tuples[1:])):
                p = n & 1
                low, high = compute(int(compare(k, "lt", a, b)), p), compute(int(compare(k, "lt", c, e)), p)
                inputs = [("a", 32, a | c << 16), ("b", 32, b | e << 16), ("c", 1, p)]
                w.case(f"set.lt.{name}.{k}x2.{k}x2 d, a, b, c", inputs, [("d", 32, one[k] * low | one[k] * high << 16)])
                w.case(f"set.lt.{name}.u32.{k}x2 d, a, b, c", inputs, [("d", 32, 0xFFFF * low | 0xFFFF0000 * high)])


def tensor_floats(w):
    """To nearest even and towards zero, with .relu; what is lost is the lower 13 bits, a NaN's too."""
    form = Float(19, 8)
    for mode in "rn", "rz":
        for relu in "", ".relu":
            for a in [*FLOAT_EDGES["f32"], 0x3F801000, 0x3F803000, 0xBF800FFF, 0xBF803000, *(any_value(w.random, "f32") for _ in range(w.extra))]:
                if F32.is_nan(a):
                    value = 0x7FFFE000
                elif relu and F32.sign(a):
                    value = 0
                elif F32.kind(a) == "inf":
                    value = a
                else:
                    value = form.round(F32.value(a), mode, F32.sign(a)) << 13
                w.case(f"cvt.{mode}{relu}.tf32.f32 d, a", [("a", 32, a)], [("d", 32, value)])


def flushed_atomics(w):
    """In global memory atom.add.f32 takes subnormal numbers for zeros and gives none; in shared memory it does neither."""
    values = [(0x00000001, 0x3F800000), (0x3F800000, 0x807FFFFF), (0x807FFFFF, 0x807FFFFF), (0x00800000, 0x80800001), (0x80000001, 0x00000000)]
    for before, a in values:
        flushed = F32.flush(add_bits(F32, F32.flush(before), F32.flush(a), "rn"))
        w.case("atom.global.add.f32 d, [m], a", [("m", 32, before), ("a", 32, a)], [("d", 32, before), ("m", 32, flushed)])
        w.case("red.global.add.f32 [m], a", [("m", 32, before), ("a", 32, a)], [("m", 32, flushed)])
        w.case(".shared .b32 t[32]; .reg .b32 s, u; mov.u32 s, t; mov.u32 u, %tid.x; mad.lo.u32 s, u, 4, s; st.shared.b32 [s], a; "
               "red.shared.add.f32 [s], b; ld.shared.b32 d, [s]", [("a", 32, before), ("b", 32, a)], [("d", 32, add_bits(F32, before, a, "rn"))])


def vector_atomics(w):
    """Each element as an atomic operation of its own; in global memory, so .f32 is flushed."""

    def add(form, flush):
        def compute(a, b):
            if flush:
                a, b = form.flush(a), form.flush(b)
            total = 0x7FFFFFFF if form is F32 else 0x7FFF
            if not (form.is_nan(a) or form.is_nan(b)) and add_bits(form, a, b, "rn") is not None:
                total = add_bits(form, a, b, "rn")
            return form.flush(total) if flush else total

        return compute

    def choose(form, sign):
        def compute(a, b):
            if form.is_nan(a) or form.is_nan(b):
                return 0x7FFF if form.is_nan(a) and form.is_nan(b) else b if form.is_nan(a) else a
            return smaller(form, a, b, sign)

        return compute

    def pairs(compute):
        return lambda a, b: compute(a & 0xFFFF, b & 0xFFFF) | compute(a >> 16, b >> 16) << 16

    def join(values, width):
        return sum(v << width * i for i, v in enumerate(values))

    forms = [("add", "f32", add(F32, True), (2, 4))]
    for k, form in HALVES.items():
        for name, compute in ("add", add(form, False)), ("min", choose(form, 1)), ("max", choose(form, -1)):
            forms += [(f"{name}.noftz", k, compute, (2, 4, 8)), (f"{name}.noftz", k + "x2", pairs(compute), (2, 4))]
    for name, k, compute, counts in forms:
        width = width_of(k)
        edge = edges(k.removesuffix("x2"))
        if k.endswith("x2"):
            edge = [x | edge[(i * 5 + 2) % len(edge)] << 16 for i, x in enumerate(edge)]
        for count in counts:
            for n in range(9):
                before = [edge[(n * 5 + 3 * i) % len(edge)] for i in range(count)]
                taken = [edge[(n * 7 + 5 * i + 2) % len(edge)] for i in range(count)]
                after = [compute(x, y) for x, y in zip(before, taken)]
                names = "abcdefgh"[:count]
                inputs = [("m", width * count, join(before, width)), *[(x, width, y) for x, y in zip(names, taken)]]
                w.case(f"red.global.{name}.v{count}.{k} [m], {{{', '.join(names)}}}", inputs, [("m", width * count, join(after, width))])
                given = "pqrstuvw"[:count]
                w.case(f"atom.global.{name}.v{count}.{k} {{{', '.join(given)}}}, [m], {{{', '.join(names)}}}", inputs,
                       [*[(x, width, y) for x, y in zip(given, before)], ("m", width * count, join(after, width))])
        w.case(f"atom.{name}.v2.{k} {{a, b}}, [m], {{b, a}}", [("m", 2 * width, join(edge[2:4], width)), ("a", width, edge[4]), ("b", width, edge[17])],
               [("a", width, edge[2]), ("b", width, edge[3]), ("m", 2 * width, join([compute(edge[2], edge[17]), compute(edge[3], edge[4])], width))])


def wide_rules(w):
    """128 bits: a register for them has no digits here, so it stands inside."""
    whole, other = 0x0F1E2D3C4B5A69788796A5B4C3D2E1F0, 0x00112233445566778899AABBCCDDEEFF
    halves = lambda name, x: [(name[0], 64, x & mask_of(64)), (name[1], 64, x >> 64)]
    w.case(".reg .b128 t; ld.global.b128 t, [m]; mov.b128 {d, e}, t", [("m", 128, whole)], [*halves("de", whole), ("m", 128, whole)])
    w.case(".reg .b128 t, u; mov.b128 t, {a, b}; mov.b128 u, t; st.global.b128 [m], u", [("m", 128, 0), *halves("ab", whole)], [("m", 128, whole)])
    w.case(".reg .b128 t; mov.b128 t, {a, b, c, e}; mov.b128 {f, g}, t", [(n, 32, whole >> 32 * i) for i, n in enumerate("abce")], halves("fg", whole))
    w.case(".reg .b128 t; mov.b128 t, {a, b}; mov.b128 {d, e, f, g}, t", halves("ab", whole), [(n, 32, whole >> 32 * i) for i, n in enumerate("defg")])
    for before in other, 0:
        w.case(".reg .b128 t; mov.b128 t, {a, b}; atom.global.exch.b128 t, [m], t; mov.b128 {d, e}, t", [("m", 128, before), *halves("ab", whole)],
               [*halves("de", before), ("m", 128, whole)])
    for before in other, whole, whole ^ 1, whole ^ 1 << 127:
        w.case(".reg .b128 t, u; mov.b128 t, {a, b}; mov.b128 u, {b, a}; atom.global.cas.b128 t, [m], t, u; mov.b128 {d, e}, t",
               [("m", 128, before), *halves("ab", whole)],
               [*halves("de", before), ("m", 128, (whole & mask_of(64)) << 64 | whole >> 64 if before == whole else before)])
    w.case(".reg .b128 t; ld.relaxed.gpu.global.b128 t, [m]; mov.b128 {d, e}, t", [("m", 128, whole)], [*halves("de", whole), ("m", 128, whole)])


CACHE_POLICY = 0x14F0000000000000  # what nvcc makes of cuda::access_property::persisting


def later_rules(w):
    for rules in narrow_integers_of_bf16, negated_predicates, combined_sets, tensor_floats, flushed_atomics, vector_atomics, wide_rules:
        rules(w)
    bits = [i % 3 == 0 for i in range(LANES)]
    turns = [0x55555555 << (i & 1) for i in range(LANES)]
    named = [[k for k in range(LANES) if turns[i] >> k & 1] for i in range(LANES)]
    inputs = [("a", 1, bits), ("e", 32, turns)]
    w.case("vote.ballot.sync.b32 d, a, e", inputs, [("d", 32, [sum(int(bits[k]) << k for k in ks) for ks in named])])
    w.case("vote.all.sync.pred d, a, e", inputs, [("d", 1, [all(bits[k] for k in ks) for ks in named])])
    w.case("vote.any.sync.pred d, a, e", inputs, [("d", 1, [any(bits[k] for k in ks) for ks in named])])
    w.case("vote.uni.sync.pred d, a, e", inputs, [("d", 1, [len({bits[k] for k in ks}) == 1 for ks in named])])
    for name, rest in ("ld.global.L2::cache_hint.u32 d, [m], a", [("d", 32, 7), ("m", 32, 7)]), ("ld.global.L1::evict_last.L2::cache_hint.v2.u16 {d, e}, [m], a", [("d", 16, 7), ("e", 16, 0), ("m", 32, 7)]):
        w.case(name, [("m", 32, 7), ("a", 64, CACHE_POLICY)], rest)
    w.case("st.global.L2::cache_hint.b32 [m], b, a", [("m", 32, 7), ("a", 64, CACHE_POLICY), ("b", 32, 9)], [("m", 32, 9)])
    w.case("atom.global.add.L2::cache_hint.u32 d, [m], b, a", [("m", 32, 7), ("a", 64, CACHE_POLICY), ("b", 32, 9)], [("d", 32, 7), ("m", 32, 16)])
    for i in range(4):
        w.case(f"mov.u32 d, %pm{i}; mov.u32 e, a", [("a", 32, 5)], [("d", 32, ANYTHING), ("e", 32, 5)])  # undefined without a profiler
    for space in "shared::cta", "shared::cluster":
        w.case(f"cvta.shared.u64 d, a; isspacep.{space} p, d", [("a", 64, 0x40)], [("d", 64, ANYTHING), ("p", 1, 1)])
        w.case(f"isspacep.{space} p, m; ld.global.u32 d, [m]", [("m", 32, 1)], [("p", 1, 0), ("d", 32, 1), ("m", 32, 1)])
    # Which lane is elected the machine may choose: one of those named, and the predicate is its own.
    w.case(".reg .pred t; .reg .b32 u, v; elect.sync u|t, e; shr.u32 v, e, u; and.b32 d, v, 1; mov.u32 v, %laneid; setp.eq.u32 p, u, v; xor.pred p, p, t",
           [("e", 32, turns)], [("d", 32, [1] * LANES), ("p", 1, [0] * LANES)])
    for text in ("fence.proxy.async", "fence.proxy.async.global", "fence.proxy.async.shared::cta", "fence.proxy.alias", "griddepcontrol.wait",
                 "griddepcontrol.launch_dependents", "cp.async.bulk.commit_group", "cp.async.bulk.wait_group 0", "cp.async.bulk.wait_group.read 1"):
        w.case(f"{text}; mov.b32 d, a", [("a", 32, 5)], [("d", 32, 5)])
    w.case(".reg .b64 t; and.b64 t, %out, -128; applypriority.global.L2::evict_normal [t], 128; mov.b64 d, a", [("a", 64, 7)], [("d", 64, 7)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--random", type=int, default=0, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    w = Writer(arguments.random, arguments.seed)
    w.note("Written by ops_reference.py, which works the values out; ops_run.c says what the lines mean.")
    for rules in integer_rules, bit_rules, float_rules, compare_rules, convert_integers, convert_floats, further_rules, half_rules, memory_rules, address_rules, lane_rules, common_divisor_rules, later_rules:
        rules(w)
    print("\n".join(w.lines), end="")


if __name__ == "__main__":
    main()
