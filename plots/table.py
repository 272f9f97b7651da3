#!/usr/bin/env python3
"""Prints the last row of each step of a results CSV as one table: times on a GPU, counters on the emulator.

    python3 plots/table.py build/run.csv [--steps step0_naive,step1_shared]

Exit status: 0 if every step is there and verified, 1 if not, 2 if the arguments or the file cannot be used.
"""
import argparse
import sys
from pathlib import Path

import results
from results import Row, number, ratio, show, show_counter

TIMES = ("step", "verified", "median µs", "min", "q3 - q1", "GB/s", "% of peak", "over step before", "over step 0")
COUNTS = ("step", "verified", "watched counter", "step before", "now", "instr.", "sectors", "conflicts", "barriers", "diverg.")
WIDTH = 120  # characters
ALWAYS = ("warp_instructions", "global_sectors", "bank_conflicts", "barriers", "divergent_branches")


def verdict(row: Row | None) -> str:
    if row is None:
        return "MISSING"
    return "–" if row["source"] == "published" else "yes" if results.verified(row) else "WRONG"


def median(row: Row | None) -> float | None:
    """The time of a verified row: a wrong kernel is not fast, it is wrong."""
    return number(row, "median_us") if row and results.verified(row) else None


def time_lines(step: str, row: Row | None, before: Row | None, first: Row | None) -> list[list[str]]:
    low, high = number(row, "q1_us"), number(row, "q3_us")
    spread = None if low is None or high is None else high - low
    return [[step, verdict(row), show(number(row, "median_us"), "{:,.1f}"), show(number(row, "min_us"), "{:,.1f}"),
             show(spread, "{:,.1f}"), show(results.gbps(row) if row else None), show(number(row, "percent_peak"), "{:.1f}"),
             show(ratio(median(before), median(row)), "{:.2f} x"), show(ratio(median(first), median(row)), "{:.2f} x")]]


def short(value: float | None) -> str:
    """Millions: these columns are for comparing at a glance; the CSV has every digit."""
    return show_counter(value) if value is None or value < 1e6 else f"{value / 1e6:,.1f} M"


def full(value: float | None) -> str:
    """Every digit, up to the thousand million that the width allows."""
    return show_counter(value) if value is None or value < 1e9 else f"{value / 1e6:,.2f} M"


def count_lines(step: str, row: Row | None, before: Row | None) -> list[list[str]]:
    """One line for the step, and one more for each further counter that it watches."""
    names = results.watched(step) if row else []
    cells = [[name, full(number(before, name)), full(number(row, name))] for name in names] or [["–", "–", "–"]]
    rest = [short(number(row, name)) for name in ALWAYS]
    lines = [[step, verdict(row), *cells[0], *rest]]
    return lines + [["", "", *more, *[""] * len(ALWAYS)] for more in cells[1:]]


def layout(heads: tuple[str, ...], lines: list[list[str]], words: tuple[int, ...]) -> str:
    """Columns as wide as their longest cell; `words` are the columns that hold words and stand at the left."""
    table = [list(heads), *lines]
    widths = [max(len(line[i]) for line in table) for i in range(len(heads))]
    gap = "  " if sum(widths) + 2 * len(widths) <= WIDTH else " "
    table.insert(1, ["-" * width for width in widths])
    padded = [[cell.ljust(width) if i in words else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))]
              for line in table]
    return "\n".join(gap.join(line).rstrip() for line in padded)


def table(rows: list[Row], steps: list[str], emulated: bool) -> str:
    found = results.latest(rows)
    chosen = [found.get(step) for step in steps]
    before = [None, *chosen[:-1]]
    if emulated:
        lines = [line for each in zip(steps, chosen, before) for line in count_lines(*each)]
        return layout(COUNTS, lines, words=(0, 1, 2))
    lines = [line for each in zip(steps, chosen, before) for line in time_lines(*each, chosen[0])]
    return layout(TIMES, lines, words=(0, 1))


def title(row: Row, emulated: bool) -> str:
    where = f"{row['source']} {'for' if row['source'] == 'published' else 'on'} {row['device']}"
    words = [f"n = {results.size(row['n'])} {row['type']}", f"block {row['block']}",
             "emulated counts, no time is measured" if emulated else where, results.day(row)]
    return ", ".join(word for word in words if word)


def complaints(path: Path, rows: list[Row], steps: list[str]) -> list[str]:
    found, last = results.latest(rows), rows[-1]
    where = f"n = {last['n']}, {last['type']}, block {last['block']}, {last['device']}"
    wrong = [step for step in steps if step in found and not results.verified(found[step])]
    missing = [step for step in steps if step not in found]
    return ([f"wrong result: {', '.join(wrong)}"] if wrong else []) + (
        [f"missing: {', '.join(missing)} (no row in {path} for {where}, the setup of its last row)"] if missing else [])


def main() -> int:
    parser = argparse.ArgumentParser(description="Prints the last row of each step of a results CSV as one table.")
    parser.add_argument("csv", type=Path)
    parser.add_argument("--steps", default="", help="comma-separated; default: the steps that the file has")
    options = parser.parse_args()
    try:
        rows = results.read(options.csv)
    except results.Unusable as error:
        print(f"table.py: {error}", file=sys.stderr)
        return 2
    if not rows:
        print(f"table.py: {options.csv} has no rows yet; run a step with --csv {options.csv}", file=sys.stderr)
        return 1
    steps = [step for step in options.steps.split(",") if step] or list(results.latest(rows))
    emulated = rows[-1]["source"] == "emulated"
    print(title(rows[-1], emulated), table(rows, steps, emulated), sep="\n\n")
    problems = complaints(options.csv, rows, steps)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
