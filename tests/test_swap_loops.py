"""tests/swap_loops: compare-and-swap loops as people write them, on which the race check must be silent, and plain loads beside
atomics that it must report; both in every kind of build. first_read.c tells one from the other."""
import re
import subprocess

import pytest
from conftest import BUILD, ROOT, need, run

FOLDER = ROOT / "tests" / "swap_loops"
FORMS = {"plain": [], "lineinfo": ["-O2", "-lineinfo"], "debug": ["-G"]}
TARGETS = ["75", "80", "90"]
NAMES = re.findall(r"X\((\w+)\)", "".join(re.findall(r"^#define (?:LAST|EACH\(X\))(?:.*\\\n)*.*", (FOLDER / "races.cu").read_text(), re.MULTILINE)))
RACES = sorted(NAMES, key=lambda name: name.startswith("pair"))  # as LAST puts them


def build(name, form, target):
    source = FOLDER / f"{name}.cu"
    program = BUILD / "tests" / "swap_loops" / f"{name}.{form}.{target}"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        pairs = ["-DPAIRS"] if target == "90" else []  # swaps of 16 bytes
        subprocess.run([need("nvcc"), *FORMS[form], *pairs, "-w", "-gencode", f"arch=compute_{target},code=compute_{target}", "-cudart", "shared",
                        "--compress-mode=none", source.name, "-o", program], cwd=FOLDER, check=True)
    return program


@pytest.mark.parametrize("schedule", ["ordered", "reversed", "random:3"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", FORMS)
def test_loops_pass_in_silence(form, target, schedule):
    arguments = ["pairs"] if target == "90" else []
    done = run("./emulate", build("loops", form, target), *arguments, timeout=60, EMULATOR_CHECK="all", EMULATOR_SCHEDULE=schedule)
    assert (done.returncode, done.stdout, done.stderr) == (0, "cudaSuccess\n", "")


@pytest.mark.parametrize("form", ["lineinfo", "debug"])
@pytest.mark.parametrize("race", RACES)
def test_races_are_reported(race, form):
    number = RACES.index(race)
    done = run("./emulate", build("races", form, "90"), str(number), timeout=60, EMULATOR_CHECK="race")
    assert "race on global memory" in done.stderr, done.stdout
    assert f"fault: _Z{len(race)}{race}Pi" in done.stderr  # the kernel that the number chose
    assert done.returncode != 0
