TITLE = "Dot product"

CASES = [
    cases("any n", n=[1, 31, 256, 1000, 2500], draw=2),
    cases("nothing", n=[0]),
    cases("cancelling", kind="cancelling", n=[512, 3000]),
    cases("large", n=[100003]),
]


def inputs(rng, case):
    x = [rng.uniform(1.0, 2.0) for _ in range(case.n)]
    y = [rng.uniform(1.0, 2.0) for _ in range(case.n)]
    if case.kind == "cancelling":  # large products of both signs, whose sum is small
        x = [v * 30000.0 for v in x]
        y = [v if i % 2 else -v for i, v in enumerate(y)]
    return {"x": x, "y": y}


def expected(case, x, y):
    products = [a * b for a, b in zip(x, y)]  # of two floats: exact in double
    # Sums in double, of any order: gamma(n) sum |x y|. A sum or a product rounded to float is far outside.
    return {"output": [(math.fsum(products), float_sum_bound(products, max(1, case.n), unit=2.0**-53))]}


REQUIREMENTS = [
    right("any n", 4, "the dot product, any n", on=["any n", "large"],
          hint="multiply in double: (double)x[i] * y[i]; the product of two floats, rounded to float, has lost half of its digits"),
    right("nothing", 1, "0 where n = 0", hint="output[0] holds an arbitrary value before solve()"),
    right("cancelling", 2, "products that nearly cancel", hint="keep every sum in double, the shared tile too"),
    at_most("reads", 3, "both vectors are read once, neighbouring threads side by side", "global_load_sectors", on="large",
            fewest=lambda m: 2 * math.ceil(m.n / 8), times=1.1, hint="thread k of a block reads element first + k of both vectors"),
]
TIME = ({"n": 65536}, "n", 256)
