TITLE = "The largest element"

CASES = [
    cases("mixed", n=[2, 31, 256, 1000], draw=2),
    cases("negative", kind="negative", n=[1, 33, 300, 2049], draw=1),
    cases("nan", kind="nan", n=[4, 64, 777]),
    cases("nan half", kind="nan half", n=[2, 32, 64, 256, 512, 1024]),
    cases("nothing", n=[0]),
    cases("all nan", kind="all nan", n=[3, 200]),
    cases("large", n=[100003]),
]


def inputs(rng, case):
    if case.kind == "all nan":
        return {"input": [math.nan] * case.n}
    if case.kind == "negative":
        return {"input": uneven(rng, [rng.uniform(-5000.0, -1000.0) for _ in range(case.n)])}
    values = [rng.uniform(-1000.0, 1000.0) for _ in range(case.n)]
    if case.n:
        values[case.n // 3] = rng.uniform(1.0, 1000.0)  # so that the largest is positive
    if case.kind == "nan half":  # a tree pairs every number with a NaN to its right
        values[case.n // 2:] = [math.nan] * (case.n - case.n // 2)
    elif case.kind == "nan":
        for i in rng.sample([i for i in range(case.n) if i != case.n // 3], case.n // 4):
            values[i] = math.nan
    else:
        uneven(rng, values)
    return {"input": values}


def expected(case, input):
    return {"output": [max((x for x in input if not math.isnan(x)), default=-math.inf)]}


REQUIREMENTS = [
    right("mixed", 2, "the largest of positive and negative elements", on=["mixed", "large"],
          hint="try n = 1, 31 and 257 on paper: which threads load, and what do the others put into the tile?"),
    right("negative", 3, "the largest where all are negative",
          hint="what must a thread without an element contribute? Not 0, and not FLT_MIN, which is the smallest positive float: -INFINITY"),
    right("nan", 2, "NaNs are left out", on=["nan", "nan half", "all nan"],
          hint="a > b is false where one is NaN; fmaxf returns the operand that is a number"),
    right("nothing", 1, "-INFINITY where n = 0", hint="a grid of 0 blocks is an error; something has to write output[0]"),
    at_most("reads", 2, "every element is read from global memory once", "global_load_sectors", on="large",
            fewest=lambda m: math.ceil(m.n / 8), times=1.1,
            hint="neighbouring threads should read neighbouring elements, once"),
]
TIME = ({"n": 65536}, "n", 256)
