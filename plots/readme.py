#!/usr/bin/env python3
"""Fills the tables of README.md, between `<!-- table: NAME -->` and `<!-- end of table -->`, from what is recorded.

    python3 plots/readme.py            writes README.md (twice gives the same bytes)
    python3 plots/readme.py --check    writes nothing; exit status 1 if README.md differs from what would be written

`ladder` comes from the header of each step's reduce.cu, the others from plots/recorded/NAME.csv.
"""
import argparse
import re
import sys
from pathlib import Path

import results
from results import ROOT, Row, number, ratio, show, show_counter

README = ROOT / "README.md"
RECORDED = Path(__file__).resolve().parent / "recorded"
BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def markdown(heads: list[str], lines: list[list[str]], words: int) -> str:
    """A table whose first `words` columns hold words; the others hold numbers and stand at the right."""
    rule = ["---" if i < words else "---:" for i in range(len(heads))]
    return "".join(f"| {' | '.join(line)} |\n" for line in (heads, rule, *lines))


def recorded(name: str) -> list[Row]:
    path = RECORDED / f"{name}.csv"
    return results.read(path) if path.exists() else []


def provenance(rows: list[Row]) -> str:
    row = rows[-1]
    facts = [f"{row['device']}", f"driver {row['driver']}" if row.get("driver") else "",
             f"CUDA {row['toolkit']}" if row.get("toolkit") else "", results.day(row),
             f"n = {results.size(row['n'])} {row['type']}", f"block {row['block']}"]
    return ", ".join(fact for fact in facts if fact)


def link(step: str) -> str:
    return f"[{step}]({step}/reduce.cu)"


def ladder() -> str:
    steps = sorted((path.parent.name for path in ROOT.glob("step*_*/reduce.cu")), key=results.step_number)
    names = results.counters()
    lines = []
    for step in steps:
        idea, watch = (words.replace("|", "\\|") for words in results.header(step))
        watch = re.sub(r"\w+", lambda word: f"`{word[0]}`" if word[0] in names else word[0], watch)
        lines.append([link(step), idea, watch])
    return markdown(["step", "idea", "what to watch"], lines, words=3)


def times(rows: list[Row]) -> str:
    found = results.latest(rows)
    medians = {step: number(row, "median_us") if results.verified(row) else None for step, row in found.items()}
    lines, before = [], None
    for step, row in found.items():
        lines.append([link(step), "yes" if results.verified(row) else "**wrong**", show(medians[step], "{:,.1f}"),
                      show(number(row, "min_us"), "{:,.1f}"), show(results.gbps(row)), show(number(row, "percent_peak"), "{:.1f}"),
                      show(ratio(before, medians[step]), "{:.2f}"), show(ratio(next(iter(medians.values())), medians[step]), "{:.2f}")])
        before = medians[step]
    heads = ["step", "verified", "median µs", "min µs", "GB/s", "% of peak", "× step before", "× step 0"]
    return f"Measured: {provenance(rows)}.\n\n" + markdown(heads, lines, words=2)


def counts(rows: list[Row]) -> str:
    lines, before = [], None
    for step, row in results.latest(rows).items():
        for i, name in enumerate(results.watched(step) or [""]):
            lines.append([link(step) if i == 0 else "", f"`{name}`" if name else "–",
                          show_counter(number(before, name)), show_counter(number(row, name))])
        before = row
    heads = ["step", "watched counter", "in the step before", "in this step"]
    return f"Emulated counts, no time is measured: {provenance(rows)}.\n\n" + markdown(heads, lines, words=2)


def published(rows: list[Row]) -> str:
    devices = list(dict.fromkeys(row["device"] for row in rows))
    steps = sorted({row["step"] for row in rows}, key=results.step_number)
    times = {(row["step"], row["device"]): number(row, "median_us") for row in rows}
    lines = [[str(results.step_number(step)), *(show(times.get((step, device)), "{:g}") for device in devices)] for step in steps]
    return markdown(["step", *(f"{device}, µs" for device in devices)], lines, words=1)


def content(name: str) -> str:
    if name == "ladder":
        return ladder()
    makers = {"h200": times, "emulated": counts, "published": published}
    if name not in makers:
        raise results.Unusable(f"README.md: unknown table '{name}'; known are ladder, {', '.join(makers)}")
    rows = recorded(name)
    return makers[name](rows) if rows else "Not recorded yet.\n"


def filled(text: str) -> str:
    if text.count("<!-- table: ") != len(BLOCK.findall(text)):
        raise results.Unusable("README.md: a `<!-- table: NAME -->` line has no `<!-- end of table -->`")
    return BLOCK.sub(lambda found: f"{found[1]}\n{content(found[2])}\n{found[3]}", text)


def main() -> int:
    parser = argparse.ArgumentParser(description="Fills the tables of README.md from what is recorded.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if README.md is out of date")
    options = parser.parse_args()
    try:
        old = README.read_text(encoding="utf-8")
        new = filled(old)
    except (OSError, results.Unusable) as error:
        print(f"readme.py: {error}", file=sys.stderr)
        return 2
    if options.check and new != old:
        print("README.md is out of date; run: python3 plots/readme.py", file=sys.stderr)
        return 1
    if new != old:
        README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
