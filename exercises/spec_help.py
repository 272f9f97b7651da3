"""The words of a spec.py. A spec.py defines

    TITLE         one line
    CASES         groups of inputs: cases(NAME, n=[sizes…], kind=…, draw=how many sizes the seed draws, up_to=…, drawn=[names])
    inputs        function (rng, case) -> {parameter: list}; rng is a random.Random, case.n, case.kind, … the sizes and the kind
    expected      function (case, parameter=list, …) -> {output: [value or (value, tolerance), …]}, in double precision or better
    REQUIREMENTS  right(…), silent(…), at_most(…), at_least(…)
    STRUCTS       optional: {struct's name: its layout in the letters of Python's struct module}
    TIME          optional: (sizes, the size that is multiplied, by how much) for a run on a GPU, over the input many times
    TIME_BESIDE_STEP   optional: the number of the ladder's step that is timed beside it, on as many ints

Counters are those of common/emulator/counters.def, and launches, blocks, warps, block (threads, the largest)."""
import itertools
import math # specs use it  # noqa: F401


class Sizes:
    """A case as a spec sees it: case.n, case.rows, case.kind, …"""

    def __init__(self, **values):
        self.__dict__.update(values)

    def items(self):
        return self.__dict__.items()

    def elements(self):
        return math.prod(v for k, v in self.items() if k in ("n", "rows", "cols"))


class cases:
    """A group of cases, a case for each combination of the sizes."""

    def __init__(self, name, kind=None, draw=0, up_to=3000, drawn=("n", "rows", "cols"), **sizes):
        self.name, self.kind, self.draw, self.up_to, self.vary = name, kind, draw, up_to, drawn
        self.listed = sizes
        self.sizes = [dict(zip(sizes, combination)) for combination in itertools.product(*sizes.values())]

    def drawn(self, rng):
        """A size below up_to for each name in `drawn`; the other parameters take one of their listed values."""
        return {name: rng.randrange(1, self.up_to) if name in self.vary else rng.choice(listed) for name, listed in self.listed.items()}

    def complete(self, given):
        """A hidden size; what the seed file leaves out takes its first listed value."""
        return {name: given.get(name, listed[0]) for name, listed in self.listed.items()}


class Measured:
    """What the runs gave: (case, why it is wrong or None, counters) a case, and findings a check."""

    def __init__(self):
        self.runs, self.findings = {}, {}

    def add(self, group, case, why, counters):
        self.runs.setdefault(group, []).append((case, why, counters))

    def of(self, groups):
        return [run for g in groups for run in self.runs.get(g, [])]


class Requirement:
    check = None
    on = ()

    def __init__(self, name, points, text, hint):
        self.name, self.points, self.text, self.hint = name, points, text, hint


class right(Requirement):
    """The results are right in every case of these groups."""

    def __init__(self, name, points, text, on=None, hint=""):
        super().__init__(name, points, text, hint)
        self.on = [on] if isinstance(on, str) else on or [name]

    def judge(self, measured):
        runs = measured.of(self.on)
        bad = [(case, why) for case, why, _ in runs if why]
        if bad:
            case, why = bad[0]
            return False, f"{case.label}: {why}" + (f"   [{len(bad)} of {len(runs)} cases]" if len(bad) > 1 else ""), ""
        return True, f"{len(runs)} cases", ""


class silent(Requirement):
    """A check of the emulator ("race", "init", "sync") finds nothing in the small cases."""

    def __init__(self, check, points, text, hint=""):
        super().__init__(check, points, text, hint)
        self.check = check

    def judge(self, measured):
        if finding := measured.findings.get(self.check):
            return False, finding, "no finding"
        if not any(why is None and counters["launches"] for _, why, counters in measured.of(measured.runs)):
            return False, "nothing to check: no kernel's result is right", "no finding"
        return True, "no finding", ""


class Limit(Requirement):
    """A measure against the fewest (or most) that the algorithm needs, in every case of a group whose result is right."""

    def __init__(self, name, points, text, measure, of, times, on, hint):
        super().__init__(name, points, text, hint)
        self.measure, self.of, self.times = measure, of, times
        self.on = [on] if isinstance(on, str) else on

    def judge(self, measured):
        worst = None
        for case, why, counters in measured.of(self.on):
            if why:
                return False, f"{case.label}: not counted, for the result is wrong", ""
            known = Sizes(**dict(case.sizes.items()), **counters)
            value = self.measure(known) if callable(self.measure) else counters[self.measure]
            limit = self.times * (self.of(known) if callable(self.of) else self.of)
            over = self.over(value, limit)
            if worst is None or over > worst[0]:
                worst = over, value, limit, case
        over, value, limit, case = worst
        label = self.measure if isinstance(self.measure, str) else self.name
        return over <= 0, f"{label} {tidy(value)} ({case.label})", f"{self.sign} {tidy(limit)}"


def tidy(x):
    return f"{x:.0f}" if x == int(x) or abs(x) >= 1000 else f"{x:.4g}"


class at_most(Limit):
    """measure <= times * fewest"""
    sign = "at most"

    def __init__(self, name, points, text, measure, fewest, on, times=1.0, hint=""):
        super().__init__(name, points, text, measure, fewest, times, on, hint)

    @staticmethod
    def over(value, limit):
        return (value - limit) / (abs(limit) or 1)


class at_least(Limit):
    """measure >= times * most"""
    sign = "at least"

    def __init__(self, name, points, text, measure, most, on, times=1.0, hint=""):
        super().__init__(name, points, text, measure, most, times, on, hint)

    @staticmethod
    def over(value, limit):
        return (limit - value) / (abs(limit) or 1)


# ---- for expected(): sums with no error worth naming, and what a kernel's may be ----
def float_sum_bound(values, depth, unit=2.0**-24):
    """gamma(depth) * sum |x| (Higham, Accuracy and Stability of Numerical Algorithms, 4.2); unit 2**-24: float, 2**-53: double."""
    k = depth * unit
    return k / (1 - k) * math.fsum(abs(v) for v in values)


def uneven(rng, values):
    """The values, with a first one that is not the smallest, so that neither place 0 nor the ends are special."""
    if len(values) > 2 and values[0] in (min(values), max(values)):
        middle = rng.randrange(1, len(values) - 1)
        values[0], values[middle] = values[middle], values[0]
    return values
