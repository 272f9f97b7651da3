TITLE = "One number without atomics"

CASES = [
    cases("any n", n=[0, 1, 31, 256, 257, 1000, 2999], draw=2),
    cases("large", n=[100003]),
    cases("larger", n=[300007]),
]


def inputs(rng, case):
    return {"input": uneven(rng, [rng.randrange(2**29, 2**31) for _ in range(case.n)])}


def expected(case, input):
    return {"output": [sum(input)]}


REQUIREMENTS = [
    right("any n", 2, "the sum, any n", hint="partial sums that no block has written must not be added"),
    right("large", 2, "the sum of more elements than one block can hold partial sums of", on=["large", "larger"],
          hint="300007 elements are 1172 tiles of 256: more partial sums than a block has threads"),
    silent("init", 1, "no memory is read that nothing wrote", hint="cudaMalloc does not clear: how many partial sums did the first launch write?"),
    at_most("atomics", 2, "no atomics", "atomics", on=["large", "larger"], fewest=0, hint="a partial sum a block, in memory from cudaMalloc; a second launch adds them"),
    at_least("parallel", 2, "many blocks share the work", "blocks", on="larger", most=100, hint="one block alone uses one of a GPU's hundred multiprocessors"),
    at_most("reads", 1, "every element is read from global memory once", "global_load_sectors", on="larger",
            fewest=lambda m: math.ceil(m.n / 8), times=1.1, hint="neighbouring threads should read neighbouring elements, once"),
]
TIME = ({"n": 65536}, "n", 256)
