TITLE = "The least and the greatest, as a struct"

STRUCTS = {"extremes": "ii"}
CASES = [
    cases("mixed", n=[1, 2, 33, 256, 1000], draw=2),
    cases("negative", kind=(-50000, -1), n=[31, 700]),
    cases("positive", kind=(1, 50000), n=[31, 700]),
    cases("extreme", kind="extreme", n=[5, 300]),
    cases("large", n=[100003]),
]


def inputs(rng, case):
    if case.kind == "extreme":
        return {"input": uneven(rng, [rng.choice([-2**31, 2**31 - 1, 5]) for _ in range(case.n - 2)] + [-2**31, 2**31 - 1])}
    low, high = case.kind or (-100000, 100000)
    return {"input": uneven(rng, [rng.randrange(low, high) for _ in range(case.n)])}


def expected(case, input):
    return {"output": [(min(input), max(input))]}


REQUIREMENTS = [
    right("mixed", 3, "both, of positive and negative elements", on=["mixed", "large"], hint="reduce a struct: combine(a, b) takes the smaller least and the larger greatest"),
    right("one sign", 2, "all elements of one sign", on=["negative", "positive"], hint="the identity of min is INT_MAX and that of max INT_MIN, not 0 and 0"),
    right("extreme", 2, "INT_MIN and INT_MAX among the elements", hint="take the identities from <limits.h>; a large number of your own is not the largest"),
    at_most("reads", 3, "one pass: every element is read from global memory once", "global_load_sectors", on="large",
            fewest=lambda m: math.ceil(m.n / 8), times=1.15, hint="a thread reads an element and uses it for both"),
]
TIME = ({"n": 65536}, "n", 256)
