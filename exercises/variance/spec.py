from fractions import Fraction

TITLE = "Mean and variance in one pass"

CASES = [
    cases("near zero", n=[1, 2, 33, 256, 1000], draw=2),
    cases("offset", kind=1e6, n=[2, 64, 777, 3000], draw=1),
    cases("large", kind=1e4, n=[100003]),
]


def inputs(rng, case):
    offset = case.kind or 0.0
    return {"input": uneven(rng, [offset + rng.uniform(-1.0, 1.0) for _ in range(case.n)])}


def expected(case, input):
    n = case.n
    if n <= 5000:
        mean = sum(map(Fraction, input)) / n  # exact
        variance = float(sum((Fraction(x) - mean) ** 2 for x in input) / n)
        mean = float(mean)
    else:
        mean = math.fsum(input) / n
        variance = math.fsum((x - mean) ** 2 for x in input) / n
    # Sound one-pass algorithms: n u kappa, kappa = sqrt(1 + mean^2 / variance) (Chan, Golub and LeVeque, 1983); the textbook formula
    # E[x^2] - E[x]^2 has kappa^2 in its place, a million times as much at the offset.
    unit = 2.0**-53
    kappa = math.sqrt(1 + mean * mean / variance) if variance else 1.0
    return {"output": [(mean, float_sum_bound(input, n + 2, unit) / n), (variance, (n + 8) * unit * kappa * variance + 1e-30)]}


REQUIREMENTS = [
    right("near zero", 3, "mean and variance of elements around 0", hint="divide by n, not by n - 1; a single element has variance 0"),
    right("offset", 4, "mean and variance of elements far from 0", on=["offset", "large"],
          hint="E[x^2] - E[x]^2 subtracts two numbers that agree in 12 digits. Subtract input[0] from every element first, or combine (n, mean, M2)"),
    at_most("reads", 3, "one pass: every element is read from global memory once", "global_load_sectors", on="large",
            fewest=lambda m: math.ceil(m.n / 8), times=1.15, hint="a thread reads an element and uses it for both sums"),
]
TIME = ({"n": 65536}, "n", 256)
