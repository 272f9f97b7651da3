"""The scripts in plots/, on small results made here; no figure of these is a measurement."""
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = ["step", "type", "n", "block", "device", "source", "date", "verified", "median_us", "percent_peak", "bank_conflicts"]
COUNTED = {"device": "Emulated device", "source": "emulated", "median_us": "", "percent_peak": "", "bank_conflicts": "7"}


def row(step: str, **other: str) -> dict[str, str]:
    timed = {"device": "Some GPU", "source": "measured", "median_us": "20", "percent_peak": "5", "bank_conflicts": ""}
    return {"step": step, "type": "int", "n": "1024", "block": "32", "date": "2000-01-01", "verified": "yes", **timed, **other}


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join(",".join(line) + "\n" for line in [COLUMNS, *([each[c] for c in COLUMNS] for each in rows)]))
    return path


def run(script: str, *arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, ROOT / "plots" / script, *map(str, arguments)], capture_output=True, text=True)


def test_table_shows_the_last_row_of_each_step_and_the_speed_up(tmp_path):
    rows = [row("step0_naive", median_us="99"), row("step0_naive", median_us="40"), row("step1_shared")]
    done = run("table.py", write(tmp_path / "run.csv", rows), "--steps", "step0_naive,step1_shared")
    assert done.returncode == 0 and "measured on Some GPU" in done.stdout and "99" not in done.stdout
    assert done.stdout.splitlines()[-1].split() == ["step1_shared", "yes", "20.0", "–", "–", "0", "5.0", "2.00", "x", "2.00", "x"]


def test_table_of_counts_says_so_and_shows_the_watched_counter_beside_the_step_before(tmp_path):
    rows = [row("step2_nodiverge", **COUNTED), row("step3_nobank", **COUNTED | {"bank_conflicts": "0"})]
    done = run("table.py", write(tmp_path / "run.csv", rows))
    assert done.returncode == 0 and "emulated counts, no time is measured" in done.stdout
    assert done.stdout.splitlines()[-1].split()[:5] == ["step3_nobank", "yes", "bank_conflicts", "7", "0"]
    assert max(map(len, done.stdout.splitlines())) <= 120


@pytest.mark.parametrize("last, word", [({"verified": "no"}, "WRONG"), ({"n": "2048"}, "MISSING"), ({"device": "Other"}, "MISSING")])
def test_table_fails_when_a_step_is_wrong_or_has_no_comparable_row(tmp_path, last, word):
    done = run("table.py", write(tmp_path / "run.csv", [row("step0_naive"), row("step1_shared", **last)]),
               "--steps", "step0_naive,step1_shared")
    assert done.returncode == 1 and word in done.stdout and done.stderr


def test_plot_draws_the_same_bytes_twice(tmp_path):
    pytest.importorskip("matplotlib")
    csv = write(tmp_path / "run.csv", [row("step0_naive", median_us="40"), row("step1_shared"), row("step3_nobank", **COUNTED)])
    for out in ("a", "b"):
        done = run("plot.py", "--out", tmp_path / out, csv, ROOT / "plots" / "recorded" / "published.csv")
        assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == [f"{name}.{kind}" for name in ("counters", "speedup", "time") for kind in ("png", "svg")]
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)


def test_plot_without_data_says_so(tmp_path):
    pytest.importorskip("matplotlib")
    done = run("plot.py", "--out", tmp_path, write(tmp_path / "run.csv", []), tmp_path / "absent.csv")
    assert done.returncode == 2 and "no data" in done.stderr
