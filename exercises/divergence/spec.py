TITLE = "Remove the divergence"

CASES = [
    cases("sums", n=[1, 31, 255, 256, 257, 2048, 5000], draw=2),
    cases("large", n=[65536]),
]


def inputs(rng, case):
    return {"input": uneven(rng, [rng.randrange(1, 1000) for _ in range(case.n)])}


def expected(case, input):
    return {"sums": [sum(input[i:i + 256]) for i in range(0, case.n, 256)]}


def tiles(m):
    return math.ceil(m.n / 256)


REQUIREMENTS = [
    right("sums", 2, "every tile's sum", on=["sums", "large"], hint="change the order of the additions, not which elements are added"),
    at_most("divergent", 3, "few branches diverge", "divergent_branches", on="large", fewest=lambda m: 6 * tiles(m), times=1.5,
            hint="in the skeleton every warp has working and idle lanes at every stage. Let thread k do the k-th addition"),
    at_least("lanes", 3, "the working threads fill whole warps", "lanes_per_shared_access", on="large", most=22.7, times=0.9,
             hint="let thread k do the k-th addition of a stage: then the first warps are full and the others have nothing to do"),
    at_most("divisions", 1, "no division or remainder", "divisions", on="large", fewest=0,
            hint="% by a number that is not a constant costs some 20 instructions; with thread k at pair k there is nothing to test by %"),
    at_most("reads", 1, "the work stays in shared memory: each element is read from global memory once", "global_load_sectors", on="large",
            fewest=lambda m: m.n / 8, times=1.1, hint="load the tile once, then add in shared memory"),
]
TIME = ({"n": 65536}, "n", 256)
