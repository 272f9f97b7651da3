TITLE = "Where the largest element stands"

CASES = [
    cases("distinct", n=[1, 2, 31, 257, 1000], draw=2),
    cases("ties", kind="ties", n=[2, 40, 513, 5000], draw=1),
    cases("negative", kind="negative", n=[33, 700]),
    cases("large", kind="ties", n=[100003]),
]


def inputs(rng, case):
    if case.kind == "ties":  # few values, so the largest stands in many places, the first neither at 0 nor in the first half
        values = [float(rng.randrange(-8, 8)) for _ in range(case.n)]
        for i in range(case.n // 2 + 1, case.n, max(1, case.n // 9)):
            values[i] = 9.0
        return {"input": values}
    low, high = (-9000.0, -5.0) if case.kind == "negative" else (-1000.0, 1000.0)
    values = [rng.uniform(low, high) for _ in range(case.n)]
    if not case.kind:
        values[case.n // 2] = rng.uniform(1.0, 1000.0)  # so that the largest is positive
    return {"input": uneven(rng, values)}


def expected(case, input):
    return {"index": [input.index(max(input))]}


REQUIREMENTS = [
    right("distinct", 3, "the place of the largest", hint="carry the value and its index together through the tree"),
    right("ties", 4, "the first place where there are several", on=["ties", "large"],
          hint="where two values are equal the smaller index wins, at every comparison: in the loop, in the tree, and between blocks"),
    right("negative", 1, "all elements negative", hint="what does a thread without an element contribute? A value below all, and an index beyond all"),
    at_most("reads", 2, "every element is read from global memory once", "global_load_sectors", on="large",
            fewest=lambda m: math.ceil(m.n / 8), times=1.15, hint="do not search the array again for the largest value: carry the index along"),
]
TIME = ({"n": 65536}, "n", 256)
