"""What the fuzzers found stays found: every seed, every input that ever failed (tests/fuzz/ptx, tests/fuzz/fatbin) and some large ones,
with sanitizers and bounds on time and memory; and a short run of the fuzzers themselves. `make fuzz` searches on."""
import os
import subprocess
import sys

import pytest
from conftest import BUILD, PROGRAMS, ROOT, run

FUZZ = BUILD / "fuzz"
HEADER = ".version 9.0\n.target sm_75\n.address_size 64\n"
TARGETS = ["ptx", "fatbin"]


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    subprocess.run([sys.executable, ROOT / "tests/fuzz/seeds.py", folder, os.environ.get("NVCC", ""), PROGRAMS / "ops_run"], check=True)
    return folder


def built(program, why):
    if not program.exists():
        pytest.skip(why)
    return program


def replay(target, *inputs):
    done = run(built(FUZZ / "replay" / target, "the C compiler has no sanitizers"), *inputs)
    assert done.returncode == 0, f"{done.stdout.splitlines()[-1:]} {done.returncode}\n{done.stderr[-3000:]}"
    return len(done.stdout.splitlines())


@pytest.mark.parametrize("target", TARGETS)
def test_every_seed_and_every_finding(target, seeds):
    kept = ROOT / "tests" / "fuzz" / target
    assert replay(target, seeds / target, *[kept] * kept.is_dir()) >= 12


def kernel(body):
    return HEADER + ".entry k(.param .u64 p)\n{\n.reg .pred %q; .reg .b32 %r<100000>; .reg .b64 %d<9>;\n" + body + "\nret;\n}\n"


# A megabyte each, or near it: time and memory must not grow with the square of what is there.
LARGE = {
    "blocks": kernel("".join(f"L{i}: setp.eq.u32 %q, %r{i}, 7; @%q bra L{i * 7919 % 15000};\n" for i in range(15000))),
    "constants": kernel("".join(f"mov.u32 %r1, {i};\n" for i in range(50000))),
    "jump_lists": kernel("a: ret;\nb: .branchtargets " + ",".join(["a"] * 100000) + ";\n" + "brx.idx %r1, b;\n" * 20000),
    "functions": HEADER + ".func f0() { ret; }\n" + "".join(f".func f{i}() {{ call f{i - 1}; ret; }}\n" for i in range(1, 15000)) +
                 ".entry k() { call f14999; ret; }\n",
    "kernels": HEADER + "".join(f".entry k{i}() {{ .reg .b32 %r<60>; ret; }}\n" for i in range(15000)),
    "variables": HEADER + "".join(f".global .b8 v{i};\n" for i in range(30000)),
    "shared_variables": HEADER + "".join(f".shared .b8 v{i};\n" for i in range(15000)) + ".entry k() { .reg .b64 %d<2>;\n" +
                        "".join(f"mov.u64 %d1, v{i};\n" for i in range(15000)) + "ret; }\n",
    "addresses": HEADER + ".global .u64 a;\n.global .u64 t[200000] = {" + "a," * 199999 + "a};\n",
    "braces": kernel("{" * 100000),
    "braces_of_initial_values": HEADER + ".global .u32 t[4] = " + "{" * 500000,
    "comment": HEADER + "/*" + "\n" * 1000000,
    "one_line": HEADER + " " * 1000000 + "?",
    "labels": kernel("".join(f"L{i}:\n" for i in range(100000)) + "bra L99999;"),
    "long_name": HEADER + ".global .b32 " + "x" * 1000000 + ";\n",
}


@pytest.mark.parametrize("name", LARGE)
def test_large(name, tmp_path):
    path = tmp_path / f"{name}.ptx"
    path.write_text(LARGE[name])
    assert replay("ptx", path) == 1


@pytest.mark.parametrize("target, runs", [("ptx", 3000), ("fatbin", 100000)])
def test_short_run(target, runs, seeds, tmp_path):
    program = built(FUZZ / "libfuzzer" / target, "no clang with libFuzzer (FUZZ_CC)")
    done = run(program, f"-runs={runs}", "-seed=1", "-timeout=10", "-rss_limit_mb=2048", "-max_len=20000", f"-dict={seeds / 'dictionary'}",
               f"-artifact_prefix={tmp_path}/", tmp_path, seeds / target)
    assert done.returncode == 0, done.stderr[-4000:]
