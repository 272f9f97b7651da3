"""What the tests share. `make test` builds every program first; the fixtures here only find and run them."""
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
    clean = {k: v for k, v in os.environ.items() if not k.startswith("EMULATOR_") and k not in ("LD_LIBRARY_PATH", "LD_PRELOAD", "MAKEFLAGS", "MAKELEVEL")}
    return subprocess.run([str(c) for c in command], cwd=cwd, env=clean | {k: str(v) for k, v in environment.items()},
                          capture_output=True, text=True, timeout=timeout)


def need(program):
    """A tool that not every machine has."""
    found = shutil.which(program)
    if not found:
        pytest.skip(f"{program} not found")
    return found
