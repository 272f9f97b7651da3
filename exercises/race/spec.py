TITLE = "Mend the race"

CASES = [
    cases("sums", n=[1, 31, 511, 512, 513, 2048, 5000], draw=2),
    cases("large", n=[65536]),
]


def inputs(rng, case):
    return {"input": uneven(rng, [rng.randrange(1, 1000) for _ in range(case.n)])}


def expected(case, input):
    return {"sums": [sum(input[i:i + 512]) for i in range(0, case.n, 512)]}


def tiles(m):
    return math.ceil(m.n / 512)


REQUIREMENTS = [
    right("sums", 2, "every tile's sum, with blocks and warps in either order", on=["sums", "large"],
          hint="the report above names the first wrong tile; a result that depends on the order of the warps lacks a barrier"),
    silent("race", 5, "no race",
           hint="two threads touch the same word and nothing says who comes first. __syncthreads() orders the whole block, __syncwarp() the lanes of a warp; volatile orders nothing"),
    silent("sync", 1, "every thread that a barrier waits for comes to it", hint="no __syncthreads() inside an if that only some threads enter"),
    at_most("barriers", 2, "no more block barriers than this kernel needs", lambda m: m.barriers / m.warps, on="large", fewest=3, times=1.0,
            hint="the last warp needs barriers for itself alone: __syncwarp()"),
]
TIME = ({"n": 65536}, "n", 256)
