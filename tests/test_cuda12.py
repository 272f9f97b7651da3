"""The build with a CUDA 12 toolkit: which one is chosen, and, where there is one (CUDA12_HOME, else /usr/local/cuda-12*), its runtime's
names and version, the steps and the programs of tests/programs built with its nvcc and run on the emulator built with its headers."""
import os
import re
import stat
import subprocess
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT, STEPS, need, run
from test_program import symbols
from test_programs import SOURCES

OURS = ROOT / "build" / "cuda12"
SETTINGS = {"NVCC": "", "CUDA_HOME": "", "CUDA": ""}


def pretended(folder, version, runtime):
    """A compiler that says no more than which version it is and where its headers are."""
    nvcc, include, lib = folder / "bin" / "nvcc", folder / "include", folder / "lib64"
    for directory in nvcc.parent, include, lib:
        directory.mkdir(parents=True)
    (lib / f"libcudart.so.{runtime}").touch()
    nvcc.write_text(f"""#!/bin/sh
case $1 in
    --version) echo 'Cuda compilation tools, release {version}, V{version}.99' ;;
    --dryrun) echo '#$ INCLUDES="-I{include}"' >&2 ;;
esac
""")
    nvcc.chmod(nvcc.stat().st_mode | stat.S_IXUSR)
    return nvcc


@pytest.mark.parametrize("version, name", [("12.4", "libcudart.so.12"), ("12.0", "libcudart.so.12"), ("13.0", "libcudart.so.13")])
def test_the_emulator_is_named_after_the_toolkit(tmp_path, version, name):
    nvcc = pretended(tmp_path, version, name[-2:])
    found = run("sh", "common/setup.sh", "find-nvcc", **SETTINGS | {"NVCC": nvcc})
    assert found.stdout.split() == [str(nvcc), str(tmp_path / "include"), str(tmp_path / "lib64"), version], found.stderr
    named = run("make", "-s", "print-emulator", f"NVCC={nvcc}", "CUDA_HOME=", "CUDA=")
    assert named.stdout == f"build/emulator/{name}\n", named.stderr


def test_other_majors_are_refused(tmp_path):
    for version in "11.8", "14.0":
        found = run("sh", "common/setup.sh", "find-nvcc", **SETTINGS | {"NVCC": pretended(tmp_path / version, version, 11)})
        assert found.stdout == "" and "is not an nvcc of CUDA 13 or 12" in found.stderr


def test_13_is_preferred(tmp_path):
    """12 on PATH, 13 in the usual place or in the wheels: only where there is none the 12 is taken."""
    old = pretended(tmp_path / "old", "12.4", 12)
    found = run("sh", "common/setup.sh", "find-nvcc", **SETTINGS | {"PATH": f"{old.parent}:{os.environ['PATH']}"}).stdout.split()
    elsewhere = [*Path("/usr/local/cuda/bin").glob("nvcc"), *ROOT.glob(".venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc")]
    assert found[0] != str(old) and found[3].startswith("13.") if elsewhere else found[0] == str(old)


@cache
def toolkit():
    places = [Path(os.environ["CUDA12_HOME"])] if os.environ.get("CUDA12_HOME") else sorted(Path("/usr/local").glob("cuda-12*"))
    for place in places:
        if (place / "bin" / "nvcc").exists():
            return place
    pytest.skip("no CUDA 12 toolkit here (CUDA12_HOME, /usr/local/cuda-12*)")


@cache
def made(*targets):
    done = run("make", "-s", f"NVCC={toolkit() / 'bin/nvcc'}", "CUDA_HOME=", "CUDA=", "BUILD=build/cuda12", "PROGRAMS=build/cuda12/", "ARCH=", *targets, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    return OURS / "emulator"


def test_every_symbol_and_version_of_nvidias_runtime():
    theirs = next(toolkit() / lib / "libcudart.so.12" for lib in ("lib64", "lib") if (toolkit() / lib / "libcudart.so.12").exists())
    wanted = {s for s in symbols(theirs, "-D", "--defined-only", "--with-symbol-versions") if re.match(r"_*cuda", s)}
    ours = symbols(made("emulator") / "libcudart.so.12", "-D", "--defined-only", "--with-symbol-versions")
    assert len(wanted) > 300 and all(s.endswith("@@libcudart.so.12") for s in wanted) and wanted - ours == set()
    assert "Library soname: [libcudart.so.12]" in subprocess.run([need("readelf"), "-d", OURS / "emulator/libcudart.so.12"], capture_output=True, text=True).stdout


def test_the_steps_run():
    made("steps")
    for step in STEPS:
        done = run(OURS / step / "run", "--device", "emulator", "--n", "0-40,1000003", "--quiet")
        assert done.returncode == 0, step + done.stdout + done.stderr


def test_step_12_runs():
    made("build/cuda12/step12_multigpu/run")
    done = run(OURS / "step12_multigpu" / "run", "--device", "emulator", "--n", "100003", EMULATOR_DEVICES=3)
    assert done.returncode == 0 and "on 3 devices" in done.stdout, done.stdout + done.stderr


def built(source, *options):
    folder = OURS / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    arch = re.search(r"^// build for (compute_\d+)$", source.read_text(), re.MULTILINE)
    arch = arch[1] if arch else "compute_80"
    command = [toolkit() / "bin" / "nvcc", "-O2", "-w", "-std=c++17", "-lineinfo", "-gencode", f"arch={arch},code={arch}", "-cudart", "shared", "--no-compress",
               *options, source, "-o", folder / source.stem]
    return subprocess.run([str(c) for c in command], capture_output=True, text=True), folder / source.stem


@pytest.mark.parametrize("options", [[], ["--default-stream", "per-thread"]], ids=" ".join)
def test_names_of_cuda_12_alone(options):
    done, program = built(ROOT / "tests" / "cuda12" / "names.cu", *options)
    assert done.returncode == 0, done.stderr
    done = run(program, LD_LIBRARY_PATH=made("emulator"))
    assert (done.returncode, done.stdout) == (0, "0 wrong\n"), done.stderr


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_program(source):
    done, program = built(source)
    if "fatal error: cuda/" in done.stderr:
        pytest.skip("the toolkit has no libcu++")
    assert done.returncode == 0, done.stderr
    expected = source.read_text().splitlines()[0].removeprefix("// expect: ")
    done = run(program, EMULATOR_CHECK="all", LD_LIBRARY_PATH=made("emulator"))
    if expected.startswith("got="):
        assert expected in done.stdout.splitlines() and done.returncode == 0, done.stdout + done.stderr
    else:
        assert expected.removeprefix("error ") in done.stderr and done.returncode != 0, done.stdout + done.stderr
