"""Programs from outside (`make outside`): our calls of the toolkit's CUB, Thrust and cooperative groups, and that the script can say no."""
import sys

import pytest
from conftest import ROOT, run

sys.path.insert(0, str(ROOT / "tests"))
import outside  # noqa: E402

OWN = sorted(path.stem for path in (ROOT / "tests" / "outside").glob("*.cu"))
QUICK = ("groups", "cub_warp")  # the others take nvcc half a minute each


def nvcc():
    found = run("sh", "common/setup.sh", "find-nvcc", NVCC="", CUDA_HOME="", CUDA="")
    if found.returncode or not found.stdout.split():
        pytest.skip("nvcc not found")
    return found.stdout.split()[0]


@pytest.mark.parametrize("name, archs", [(name, "80") for name in QUICK] +
                         [pytest.param(name, "75,80,90", marks=pytest.mark.slow) for name in OWN])
def test_calls_of_headers(name, archs):
    """Right for each target, with the usual check and with all, and nothing said."""
    done = run(sys.executable, "tests/outside.py", "--nvcc", nvcc(), "--only", name, "--archs", archs, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("| right |") == 2 * len(archs.split(","))


def test_a_folder_without_samples_is_refused(tmp_path):
    done = run(sys.executable, "tests/outside.py", "--samples", tmp_path, "--build", tmp_path)
    assert done.returncode == 1 and "listed and not there" in done.stderr


def test_every_name_is_listed_once():
    names = {*outside.SAMPLES, *outside.SHORTER, *(n for _, those in outside.LACKING.values() for n in those),
             *(n for those in outside.EXCLUDED.values() for n in those.split())}
    assert outside.sort_out(dict.fromkeys(names)) == []
    assert outside.sort_out(dict.fromkeys({*names, "newSample"})) == ["newSample is not listed in tests/outside.py"]


@pytest.mark.parametrize("right, done", [
    (True, (0, "Test passed\n", "")),
    (True, (0, "nothing of the kind\n", "")),
    (False, (0, "Test failed!\n", "")),
    (False, (1, "Test passed\n", "")),
    (False, (0, "Test passed\n", "The emulator has no cudaGraphCreate: it returns cudaErrorNotSupported.\n")),
    (False, (86, "", "fault: kernel block (0,0,0)\n")),
    (False, ("time", "", "")),
])
def test_verdicts(right, done):
    assert outside.judge(*done)[0] == right


def test_a_program_that_is_to_fail_has_to():
    assert outside.judge(0, "OK", "fault: f: assertion failed", "assertion failed")[0]
    assert not outside.judge(0, "OK", "fault: f: out of bounds", "assertion failed")[0]
