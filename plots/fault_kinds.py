"""The table of docs/emulator.md: each kind in tests/faults, what the emulator says and, once tests/faults/h200.csv is there, what
compute-sanitizer's tools say (tests/faults/sanitizer.py records it)."""
import csv
import sys

import results
from results import ROOT

sys.path.insert(0, str(ROOT / "tests" / "faults"))
import kinds  # noqa: E402


def table() -> tuple[list[str], list[list[str]], str]:
    """Heads, lines, and where the tools' words come from; empty if that is not recorded."""
    recording = kinds.FOLDER / "h200.csv"
    rows = list(csv.DictReader(recording.open(encoding="utf-8"))) if recording.exists() else []
    verdicts = {(row["program"], row["tool"]): row["verdict"] for row in rows if row["form"] == "fault"}
    tools = list(dict.fromkeys(row["tool"] for row in rows))
    lines = [[f"{fault.what} (`{fault.name}`)", f"{fault.says} (`{fault.check}`)", *(verdicts.get((fault.name, tool), "–") for tool in tools)]
             for fault in kinds.all_of_them()]
    return ["fault", "the emulator (check)", *tools], lines, provenance(rows) if rows else ""


def provenance(rows: list[dict]) -> str:
    of_twins = [row["verdict"] != "nothing" for row in rows if row["form"] == "twin"]
    return (f"compute-sanitizer: {rows[0]['device']}, driver {rows[0]['driver']}, CUDA {rows[0]['toolkit']}, {results.day(rows[0])}. "
            f"Runs of correct twins in which it said anything: {sum(of_twins)} of {len(of_twins)}.")
