#!/usr/bin/env python3
"""One HTML page, to hand in or to project: the run's table, the pictures, each step's source with what every line cost, and the diffs.

    python3 plots/report.py [--csv build/run.csv] [--out build/report.html]        after `make run`; `make report` does both

The page needs nothing beside itself: no network, no script. Counts of lines come from a fresh run on the emulator (EMULATOR_ANNOTATE).
"""
import argparse
import difflib
import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import docs
import evidence
import figures
import results
from results import ROOT, Row, Unusable, show

STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --soft: #f2f4f7; --rule: #c9ced6; --faint: #5b6470; --link: #0050a0;
        --cost: 0, 114, 178; --old: #fbe3d6; --new: #d9f0e6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #16181c; --soft: #22262c; --rule: #454c57; --faint: #a9b2bf; --link: #8ec5ff;
        --cost: 86, 180, 233; --old: #4a2a1a; --new: #14392c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1240px; padding: 16px; color: var(--ink); background: var(--paper); font: 17px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7em; line-height: 1.2; } h2 { margin-top: 2em; border-top: 2px solid var(--rule); padding-top: .6em; overflow-wrap: anywhere; }
a { color: var(--link); } .faint { color: var(--faint); } nav a { margin-right: 1em; white-space: nowrap; }
.wide { overflow-x: auto; border: 1px solid var(--rule); border-radius: 6px; margin: 12px 0; }
table { border-collapse: collapse; width: 100%; } th, td { padding: 4px 10px; text-align: left; vertical-align: top; }
th { background: var(--soft); font-size: .88em; } .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.results td, .results th { border-bottom: 1px solid var(--rule); }
.code td { font: 14px/1.45 ui-monospace, Menlo, Consolas, monospace; padding: 0 8px; white-space: pre; }
.code .number { color: var(--faint); } .code .source { width: 99%; white-space: pre-wrap; min-width: 250px; } .diff td { width: 50%; white-space: pre-wrap; overflow-wrap: anywhere; min-width: 330px; }
.old { background: var(--old); } .new { background: var(--new); }
figure { margin: 12px 0; overflow-x: auto; background: #fff; border: 1px solid var(--rule); border-radius: 6px; }
figure svg { display: block; width: 100%; min-width: 620px; height: auto; max-width: 1100px; }
summary { cursor: pointer; font-weight: 600; }
@media (max-width: 600px) { body { font-size: 16px; padding: 10px; }
    .results td, .results th { padding: 3px 5px; font-size: .8em; } .results .number { white-space: normal; }
    .code td { font-size: 12px; padding: 0 5px; } .code th { padding: 4px 5px; } .diff td { min-width: 290px; } }
"""
COSTS = [("warp_instructions", "instructions"), ("lanes", "lanes"), ("global_sectors", "sectors"), ("bank_conflicts", "conflicts")]


def line_counts(step: str, n: str) -> dict[int, dict[str, float]]:
    """What each line of reduce.cu cost, summed over kernels; a line's lanes are those of its average instruction."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines.json"
        done = subprocess.run([ROOT / step / "run", "--n", n, "--device", "emulator", "--quiet"], capture_output=True, text=True, timeout=600,
                              env=evidence.environment() | {"EMULATOR_ANNOTATE": f"json:{file}"})
        if done.returncode != 0:
            raise Unusable(f"{step}: {done.stderr.strip()}")
        kernels = json.loads(file.read_text())["kernels"]
    counts: dict[int, dict[str, float]] = {}
    for line in (line for kernel in kernels for line in kernel["lines"] if line["file"].endswith("reduce.cu")):
        sums = counts.setdefault(line["line"], {"warp_instructions": 0, "active_lanes": 0, "global_sectors": 0, "bank_conflicts": 0})
        for name in sums:
            sums[name] += line[name]
    for sums in counts.values():
        sums["lanes"] = sums["active_lanes"] / sums["warp_instructions"]
    return counts


def source_table(step: str, n: str) -> str:
    counts = line_counts(step, n)
    most = max(line["warp_instructions"] for line in counts.values())
    rows = []
    for number, text in enumerate((ROOT / step / "reduce.cu").read_text(encoding="utf-8").splitlines(), 1):
        line = counts.get(number)
        cells = [show(line[name], "{:.1f}" if name == "lanes" else "{:,.0f}") if line and line[name] else "" for name, _ in COSTS]
        shade = f' style="background: rgba(var(--cost), {0.45 * line["warp_instructions"] / most:.2f})"' if line else ""
        rows.append(f'<tr><td class="number">{number}</td><td class="source"{shade}>{html.escape(text) or " "}</td>'
                    + "".join(f'<td class="number">{cell}</td>' for cell in cells) + "</tr>")
    heads = "".join(f'<th class="number">{head}</th>' for _, head in COSTS)
    return f'<div class="wide"><table class="code"><tr><th class="number">line</th><th>{step}/reduce.cu</th>{heads}</tr>{"".join(rows)}</table></div>'


def diff_table(old: str, step: str) -> str:
    """The two sources side by side, unchanged stretches left out."""
    texts = [(ROOT / each / "reduce.cu").read_text(encoding="utf-8").splitlines() for each in (old, step)]
    rows = [f"<tr><th>{old}</th><th>{step}</th></tr>"]
    for group in difflib.SequenceMatcher(None, *texts, autojunk=False).get_grouped_opcodes(2):
        for kind, a, b, c, d in group:
            for i in range(max(b - a, d - c)):
                left, right = (text[start + i] if start + i < end else None for text, start, end in ((texts[0], a, b), (texts[1], c, d)))
                cells = [f'<td class="{look if kind != "equal" and line is not None else ""}">{html.escape(line or "") or " "}</td>'
                         for line, look in ((left, "old"), (right, "new"))]
                rows.append("<tr>" + "".join(cells) + "</tr>")
        rows.append('<tr><td class="faint">…</td><td class="faint">…</td></tr>')
    return f'<div class="wide"><table class="code diff">{"".join(rows[:-1])}</table></div>'


def results_table(rows: list[Row]) -> str:
    """The table that README has, from these rows; measured times or emulated counts, never both."""
    maker = docs.watched_counts if rows[-1]["source"] == "emulated" else docs.times
    intro, _, table = maker(rows, lambda words: words, False).partition("\n\n")
    lines = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]
    right = [cell.endswith(":") for cell in lines[1]]

    def cell(text: str, tag: str, number: bool) -> str:
        text = re.sub(r"`(\w+)`", r"<code>\1</code>", re.sub(r"\[(\w+)\]\([^)]*\)", r'<a href="#\1">\1</a>', html.escape(text)))
        text = re.sub(r"_(?=[^\"]*<)", "_<wbr>", text).replace("**wrong**", "<strong>WRONG</strong>")
        return f'<{tag}{" class=number" if number else ""}>{text}</{tag}>'
    body = ["<tr>" + "".join(cell(text, "td" if i else "th", number) for text, number in zip(line, right)) + "</tr>"
            for i, line in enumerate([lines[0], *lines[2:]])]
    return f'<p>{html.escape(intro)}</p><div class="wide results"><table>{"".join(body)}</table></div>'


def picture(step: str, kind: str) -> str:
    """In the page itself; its ids and classes are made its own, so that pictures do not share patterns and styles."""
    svg = (ROOT / "docs" / "pictures" / f"{step.partition('_')[0]}_{kind}.svg").read_text(encoding="utf-8")
    own = f"{step.partition('_')[0]}{kind}"
    svg = re.sub(r'id="(\w+)"', rf'id="{own}\1"', svg)
    svg = re.sub(r"url\(#(\w+)\)", rf"url(#{own}\1)", svg)
    svg = re.sub(r'class="(\w+)"', rf'class="{own}\1"', svg)
    svg = re.sub(r"(^|[ }])\.(\w+)\{", rf"\1.{own}\2{{", svg, flags=re.MULTILINE)
    return f"<figure>{svg}</figure>"


def section(step: str, n: str) -> str:
    idea, watch = (html.escape(words) for words in results.header(step))
    old = evidence.before(step)
    pictures = "".join(picture(step, kind) for kind in figures.SHOWN.get(step, "").split())
    diff = f"<details open><summary>What changed from {old}</summary>{diff_table(old, step)}</details>" if old else ""
    return (f'<section id="{step}"><h2>{step}</h2><p>{idea[:1].upper()}{idea[1:]} <span class="faint">Watch: {watch}</span></p>{diff}{pictures}'
            f"<details open><summary>What each line cost</summary><p class=faint>Emulated counts, n = {n}: warp instructions, lanes at work in the average "
            f"one, global sectors, bank conflicts. The darker a line, the more instructions.</p>{source_table(step, n)}</details></section>")


def page(rows: list[Row], n: str) -> str:
    steps = [step for step in evidence.ladder() if step in results.latest(rows)]
    links = " ".join(f'<a href="#{step}">{step}</a>' for step in steps)
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<link rel="icon" href="data:,"><title>A ladder of reductions: report</title><style>{STYLE}</style></head><body>'
            f"<h1>A ladder of reductions: report</h1><nav>{links}</nav>{results_table(rows)}{''.join(section(step, n) for step in steps)}</body></html>\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes one self-contained HTML page about a run.")
    parser.add_argument("--csv", type=Path, default=ROOT / "build" / "run.csv")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "report.html")
    parser.add_argument("--n", default="2^18", help="elements of the runs that count lines")
    options = parser.parse_args()
    try:
        rows = results.read(options.csv)
        if not rows:
            raise Unusable(f"{options.csv} has no rows yet; run: make run")
        options.out.write_text(page(rows, options.n), encoding="utf-8")
    except (OSError, Unusable) as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 2
    print(f"{options.out}: open it in a browser")
    return 0


if __name__ == "__main__":
    sys.exit(main())
