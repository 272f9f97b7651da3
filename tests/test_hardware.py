"""The counters that design calls exact equal an H200's, to the unit: tests/hardware holds the kernels and what Nsight Compute counted."""
import csv
import json
import math
import re

import pytest
from conftest import PROGRAMS, ROOT, run

TABLE = ROOT / "tests" / "hardware" / "h200_counters.csv"
ROWS = list(csv.DictReader(line for line in TABLE.read_text().splitlines() if not line.startswith("#")))
KERNELS = ["r0", "r1", "r1_mask", "r2", "r3", "r4", "r5", "r6", "r7"]


def metrics():
    """{counter: Nsight Compute's metric}, from counters.def, for those that have a column."""
    found = dict(re.findall(r'COUNTER\((\w+), "([^"]+)"', (ROOT / "common" / "emulator" / "counters.def").read_text()))
    return {counter: metric for counter, metric in found.items() if metric in ROWS[0]}


def counted(tmp_path, n, block):
    path = tmp_path / "counters.json"
    done = run(ROOT / "emulate", PROGRAMS / "hardware", n, block, timeout=900, EMULATOR_COUNTERS=f"json:{path}")
    assert done.returncode == 0 and "WRONG" not in done.stdout, done.stdout + done.stderr
    kernels = json.loads(path.read_text())["kernels"]
    return {re.match(r"_Z\d+(r\d(?:_mask)?)", k["kernel"])[1]: k for k in kernels}


def compare(tmp_path, n, block):
    ours, checked = counted(tmp_path, n, block), 0
    assert sorted(ours) == sorted(KERNELS)
    for row in ROWS:
        if int(row["n"]) == n and int(row["block"]) == block:
            for counter, metric in metrics().items():
                assert (row["kernel"], counter, ours[row["kernel"]][counter]) == (row["kernel"], counter, int(row[metric]))
                checked += 1
    assert checked == 8 * len(KERNELS)
    return ours


def test_every_exact_counter_has_a_column():
    assert sorted(metrics()) == sorted(f"{space}_{kind}{suffix}" for space, kind, suffix in [
        ("global", "loads", ""), ("global", "stores", ""), ("global", "load", "_sectors"), ("global", "store", "_sectors"),
        ("shared", "loads", ""), ("shared", "stores", ""), ("shared", "load", "_wavefronts"), ("shared", "store", "_wavefronts")])


def test_counters_equal_the_hardware(tmp_path):
    ours = compare(tmp_path, 1048583, 256)
    # The table has no column for barriers; their number follows from the source: one after loading, one a stage.
    blocks = math.ceil(1048583 / 256)
    assert [ours[k]["barriers"] for k in ("r0", "r1", "r2", "r3")] == [blocks * 8 * stages for stages in (8, 9, 9, 9)]
    halves = math.ceil(1048583 / 512)
    assert [ours[k]["barriers"] for k in ("r4", "r6", "r7")] == [halves * 8 * stages for stages in (9, 3 + 0, 3 + 0)]
    assert [ours[k]["bank_conflicts"] for k in ("r1", "r1_mask", "r3", "r4", "r5", "r6", "r7")] == [0] * 7


@pytest.mark.slow
@pytest.mark.parametrize("block", [256, 1024, 64])
def test_counters_equal_the_hardware_at_full_size(tmp_path, block):
    compare(tmp_path, 1 << 25, block)
