TITLE = "As few barriers as you can"

CASES = [
    cases("sums", n=[1, 31, 1000, 1024, 1025, 3500], draw=2),
    cases("large", n=[65536]),
]


def inputs(rng, case):
    return {"input": uneven(rng, [rng.randrange(1, 1000) for _ in range(case.n)])}


def expected(case, input):
    return {"sums": [sum(input[i:i + 1024]) for i in range(0, case.n, 1024)]}


def a_warp(m):
    return m.barriers / m.warps


REQUIREMENTS = [
    right("sums", 2, "every tile's sum", on=["sums", "large"], hint="each stage may leave out a barrier only if nobody reads what another warp has just written"),
    silent("race", 2, "no race", hint="a barrier was left out where it was needed; __shfl_down_sync carries values between lanes without memory"),
    at_least("block", 1, "blocks of at least 256 threads", "block", on="large", most=256, hint="blocks of one warp need no barriers, and hide no latency either"),
    at_most("few", 1, "at most 5 barriers a warp", a_warp, on="large", fewest=5, hint="the last six stages happen within one warp"),
    at_most("two", 1, "at most 2 barriers a warp", a_warp, on="large", fewest=2, hint="let each warp add up its own elements by shuffles"),
    at_most("one", 2, "at most 1 barrier a warp", a_warp, on="large", fewest=1, hint="one barrier: between the warps' sums and the warp that adds them"),
    at_most("reads", 1, "each element is read from global memory once", "global_load_sectors", on="large", fewest=lambda m: m.n / 8, times=1.1,
            hint="load the tile once"),
]
TIME = ({"n": 65536}, "n", 256)
