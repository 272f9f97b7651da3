"""Steps 8 to 11 and what stands beside step 11: right for every size, silent under every check and order, the same bits each time."""
import random
import re

import pytest
from conftest import BUILD, ROOT, STEPS, run

BEYOND = {step: ROOT / step / "run" for step in STEPS[8:12]} | {p.stem: BUILD / "variants" / p.stem for p in sorted((ROOT / "variants").glob("*.cu"))}
EDGES = "0-40,63-65,127-129,255-257,1023-1025,4095-4097,16383-16385,65537,1000003"


@pytest.mark.parametrize("name", BEYOND)
def test_edges(name):
    done = run(BEYOND[name], "--n", EDGES, "--block", "32,64,128,256,512,1024", "--device", "emulator", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("schedule", ["ordered", "reversed", "random:3"])
@pytest.mark.parametrize("name", BEYOND)
def test_no_finding_in_any_order(name, schedule):
    done = run(BEYOND[name], "--n", "0-3,31-33,4095-4097,100003", "--block", "32,256,1024", "--device", "emulator", "--quiet",
               EMULATOR_CHECK="all", EMULATOR_SCHEDULE=schedule)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("option, value, said", [("--types", "long", "--types: long is not one of int, float, double"),
                                                 ("--l2", "warm", "--l2: warm is not one of dirty, clean"), ("--n", "2^x", "--n: 2^x is not a size"),
                                                 ("--block", "33", "--block: 33 is not a power of two from 32 to 1024")])
def test_bench_refuses_what_it_does_not_know(option, value, said):
    done = run("python3", "bench/bench.py", option, value, "nowhere")
    assert done.returncode == 2 and said in done.stderr


# Of every type; `make test-slow`. One process each.
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["int", "float", "double"])
def test_every_size(kind):
    built = run("make", "-s", f"TYPE={kind}", *(step.split("_")[0] for step in STEPS[8:12]), timeout=1200)
    assert built.returncode == 0, built.stderr
    sizes = ",".join(["0-4096", *(str(random.Random(5).randrange(1 << 22)) for _ in range(1000))])
    try:
        for step in STEPS[8:12]:
            done = run(ROOT / step / "run", "--n", sizes, "--device", "emulator", timeout=3600)
            assert done.returncode == 0, done.stderr
            assert len(re.findall(r" verified$", done.stdout, re.M)) == 4097 + 1000
    finally:
        assert run("make", "-s", "steps", timeout=1200).returncode == 0
