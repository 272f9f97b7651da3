TITLE = "A sum that works for any n"

CASES = [
    cases("whole tiles", n=[256, 1024, 4096]),
    cases("any n", n=[31, 33, 255, 257, 1000, 2311], draw=2),
    cases("none and one", n=[0, 1]),
    cases("large", n=[100003]),
]


def inputs(rng, case):
    return {"input": uneven(rng, [rng.randrange(2**29, 2**31) for _ in range(case.n)])}


def expected(case, input):
    return {"output": [sum(input)]}


REQUIREMENTS = [
    right("whole tiles", 2, "the sum, n a multiple of 256",
          hint="output[0] holds an arbitrary value before solve(): set it. Sums pass 2^31, so add in long long."),
    right("any n", 3, "the sum, any other n", on=["any n", "large"],
          hint="the last tile is not full: how many blocks cover n elements, and which threads must not load?"),
    right("none and one", 2, "n = 0 and n = 1", hint="a grid of 0 blocks is an error, and the sum of nothing is 0"),
    at_most("reads", 3, "every element is read from global memory once", "global_load_sectors", on="large",
            fewest=lambda m: math.ceil(m.n / 8), times=1.1,
            hint="32 neighbouring threads should read 32 neighbouring elements: 4 sectors of 32 bytes, each fetched once"),
]
TIME = ({"n": 65536}, "n", 256)
