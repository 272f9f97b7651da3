"""tests/ops.test, an instruction a case: on the code for any processor and on that for AVX2, on whole warps and under guards."""
import lzma
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from conftest import BUILD, PROGRAMS, ROOT, run

OPS = ROOT / "tests" / "ops.test"
LIBRARY = BUILD / "emulator" / "libcudart.so.13"


@cache
def lines_of(path):
    return path.read_text().splitlines()


@cache
def cases(path):
    """{instruction: [number of its first line, ...]}"""
    found, lines = {}, lines_of(path)
    at = 0
    while at < len(lines):
        if lines[at] and not lines[at].startswith("#"):
            found.setdefault(lines[at], []).append(at + 1)
            at += 2
        at += 1
    return found


@cache
def plain_library(folder):
    """A folder with the emulator for any processor alone: beside it there is one for AVX2, which the loader would take."""
    (Path(folder) / LIBRARY.name).symlink_to(LIBRARY)
    return folder


@cache
def results(path, library=None):
    done = run(PROGRAMS / "ops_run", path, **({"LD_LIBRARY_PATH": library} if library else {}))
    assert done.returncode in (0, 1), done.stderr
    return {int(number): text for number, text in (line.split(" ", 1) for line in done.stdout.splitlines())}


def wrong(path, library=None):
    lines = lines_of(path)
    return [f"{path.name}:{n}: {lines[n - 1]}: {lines[n]}: {text}, expected {lines[n + 1]}" for n, text in results(path, library).items() if text != "ok"]


@pytest.mark.parametrize("instruction", cases(OPS))
def test_instruction(instruction):
    lines, verdicts = lines_of(OPS), results(OPS)
    bad = [f"ops.test:{n}: {lines[n]}: {verdicts.get(n, 'did not run')}, expected {lines[n + 1]}" for n in cases(OPS)[instruction] if verdicts.get(n) != "ok"]
    assert not bad, "\n".join(bad[:5])


def test_any_processor(tmp_path_factory):
    folder = plain_library(str(tmp_path_factory.mktemp("plain")))
    assert wrong(OPS, folder) == []
    assert len(results(OPS, folder)) == sum(map(len, cases(OPS).values()))


def test_random_inputs(tmp_path):
    written = subprocess.run([sys.executable, ROOT / "tests" / "ops_reference.py", "--random", "24", "--seed", "7"], capture_output=True, text=True, check=True)
    path = tmp_path / "random.test"
    path.write_text(written.stdout)
    assert wrong(path)[:5] == []
    assert len(results(path)) > 3 * len(results(OPS))


def test_file_is_what_the_reference_says():
    written = subprocess.run([sys.executable, ROOT / "tests" / "ops_reference.py"], capture_output=True, text=True, check=True)
    assert written.stdout == OPS.read_text(), "run: python3 tests/ops_reference.py > tests/ops.test"


GOLDEN = ROOT / "tests" / "hardware" / "ops.test.xz"


def hardware_says(path):
    path.write_bytes(lzma.decompress(GOLDEN.read_bytes()))
    return path


@pytest.mark.skipif(not GOLDEN.exists(), reason="make golden has recorded nothing yet")
def test_as_the_hardware_says(tmp_path):
    """What a GPU gave for every instruction with edge values and random ones (make golden), bit for bit or within the stated bound."""
    path = hardware_says(tmp_path / "hardware.test")
    assert path.read_text().startswith("# Recorded on NVIDIA ")
    assert wrong(path)[:5] == []
    assert len(results(path)) > 3 * len(results(OPS))


def test_recording_keeps_what_was_expected_and_tells_what_was_not(tmp_path):
    path = tmp_path / "wrong.test"
    path.write_text("add.u32 d, a, b\na=0x00000001 b=0x00000002\nd=0x00000004\n\nsqrt.approx.f32 d, a\na=0x40800000\nd=0x3fffffff..0x40000001\n\n"
                    "frob.u32 d, a\na=0x00000001\nd=0x00000001\n\nst.global.b8 [m], a\nm=0x0000000000000000000000000000ffff a=0x01\n"
                    "m=0x0000000000000000000000000000ff02\n")
    done = run(PROGRAMS / "ops_run", "--record", path)
    assert done.returncode == 0 and "3 instructions, 3 cases, 2 differ from the reference" in done.stderr and "1 instructions not accepted" in done.stderr
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith("#")]
    assert lines[2] == "d=0x00000003" and lines[5] == "d=0x3fffffff..0x40000001" and lines[8] == "m=0x0000000000000000000000000000ff01" and len(lines) == 9
    path.write_text(done.stdout)
    assert wrong(path) == []


def opcodes():
    """Every opcode that a test executes."""
    found = set()
    for instruction in cases(OPS):
        found |= {part.split()[0] for part in instruction.split(";") if part.strip()}
    for path in [*(ROOT / "tests" / "kernels").glob("*.ptx"), *(ROOT / "tests" / "errors").glob("*.ptx")]:
        for line in path.read_text().splitlines():
            match = re.match(r"\s+(?:@!?\S+\s+)?([a-z][\w.:]*)[\s;]", line)
            if match and not line.strip().startswith("."):
                found.add(match[1])
    return found


def rows_without(tested):
    return subprocess.run([PROGRAMS / "rows"], input="\n".join(sorted(tested)) + "\n", capture_output=True, text=True, env=os.environ).stdout.splitlines()


def test_every_row_has_a_case():
    assert rows_without(opcodes()) == [], "rows of common/emulator/ops.def that no test reaches"


def test_a_row_without_a_case_is_found():
    assert rows_without(opcodes() - {"shl.b16", "trap"}) == ["row shl.b16", "row trap"]


def test_a_wrong_expectation_fails(tmp_path):
    """The runner can say no: to a value, to a predicate, to memory, to a write under a guard."""
    path = tmp_path / "wrong.test"
    path.write_text("add.u32 d, a, b\na=0x00000001 b=0x00000002\nd=0x00000004\n\nsetp.lt.u32 p, a, b\na=0x00000001 b=0x00000002\np=0\n\n"
                    "st.global.u32 [m], a\nm=0x00000001 a=0x00000002\nm=0x00000001\n\nfrob.u32 d, a\na=0x00000001\nd=0x00000001\n\n"
                    "sqrt.rn.f32 d, a\na=0x40800000\nd=0x3f800000..0x3fffffff\n")
    assert len(wrong(path)) == 5


@pytest.mark.gpu
def test_on_a_gpu():
    done = run(PROGRAMS / "ops_run", OPS, LD_LIBRARY_PATH=os.environ.get("CUDART_DIR", ""), timeout=900)
    verdicts = [line.split(" ", 1) for line in done.stdout.splitlines()]
    lines = lines_of(OPS)
    # The driver's compiler refuses conversions that the manual calls useless: a saturation that cannot happen, a rounding to a whole
    # number that also changes the width.
    useless = re.compile(r"cvt\.(sat\.[us]\d+\.[us]\d+|r[nzmp]i\.(f32\.f64|f64\.f32)|rn\.bf16\.[us]8) ")
    bad = [f"{lines[int(n) - 1]}: {lines[int(n)]}: {text}" for n, text in verdicts
           if text != "ok" and not (text.startswith("not accepted") and useless.match(lines[int(n) - 1]))]
    assert verdicts and bad == []
