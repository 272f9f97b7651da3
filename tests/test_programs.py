"""CUDA programs that use calls, printf, assert and the device heap. Each file's first line says what must come out: a line of stdout
that begins with got=, or "error TEXT", which must stand on stderr while the program ends with another status than 0. A second
line may say "build for compute_NN". Every program runs as it is built usually, and once more as nvcc -G builds it, where nothing is inlined."""
import re
import subprocess

import pytest
from conftest import BUILD, ROOT, run

SOURCES = sorted((ROOT / "tests" / "programs").glob("*.cu"))
FLAGS = {"optimised": ["-O2", "-lineinfo"], "debug": ["-G"]}


@pytest.fixture(scope="session")
def nvcc():
    found = run("sh", "common/setup.sh", "find-nvcc", NVCC="", CUDA_HOME="", CUDA="")
    if found.returncode or not found.stdout.split():
        pytest.skip("nvcc not found")
    return found.stdout.split()[0]


def build(nvcc, source, flags):
    program = BUILD / "tests" / "programs" / f"{source.stem}.{flags}"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        arch = re.search(r"^// build for (compute_\d+)$", source.read_text(), re.MULTILINE)
        arch = arch[1] if arch else "compute_80"
        subprocess.run([nvcc, *FLAGS[flags], "-w", "-gencode", f"arch={arch},code={arch}", "-cudart", "shared",
                        "--compress-mode=none", source.name, "-o", program], cwd=source.parent, check=True)
    return program


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_program(nvcc, source, flags):
    expected = source.read_text().splitlines()[0].removeprefix("// expect: ")
    done = run("./emulate", build(nvcc, source, flags), EMULATOR_CHECK="all", timeout=120)
    if expected.startswith("got="):
        assert expected in done.stdout.splitlines(), done.stdout + done.stderr
        assert done.returncode == 0, done.stderr
    else:
        assert expected.removeprefix("error ") in done.stderr
        assert done.returncode != 0
