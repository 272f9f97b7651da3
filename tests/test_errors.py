"""tests/errors: PTX that must be refused or must fail, and the exact report, in NAME.err beside NAME.ptx. `make accept` writes the
reports anew; what the launch must end with stands in the PTX and is not rewritten."""
import re

import pytest
from conftest import PROGRAMS, ROOT, run

ERRORS = ROOT / "tests" / "errors"


@pytest.mark.parametrize("path", sorted(ERRORS.glob("*.ptx")), ids=lambda p: p.stem)
def test_report(path, request):
    environment = dict(line[len("//: env "):].split("=", 1) for line in path.read_text().splitlines() if line.startswith("//: env "))
    done = run(PROGRAMS / "ptx_run", path.name, cwd=ERRORS, timeout=60, **environment)
    expected = path.with_suffix(".err")
    if request.config.getoption("--accept"):
        expected.write_text(done.stderr)
    # A program may not notice these faults, so it ends with a status of the emulator's own even though its main returned 0.
    unnoticed = re.search("barrier divergence|warp synchronisation|shuffle from absent lane", done.stderr)
    assert (done.returncode, done.stdout) == (86 if unnoticed else 0, ""), done.stdout + done.stderr
    assert done.stderr == expected.read_text()


def test_each_report_has_its_ptx():
    assert [p.stem for p in sorted(ERRORS.glob("*.err"))] == [p.stem for p in sorted(ERRORS.glob("*.ptx"))]
