"""Writes random kernels as a test for ptx_run.c: nested ifs and loops, loops with breaks and continues, and blocks that jump anywhere.
Each runs twice, as one warp of 32 lanes and as 32 blocks of one thread, and both must give what this file's own interpreter gives a
lane at a time. Lanes active over all instructions must be the sum of what the lanes execute alone; in the structured kernels the
instructions a warp issues and the branches that part it are known too, since lanes meet at the end of each if and each loop.

    python3 tests/random_control.py --seed 1 --count 20
"""
import argparse
import random

MASK = 0xFFFFFFFF
WORDS = 4
LANES = 32


class Kernel:
    def __init__(self, name, random_numbers, jumps):
        self.name, self.random = name, random_numbers
        self.lines, self.labels = [], 0
        self.jumps = jumps  # breaks and continues

    def emit(self, text):
        self.lines.append(f"    {text}")

    def label(self, stem):
        self.labels += 1
        return f"{stem}_{self.labels}"

    def place(self, label):
        self.lines.append(f"{label}:")


# A statement is a tuple; run() executes it for a set of lanes at once, emit() writes it as PTX.
OPS = {
    "add.u32": lambda a, b: (a + b) & MASK,
    "sub.u32": lambda a, b: (a - b) & MASK,
    "mul.lo.u32": lambda a, b: (a * b) & MASK,
    "xor.b32": lambda a, b: a ^ b,
    "and.b32": lambda a, b: a & b,
    "min.u32": min,
}
TESTS = {"lt": lambda a, b: a < b, "ge": lambda a, b: a >= b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b}


def value_of(operand, lane):
    return lane["t"] if operand == "t" else lane["v"][operand[1]] if isinstance(operand, tuple) else operand


def text_of(operand):
    return "%t" if operand == "t" else f"%v{operand[1]}" if isinstance(operand, tuple) else str(operand)


def some_operand(r):
    return r.choice(["t", ("v", r.randrange(WORDS)), r.randrange(1, 40), ("v", r.randrange(WORDS))])


def some_test(r):
    """A bit or two of a mixture of a word and the lane, so that lanes differ."""
    return ("v", r.randrange(WORDS)), r.choice([1, 3, 7]), r.choice(list(TESTS)), r.randrange(4)


def assign(r):
    return ("assign", r.randrange(WORDS), r.choice(list(OPS)), ("v", r.randrange(WORDS)), some_operand(r))


def statements(r, depth, jumps, in_loop):
    result = []
    for _ in range(r.randrange(1, 4)):
        kind = r.random()
        if depth == 0 or kind < 0.4:
            result.append(assign(r))
        elif kind < 0.75:
            other = statements(r, depth - 1, jumps, in_loop) if r.random() < 0.6 else []
            result.append(("if", some_test(r), statements(r, depth - 1, jumps, in_loop), other))
        elif jumps and in_loop and kind < 0.85:
            result.append((r.choice(["break", "continue"]), some_test(r)))
        else:
            result.append(("loop", some_operand(r), statements(r, depth - 1, jumps, True), depth))
    return result


# ---- what each statement counts: (instructions before and after), in run() and emit() alike ----
class Leave(Exception):
    pass


class Lane:
    """Runs a program for one lane, and counts its instructions."""

    def __init__(self, t):
        self.state = {"t": t, "v": [(t * 0x9E3779B1 + k * 77) & MASK for k in range(WORDS)]}
        self.count = 0

    def test(self, test):
        a, bits, how, b = test
        self.count += 4  # xor, and, setp, bra
        return TESTS[how]((value_of(a, self.state) ^ self.state["t"]) & bits, b)

    def assign(self, s):
        _, target, op, a, b = s
        self.count += 1
        self.state["v"][target] = OPS[op](value_of(a, self.state), value_of(b, self.state))

    def run(self, program):
        for s in program:
            if s[0] == "assign":
                self.assign(s)
            elif s[0] == "if":
                if self.test(s[1]):
                    self.run(s[2])
                    self.count += bool(s[3])  # bra over the else
                else:
                    self.run(s[3])
            elif s[0] in ("break", "continue"):
                if self.test(s[1]):
                    raise Leave(s[0])
            else:
                self.loop(s)

    def loop(self, s):
        _, rounds, body, _ = s
        left = (value_of(rounds, self.state) ^ self.state["t"]) & 7
        self.count += 2
        while True:
            self.count += 2  # setp, bra
            if left == 0:
                return
            left -= 1
            self.count += 1
            try:
                self.run(body)
                self.count += 1  # bra to the head
            except Leave as leave:
                if leave.args[0] == "break":
                    return


class Warp:
    """Runs a program without jumps for all lanes together: lanes part at a branch and meet at the end of the if or loop."""

    def __init__(self):
        self.lanes = [Lane(t) for t in range(LANES)]
        self.issued = self.parted = 0

    def branch(self, taken, lanes):
        self.parted += 0 < len(taken) < len(lanes)

    def run(self, program, lanes):
        if not lanes:
            return
        for s in program:
            if s[0] == "assign":
                self.issued += 1
                for lane in lanes:
                    lane.assign(s)
            elif s[0] == "if":
                self.issued += 4
                yes = [lane for lane in lanes if lane.test(s[1])]
                no = [lane for lane in lanes if lane not in yes]
                self.branch(yes, lanes)
                self.run(s[2], yes)
                self.issued += bool(s[3] and yes)
                self.run(s[3], no)
            else:
                self.issued += 2
                left = {id(lane): (value_of(s[1], lane.state) ^ lane.state["t"]) & 7 for lane in lanes}
                inside = lanes
                while inside:
                    self.issued += 2
                    stay = [lane for lane in inside if left[id(lane)]]
                    self.branch(stay, inside)
                    inside = stay
                    if inside:
                        self.issued += 1
                        for lane in inside:
                            left[id(lane)] -= 1
                        self.run(s[2], inside)
                        self.issued += 1


def emit_test(k, test, label, negated):
    a, bits, how, b = test
    k.emit(f"xor.b32 %x, {text_of(a)}, %t;")
    k.emit(f"and.b32 %x, %x, {bits};")
    k.emit(f"setp.{how}.u32 %p, %x, {b};")
    k.emit(f"@{'!' if negated else ''}%p bra {label};")


def emit(k, program, head=None, end=None, depth=0):
    for s in program:
        if s[0] == "assign":
            k.emit(f"{s[2]} %v{s[1]}, {text_of(s[3])}, {text_of(s[4])};")
        elif s[0] == "if":
            other, join = k.label("ELSE"), k.label("JOIN")
            emit_test(k, s[1], other, True)
            emit(k, s[2], head, end, depth)
            if s[3]:
                k.emit(f"bra {join};")
            k.place(other)
            emit(k, s[3], head, end, depth)
            k.place(join)
        elif s[0] in ("break", "continue"):
            emit_test(k, s[1], end if s[0] == "break" else head, False)
        else:
            start, done = k.label("HEAD"), k.label("DONE")
            counter = f"%left{s[3]}"
            k.emit(f"xor.b32 {counter}, %t, {text_of(s[1])};")
            k.emit(f"and.b32 {counter}, {counter}, 7;")
            k.place(start)
            k.emit(f"setp.eq.u32 %p, {counter}, 0;")
            k.emit(f"@%p bra {done};")
            k.emit(f"sub.u32 {counter}, {counter}, 1;")
            emit(k, s[2], start, done, depth + 1)
            k.emit(f"bra {start};")
            k.place(done)


# ---- blocks that jump anywhere ----
FUEL = 40


def blocks_program(r):
    count = r.randrange(3, 10)
    return [([assign(r) for _ in range(r.randrange(1, 4))], some_test(r), r.randrange(count), r.choice(["next", "jump", "exit"]), r.randrange(count))
            for _ in range(count)]


def run_blocks(program, lane):
    at, fuel = 0, FUEL
    lane.count += 1  # mov fuel
    while True:
        body, test, target, then, other = program[at]
        lane.count += 3  # sub, setp, bra out
        fuel -= 1
        if fuel == 0:
            return
        for s in body:
            lane.assign(s)
        if lane.test(test):
            at = target
            continue
        lane.count += 1  # bra
        if then == "exit" or (then == "next" and at + 1 == len(program)):
            return
        at = at + 1 if then == "next" else other


def emit_blocks(k, program):
    k.emit(f"mov.u32 %fuel, {FUEL};")
    for i, (body, test, target, then, other) in enumerate(program):
        k.place(f"BLOCK_{i}")
        k.emit("sub.u32 %fuel, %fuel, 1;")
        k.emit("setp.eq.u32 %p, %fuel, 0;")
        k.emit("@%p bra OUT;")
        emit(k, body)
        emit_test(k, test, f"BLOCK_{target}", False)
        last = then == "exit" or (then == "next" and i + 1 == len(program))
        k.emit(f"bra {'OUT' if last else f'BLOCK_{i + 1}' if then == 'next' else f'BLOCK_{other}'};")
    k.place("OUT")


PROLOGUE, EPILOGUE = 4 + WORDS, 4 + WORDS  # instructions every lane executes besides


def kernel_text(k, body):
    registers = ", ".join([f"%v{i}" for i in range(WORDS)] + [f"%left{i}" for i in range(8)])
    k.emit("ld.param.u64 %o, [out];")
    k.emit("mov.u32 %t, %tid.x;")
    k.emit("mov.u32 %x, %ctaid.x;")
    k.emit("add.u32 %t, %t, %x;")  # one of the two is 0
    for i in range(WORDS):
        k.emit(f"mad.lo.u32 %v{i}, %t, 0x9e3779b1, {i * 77};")
    body()
    k.emit("mul.wide.u32 %a, %t, 16;")
    k.emit("add.u64 %o, %o, %a;")
    for i in range(WORDS):
        k.emit(f"st.global.u32 [%o+{4 * i}], %v{i};")
    k.emit("bra.uni LEAVE;")
    k.place("LEAVE")
    k.emit("ret;")
    return (f".visible .entry {k.name}(.param .u64 out)\n{{\n    .reg .pred %p;\n    .reg .b32 %t, %x, %fuel, {registers};\n    .reg .b64 %o, %a;\n"
            + "\n".join(k.lines) + "\n}\n")


def directives(name, lanes, warp):
    expected = " ".join(str(word) for lane in lanes for word in lane.state["v"])
    active = sum(lane.count + PROLOGUE + EPILOGUE for lane in lanes)
    known = f" warp_instructions={warp.issued + PROLOGUE + EPILOGUE} divergent_branches={warp.parted}" if warp else ""
    return [f"set out 0*{LANES * WORDS}", f"launch {name} block {LANES} args out", f"expect out {expected}", f"counters active_lanes={active}{known}",
            f"set out 0*{LANES * WORDS}", f"launch {name} grid {LANES} block 1 args out", f"expect out {expected}",
            f"counters active_lanes={active} warp_instructions={active} divergent_branches=0"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    arguments = parser.parse_args()
    r = random.Random(arguments.seed)
    said, kernels = [f"buffer out u32 0*{LANES * WORDS}"], []
    for n in range(arguments.count):
        for kind in "structured", "jumps", "blocks":
            k = Kernel(f"{kind}_{n}", r, kind == "jumps")
            lanes, warp = [Lane(t) for t in range(LANES)], None
            if kind == "blocks":
                program = blocks_program(r)
                for lane in lanes:
                    run_blocks(program, lane)
                kernels.append(kernel_text(k, lambda: emit_blocks(k, program)))
            else:
                program = statements(r, 3, kind == "jumps", False)
                for lane in lanes:
                    lane.run(program)
                if kind == "structured":
                    warp = Warp()
                    warp.run(program, warp.lanes)
                kernels.append(kernel_text(k, lambda: emit(k, program)))
            said += directives(k.name, lanes, warp)
    for line in said:
        print(f"//: {line}")
    print(".version 8.0\n.target sm_75\n.address_size 64\n")
    print("\n".join(kernels))


if __name__ == "__main__":
    main()
