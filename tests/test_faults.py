"""tests/faults: each CUDA program is a kind of fault, and with -DCORRECT its twin without it. The first line of each says which check
finds it and what the report says; comments mark the guilty lines. The fault must be found and named; the twin must pass in silence
under every schedule."""
import re
import subprocess
import sys

import pytest
from conftest import BUILD, ROOT, run

sys.path.insert(0, str(ROOT / "tests" / "faults"))
import kinds  # noqa: E402

FAULTS = kinds.all_of_them()
SCHEDULES = ["ordered", "reversed", "random:1", "random:7"]
EACH_FAULT = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)


@pytest.fixture(scope="session")
def nvcc():
    found = run("sh", "common/setup.sh", "find-nvcc", NVCC="", CUDA_HOME="", CUDA="")
    if found.returncode or not found.stdout.split():
        pytest.skip("nvcc not found")
    return found.stdout.split()[0]


def build(nvcc, fault, form):
    program = BUILD / "tests" / "faults" / f"{fault.name}.{form}"
    newest = max(path.stat().st_mtime for path in (fault.source, fault.source.parent / "fault.h"))
    if not program.exists() or program.stat().st_mtime < newest:
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([nvcc, *kinds.FORMS[form], "-lineinfo", "-w", "-gencode", "arch=compute_75,code=compute_75", "-cudart", "shared",
                        "--compress-mode=none", fault.source.name, "-o", program], cwd=fault.source.parent, check=True)
    return program


def emulated(nvcc, fault, form, **environment):
    return run("./emulate", build(nvcc, fault, form), timeout=60, **fault.environment, **environment)


@EACH_FAULT
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_fault_is_named(nvcc, fault, schedule):
    done = emulated(nvcc, fault, "fault", EMULATOR_CHECK="all", EMULATOR_SCHEDULE=schedule)
    assert fault.says in done.stderr
    assert (done.returncode == 0) == (fault.status == 0), done.stderr
    assert "to mend it: " in done.stderr
    if fault.lines:
        assert re.search(r"fault: _Z\w+ block \(\d+,0,0\) thread \(\d+,0,0\) \[warp \d+ lane \d+\], ", done.stderr)
    for line in fault.lines:
        assert f"({fault.source.name}:{line})" in done.stderr


@EACH_FAULT
def test_its_own_check_is_enough(nvcc, fault):
    done = emulated(nvcc, fault, "fault", EMULATOR_CHECK="none" if fault.check == "always" else fault.check)
    assert fault.says in done.stderr


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.check in ("race", "init", "leak")], ids=lambda fault: fault.name)
def test_nothing_is_said_unasked(nvcc, fault):
    done = emulated(nvcc, fault, "fault", EMULATOR_CHECK="none")
    assert (done.returncode, done.stderr) == (0, "")


@EACH_FAULT
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_correct_twin_passes_in_silence(nvcc, fault, schedule):
    done = emulated(nvcc, fault, "twin", EMULATOR_CHECK="all", EMULATOR_SCHEDULE=schedule)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_every_check_has_its_kinds():
    assert {fault.check for fault in FAULTS} == {"always", "sync", "race", "init", "leak"}
