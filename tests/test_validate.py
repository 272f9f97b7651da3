"""The exact counters of every step, counted again, are those that Nsight Compute counted on an H200 (tests/validate/h200.csv, which
`make validate` wrote there)."""
import csv

import pytest
from conftest import ROOT, STEPS, run, steps_of_type

RECORDED = list(csv.DictReader((ROOT / "tests/validate/h200.csv").open()))
SMALL, LARGE = 2 ** 20 + 7, 2 ** 25


def differences(step, kind, n, folder, programs=ROOT):
    """Counters that differ, and how many were compared."""
    want = {(int(r["block"]), r["counter"]): int(r["hardware"]) for r in RECORDED if (r["step"], r["type"], int(r["n"])) == (step, kind, n)}
    blocks = sorted({block for block, _ in want})
    done = run(programs / step / "run", "--n", n, "--block", ",".join(map(str, blocks)), "--device", "emulator", "--quiet", "--csv", folder / "run.csv")
    assert done.returncode == 0, done.stderr
    rows = {int(row["block"]): row for row in csv.DictReader((folder / "run.csv").open())}
    assert {row["type"] for row in rows.values()} == {kind}
    return [(block, name, int(rows[block][name]), value) for (block, name), value in want.items() if int(rows[block][name]) != value], len(want)


@pytest.mark.parametrize("step", STEPS)
def test_counts_are_the_hardwares(step, tmp_path):
    assert differences(step, "int", SMALL, tmp_path) == ([], 54)


@pytest.mark.slow
@pytest.mark.parametrize("n", [SMALL, LARGE])
@pytest.mark.parametrize("kind", ["int", "double"])
@pytest.mark.parametrize("step", STEPS)
def test_all_counts_are_the_hardwares(step, kind, n, tmp_path):
    assert differences(step, kind, n, tmp_path, steps_of_type(kind)) == ([], 54)


def test_the_record_is_whole():
    assert len(RECORDED) == len(STEPS) * 2 * 6 * 2 * 9 and all(r["difference"] == "0" for r in RECORDED)
