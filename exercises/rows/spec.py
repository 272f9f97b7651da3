TITLE = "Row sums with coalesced loads"

CASES = [
    cases("small", rows=[1, 5, 33], cols=[1, 31, 64, 100]),
    cases("drawn", rows=[7], cols=[129], draw=2, up_to=60),
    cases("tall", rows=[1000], cols=[32]),
    cases("wide", rows=[3], cols=[8192]),
    cases("square", rows=[256], cols=[256]),
]


def inputs(rng, case):
    return {"matrix": uneven(rng, [rng.uniform(0.0, 1.0) for _ in range(case.rows * case.cols)])}


def expected(case, matrix):
    rows = [matrix[r * case.cols:(r + 1) * case.cols] for r in range(case.rows)]
    return {"sums": [(math.fsum(row), float_sum_bound(row, case.cols, unit=2.0**-53)) for row in rows]}


REQUIREMENTS = [
    right("small", 3, "every row's sum, any shape", on=["small", "drawn"], hint="row r begins at matrix[r * cols]; sums in double"),
    right("tall and wide", 2, "many short rows, and few long ones", on=["tall", "wide", "square"], hint="a grid for any number of rows, and a loop over the columns"),
    at_most("reads", 4, "coalesced loads: each sector is fetched once", "global_load_sectors", on=["square", "wide"],
            fewest=lambda m: m.rows * m.cols / 8, times=1.05,
            hint="with a thread a row, the lanes of a warp read words cols apart, in 32 sectors. Let the lanes of a warp share a row"),
    at_most("requests", 1, "whole warps load: 32 elements a request", "global_loads", on=["square", "wide"],
            fewest=lambda m: m.rows * m.cols / 32, times=1.1, hint="no lane should stay idle while its warp loads"),
]
TIME = ({"rows": 256, "cols": 256}, "rows", 64)
