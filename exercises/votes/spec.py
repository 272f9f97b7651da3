TITLE = "Count by votes"

CASES = [
    cases("any n", n=[1, 31, 32, 33, 255, 256, 1000], draw=3),
    cases("nothing", n=[0]),
    cases("all", kind="all", n=[32, 100, 999]),
    cases("none", kind="none", n=[32, 100, 999]),
    cases("large", n=[100003]),
]


def inputs(rng, case):
    step, first = {"all": (2, 1), "none": (2, 0)}.get(case.kind, (1, 0))
    return {"input": uneven(rng, [step * rng.randrange(-50000, 50000) + first for _ in range(case.n)])}


def expected(case, input):
    return {"count": [sum(x % 2 for x in input)]}


REQUIREMENTS = [
    right("any n", 3, "the count, any n", on=["any n", "large"],
          hint="the last warp is not full: every lane has to come to the vote, those without an element vote no. -3 % 2 is -1 in C"),
    right("nothing", 1, "0 where n = 0", hint="count[0] holds an arbitrary value before solve()"),
    right("all or none", 1, "all odd, and all even", on=["all", "none"], hint="__popc counts the bits of the mask that __ballot_sync gives"),
    silent("sync", 1, "every lane that a vote names comes to it", hint="no __ballot_sync(0xffffffff, …) inside an if or a loop that some lanes leave earlier"),
    at_most("sharing", 2, "no shuffles, and shared memory once a warp at most", lambda m: m.shuffles + m.shared_loads + m.shared_stores, on="large",
            fewest=lambda m: 2 * m.warps + m.blocks, times=1.0, hint="a vote has added up 32 lanes already: __popc(__ballot_sync(mask, odd))"),
    at_most("atomics", 1, "an atomic a block at most", "atomics", on="large", fewest=lambda m: m.blocks, times=1.0,
            hint="add the warps' counts in shared memory, and let one thread add the block's to count[0]"),
    at_most("reads", 1, "every element is read from global memory once", "global_load_sectors", on="large",
            fewest=lambda m: math.ceil(m.n / 8), times=1.1, hint="neighbouring threads should read neighbouring elements, once"),
]
TIME = ({"n": 65536}, "n", 256)
