"""Our C is held to what our users' is: warnings, static checks, formatting, and sanitizers while everything runs."""
import os
import shutil

from conftest import ROOT, need, run


def make(*targets, **keywords):
    return run(need("make"), "--no-print-directory", "-j2", f"NVCC={os.environ.get('NVCC', '')}", *targets, timeout=1500, **keywords)


def test_no_warnings_and_nothing_found(capsys):
    done = make("lint")
    with capsys.disabled():
        for tool in ("gcc", "clang", "cppcheck", "clang-format"):
            if not shutil.which(tool):
                print(f"\nskipped: {tool} not found")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_sanitizers_find_nothing():
    done = make("sanitize", "ARCH=")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "tests/ops.test: clean" in done.stdout and "tests/kernels: clean" in done.stdout
