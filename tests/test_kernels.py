"""tests/kernels: whole kernels with the memory and counters that stand in their comments (ptx_run.c says how), and random ones."""
import os
import subprocess
import sys

import pytest
from conftest import PROGRAMS, ROOT, run

KERNELS = sorted((ROOT / "tests" / "kernels").glob("*.ptx"))
ORDERS = {
    "ordered": {"EMULATOR_THREADS": "2"},
    "one-thread": {"EMULATOR_THREADS": "1"},
    "seven-threads": {"EMULATOR_THREADS": "7"},
    "reversed": {"EMULATOR_SCHEDULE": "reversed"},
    "random": {"EMULATOR_SCHEDULE": "random:3"},
    "uncounted": {"EMULATOR_COUNTERS": "off"},
}


def passes(done):
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda p: p.stem)
def test_kernel(kernel, order):
    passes(run(PROGRAMS / "ptx_run", kernel, timeout=60, **ORDERS[order]))


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", [k for k in KERNELS if "\n//: emulator\n" not in k.read_text()], ids=lambda p: p.stem)
def test_kernel_on_a_gpu(kernel):
    passes(run(PROGRAMS / "ptx_run", kernel, timeout=60, LD_LIBRARY_PATH=os.environ.get("CUDART_DIR", "")))


def random_kernels(path, seed, count):
    written = subprocess.run([sys.executable, ROOT / "tests" / "random_control.py", "--seed", str(seed), "--count", str(count)], capture_output=True, text=True, check=True)
    path.write_text(written.stdout)
    return path


@pytest.mark.parametrize("seed", range(1, 7))
def test_random_control_flow(tmp_path, seed):
    passes(run(PROGRAMS / "ptx_run", random_kernels(tmp_path / "random.ptx", seed, 20), timeout=60))


@pytest.mark.slow
def test_much_random_control_flow(tmp_path):
    for seed in range(100, 200):
        passes(run(PROGRAMS / "ptx_run", random_kernels(tmp_path / "random.ptx", seed, 30), timeout=60))


@pytest.mark.gpu
def test_random_control_flow_on_a_gpu(tmp_path):
    passes(run(PROGRAMS / "ptx_run", random_kernels(tmp_path / "random.ptx", 1, 20), timeout=300, LD_LIBRARY_PATH=os.environ.get("CUDART_DIR", "")))


@pytest.mark.parametrize("change", [("expect out", "expect out 1 "), ("active_lanes=", "active_lanes=1"), ("warp_instructions=", "warp_instructions=1"), ("set out 0*128", "set out 0*127")])
def test_a_wrong_expectation_fails(tmp_path, change):
    path = random_kernels(tmp_path / "random.ptx", 1, 1)
    text = path.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change))
    assert run(PROGRAMS / "ptx_run", path).returncode in (1, 2)


def test_a_test_that_expects_nothing_is_refused(tmp_path):
    path = tmp_path / "empty.ptx"
    path.write_text(".version 8.0\n.target sm_75\n.address_size 64\n")
    done = run(PROGRAMS / "ptx_run", path)
    assert done.returncode == 2 and "expects nothing" in done.stderr
