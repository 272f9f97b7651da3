TITLE = "Remove the bank conflicts"

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
    at_most("conflicts", 5, "no bank conflicts", "bank_conflicts", on="large", fewest=0,
            hint="word w lies in bank w % 32. At stride s the lanes read words 2s apart: which banks are these? Let neighbouring lanes read neighbouring words"),
    at_most("accesses", 2, "no more accesses to shared memory than a tree needs", lambda m: m.shared_loads + m.shared_stores, on="large",
            fewest=lambda m: 45 * tiles(m), times=1.2,
            hint="idle warps should not touch shared memory, and one thread alone should not add the tile: a tree over 256 needs 45 warp accesses a tile"),
    at_most("reads", 1, "each element is read from global memory once", "global_load_sectors", on="large",
            fewest=lambda m: m.n / 8, times=1.1, hint="load the tile once, then add in shared memory"),
]
TIME = ({"n": 65536}, "n", 256)
