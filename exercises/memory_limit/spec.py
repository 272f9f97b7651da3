TITLE = "At the memory limit"

CASES = [
    cases("any n", n=[0, 1, 3, 31, 255, 1023, 2997], draw=2),
    cases("large", n=[2**19 + 3]),
]


def inputs(rng, case):
    return {"input": uneven(rng, [rng.randrange(2**29, 2**31) for _ in range(case.n)])}


def expected(case, input):
    return {"output": [sum(input)]}


def lines(m):
    """Warp loads of 16 bytes a lane: the fewest requests."""
    return m.n / 128


REQUIREMENTS = [
    right("any n", 2, "the sum, any n", on=["any n", "large"], hint="n need not be a multiple of 4: add the last elements one by one"),
    at_most("sectors", 1, "every sector is fetched once", "global_load_sectors", on="large", fewest=lambda m: m.n / 8, times=1.02,
            hint="neighbouring threads read neighbouring int4"),
    at_most("requests", 3, "16-byte loads: 128 elements a request", "global_loads", on="large", fewest=lines, times=1.1,
            hint="reinterpret the input as const int4 * and read four elements at a time"),
    at_most("instructions", 2, "few instructions besides", "warp_instructions", on="large", fewest=lambda m: 9 * lines(m), times=4,  # a load, four conversions, four additions
            hint="a grid-stride loop with few blocks, so that the tree at the end is rare; sums in registers, shuffles instead of shared memory"),
    at_most("grid", 1, "a grid that fits on the GPU at once, whatever n is", "blocks", on="large", fewest=132 * 8,
            hint="let each thread stride over the input"),
    at_most("conflicts", 1, "no bank conflicts", "bank_conflicts", on="large", fewest=0, hint="neighbouring threads, neighbouring words"),
]
TIME = ({"n": 65536}, "n", 1024)
TIME_BESIDE_STEP = 11
