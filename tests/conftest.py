"""What the tests share. `make test` builds every program first; the fixtures here only find and run them."""
import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PROGRAMS = BUILD / "tests"
STEPS = sorted((p.parent.name for p in ROOT.glob("step*_*/reduce.cu")), key=lambda name: int(name.split("_")[0][4:]))


def pytest_addoption(parser):
    parser.addoption("--accept", action="store_true", help="write the expected messages anew")


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU")
    config.addinivalue_line("markers", "slow: takes minutes")


def run(*command, timeout=300, cwd=ROOT, **environment):
    """Runs a program to its end. Keywords are environment variables; those of this shell that steer the emulator do not count."""
    if "COVERED_EMULATOR" in os.environ:  # make coverage: programs find this emulator before the one that they were built with
        environment.setdefault("LD_LIBRARY_PATH", os.environ["COVERED_EMULATOR"])
        command = command[1:] if command[0] == "./emulate" else command
        if Path(command[0]).parent in [ROOT / name for name in STEPS]:  # a step looks where it lies itself
            command = (Path(os.environ["COVERED_EMULATOR"]).parent / "steps" / Path(command[0]).relative_to(ROOT), *command[1:])
    clean = {k: v for k, v in os.environ.items() if not k.startswith("EMULATOR_") and k not in ("LD_LIBRARY_PATH", "LD_PRELOAD", "MAKEFLAGS", "MAKELEVEL")}
    return subprocess.run([str(c) for c in command], cwd=cwd, env=clean | {k: str(v) for k, v in environment.items()},
                          capture_output=True, text=True, timeout=timeout)


@functools.lru_cache
def steps_of_type(kind):
    """The folder that holds all steps built for elements of this type, beside those that make built last."""
    folder = BUILD / "types" / kind
    done = run("make", "-s", f"TYPE={kind}", "ARCH=90", f"PROGRAMS={folder}/", f"RUNPATH={BUILD}/emulator", "steps", timeout=900)
    assert done.returncode == 0, done.stderr
    return folder


def need(program):
    """A tool that not every machine has."""
    found = shutil.which(program)
    if not found:
        pytest.skip(f"{program} not found")
    return found
