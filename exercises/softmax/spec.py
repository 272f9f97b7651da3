TITLE = "The denominator of softmax in one launch"

CASES = [
    cases("near zero", n=[1, 2, 33, 256, 1000], draw=2),
    cases("high", kind=1000.0, n=[7, 300, 2000]),
    cases("low", kind=-1000.0, n=[7, 300, 2000]),
    cases("wide", kind="wide", n=[64, 3000]),
    cases("large", kind=-500.0, n=[100003]),
]


def inputs(rng, case):
    if case.kind == "wide":
        return {"input": uneven(rng, [rng.uniform(-300.0, 300.0) for _ in range(case.n)])}
    offset = case.kind or 0.0
    return {"input": uneven(rng, [offset + rng.uniform(-6.0, 6.0) for _ in range(case.n)])}


def expected(case, input):
    most = max(input)
    terms = [math.exp(x - most) for x in input]
    # In float: each of at most 128 additions, rescalings and exponentials on an element's way may cost a unit of 2^-24.
    return {"output": [most, (math.fsum(terms), float_sum_bound(terms, 128))]}


REQUIREMENTS = [
    right("near zero", 2, "largest and sum, elements around 0", hint="output[0] the largest, output[1] the sum of exp(x - largest)"),
    right("far from zero", 2, "elements around 1000, around -1000, and from -300 to 300", on=["high", "low", "wide", "large"],
          hint="exp(1000) is infinite. Keep (largest, sum): a larger element first multiplies the sum by exp(old - new). exp(-INFINITY - -INFINITY) is NaN"),
    silent("race", 2, "no race", hint="before a block takes its ticket its result has to be visible: __threadfence(), by the thread that wrote it"),
    at_most("launch", 2, "one launch", "launches", on="large", fewest=1,
            hint="the last block to finish adds up all: an atomic counter tells a block that it is the last (threadFenceReduction in NVIDIA's samples)"),
    at_least("parallel", 1, "many blocks share the work", "blocks", on="large", most=32, hint="one block alone uses one of a GPU's hundred multiprocessors"),
    at_most("reads", 1, "one pass: every element is read from global memory once", "global_load_sectors", on="large",
            fewest=lambda m: math.ceil(m.n / 8), times=1.15, hint="largest and sum in the same pass"),
]
TIME = ({"n": 65536}, "n", 4)  # n as README.md allows it
