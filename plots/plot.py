#!/usr/bin/env python3
"""Draws the ladder from results CSVs: speed-ups, times with per cent of peak, and the emulator's counters.

    python3 plots/plot.py --out plots/pictures build/run.csv plots/recorded/*.csv

Writes speedup, time and counters, each as PNG and SVG; the same CSVs give the same bytes. A picture that has no data is left out.
Exit status: 0 if at least one picture was drawn, 2 if the arguments or the files cannot be used.
"""
import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import results
from results import ROOT, Row, number, ratio

BLUE, ORANGE, GREEN, PURPLE, BLACK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000"  # Okabe and Ito
MEASURED = [(BLUE, "o", ""), (GREEN, "D", "xx"), (BLACK, "v", "++")]       # colour, marker, hatch: any one is enough to tell
PUBLISHED = [(ORANGE, "s", "//"), (PURPLE, "^", "..")]
EXACT, PTX = ("emulated, exact count", BLUE, ""), ("PTX-level", ORANGE, "//")
PANELS = [  # counter, title, kind
    ("global_sectors", "global sectors", EXACT),
    ("shared_wavefronts", "shared wavefronts", EXACT),
    ("bank_conflicts", "bank conflicts", EXACT),
    ("barriers", "block barriers", EXACT),
    ("warp_instructions", "warp instructions", PTX),
    ("divergent_branches", "divergent branches", PTX),
    ("divisions", "integer divisions", PTX),
    ("lanes_per_shared_access", "lanes per shared access", PTX),
]
STYLE = {
    "font.family": "DejaVu Sans", "font.size": 15, "axes.titlesize": 16, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "axes.grid.axis": "y", "grid.color": "#dddddd", "axes.axisbelow": True, "hatch.linewidth": 0.8,
    "svg.hashsalt": "reduction ladder", "figure.dpi": 100, "savefig.dpi": 150,
}


@dataclass
class Series:
    """The rows of one source under one setup, by step."""
    rows: dict[str, Row]
    here: bool          # not from plots/recorded

    @property
    def first(self) -> Row:
        return next(iter(self.rows.values()))

    @property
    def device(self) -> str:
        return self.first["device"].removeprefix("NVIDIA ").removeprefix("GeForce ")

    @property
    def origin(self) -> str:
        """Who says so: our own run, a recorded run, or somebody else."""
        return "published" if self.first["source"] == "published" else "measured here" if self.here else "recorded"

    def time(self, step: str) -> float | None:
        row = self.rows.get(step)
        return number(row, "median_us") if row and results.verified(row) else None

    def facts(self) -> str:
        row = self.first
        return f"n = {results.size(row['n'])} {row['type']}, block {row['block']}"


def load(paths: list[Path]) -> list[Series]:
    """One series a source and device of each file: the last setup that the file holds for it."""
    series = []
    for path in paths:
        if not path.exists():
            print(f"plot.py: {path} does not exist and is left out", file=sys.stderr)
            continue
        rows = results.read(path)
        for source in dict.fromkeys((row["source"], row["device"]) for row in rows):
            own = [row for row in rows if (row["source"], row["device"]) == source]
            series.append(Series(results.latest(own), path.resolve().parent != ROOT / "plots" / "recorded"))
    return series


def looks(series: list[Series]) -> list[tuple[str, str, str]]:
    """A look for each series; those of our own and those of others never share one."""
    ours, theirs = iter(MEASURED * 9), iter(PUBLISHED * 9)
    return [next(theirs if each.first["source"] == "published" else ours) for each in series]


def ladder(series: list[Series]) -> list[str]:
    return sorted({step for each in series for step in each.rows}, key=results.step_number)


def step_label(step: str) -> str:
    return step.removeprefix("step").replace("_", "\n", 1)


def sources(series: list[Series]) -> str:
    """The subtitle: under which conditions, and from where, a sentence for each condition."""
    groups: dict[str, list[str]] = {}
    for each in series:
        row = each.first
        if row["source"] == "published":
            how = "published: profiler's duration, block a compile-time constant"
        else:
            driver = f", driver {row['driver']}" if row.get("driver") else ""
            how = f"{each.origin} {results.day(row)}".strip() + driver
        groups.setdefault(f"{each.facts()}; {how}", []).append(row["device"])
    return "\n".join(f"{' and '.join(devices)}: {facts}" for facts, devices in groups.items())


def headline(figure: Figure, title: str, subtitle: str, gap: float = 1.25) -> None:
    """Title and subtitle at the top; the axes begin `gap` inches below them."""
    lines = subtitle.count("\n") + 1
    height = figure.get_figheight()
    figure.suptitle(title, x=0.02, y=1 - 0.12 / height, ha="left", va="top", fontsize=22, fontweight="bold")
    figure.text(0.02, 1 - 0.60 / height, subtitle, ha="left", va="top", fontsize=12.5, color="#444444", linespacing=1.35)
    figure.subplots_adjust(top=1 - (gap + 0.25 * lines) / height)


def new_figure(height: float, rows: int = 1, columns: int = 1, left: float = 0.075, between: float = 0.36) -> tuple[Figure, list[Axes]]:
    """As wide as a slide. The places are fixed, for a solved layout differs in its last digits from run to run."""
    figure, axes = plt.subplots(rows, columns, figsize=(13.33, height), squeeze=False)
    figure.subplots_adjust(left=left, right=0.985, bottom=0.8 / height, hspace=between, wspace=0.06)
    return figure, list(axes.flat)


def save(figure: Figure, out: Path, name: str) -> None:
    for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
        figure.savefig(out / f"{name}.{kind}", metadata=metadata)
    plt.close(figure)


def apart(values: list[float], gap: float) -> list[float]:
    """The same heights moved up just enough that neighbours are at least a gap apart."""
    moved, floor = list(values), float("-inf")
    for i in sorted(range(len(values)), key=values.__getitem__):
        floor = moved[i] = max(values[i], floor + gap)
    return moved


def label_ends(axes: Axes, last: int, ends: list[tuple[float, str, str, dict]]) -> None:
    """Names each line at its right end, behind a piece of the line itself, so that no legend has to be looked up."""
    top = axes.get_ylim()[1]
    backing = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    heights = apart([end[0] for end in ends], top * 0.115)
    for height, (_, text, origin, look) in zip(heights, ends):
        axes.plot([last + 0.3, last + 0.6], [height, height], **look | {"markevery": [1]})
        axes.text(last + 0.8, height, text, fontsize=15, va="bottom", fontweight="bold", bbox=backing)
        axes.text(last + 0.8, height, origin, fontsize=13, va="top", bbox=backing)
    axes.set_ylim(0, max([top, *(height + top * 0.06 for height in heights)]))
    axes.set_xlim(-0.3, last + 3)
    axes.spines["bottom"].set_bounds(-0.3, last + 0.3)


def draw_speedup(series: list[Series], out: Path) -> None:
    steps = ladder(series)
    figure, (axes,) = new_figure(7.5)
    ends = []
    for each, (colour, marker, _) in zip(series, looks(series)):
        base = each.time(steps[0])
        heights = [ratio(base, each.time(step)) for step in steps]
        known = [height for height in heights if height is not None]
        if not known:
            continue
        theirs = each.first["source"] == "published"
        look = {"color": colour, "marker": marker, "markersize": 10, "markerfacecolor": "white" if theirs else colour,
                "markeredgewidth": 2, "linewidth": 2 if theirs else 3.5, "linestyle": "--" if theirs else "-"}
        axes.plot([math.nan if height is None else height for height in heights], **look)  # a missing step leaves a gap
        ends.append((known[-1], f"{known[-1]:.2f} × {each.device}", each.origin, look))
    label_ends(axes, len(steps) - 1, ends)
    axes.set_xticks(range(len(steps)), map(step_label, steps), fontsize=13 if len(steps) <= 8 else 10)
    axes.set_ylabel("times as fast as step 0")
    headline(figure, "How much faster than step 0 each step runs", sources(series), gap=0.85)
    save(figure, out, "speedup")


def bars(axes: Axes, steps: list[str], series: list[Series], looks: list[tuple[str, str, str]], value, form: str) -> None:
    width = 0.84 / len(series)
    size = 12 if len(series) <= 2 else 10
    for i, (each, (colour, _, hatch)) in enumerate(zip(series, looks)):
        heights = [value(each, step) for step in steps]
        places = [x + (i - (len(series) - 1) / 2) * width for x in range(len(steps))]
        drawn = axes.bar(places, [h or 0 for h in heights], width * 0.94, color=colour, hatch=hatch, edgecolor="white",
                         linewidth=0, label=f"{each.device}, {each.origin}")
        axes.bar_label(drawn, ["–" if h is None else form.format(h) for h in heights], fontsize=size, padding=2)
    axes.set_xticks(range(len(steps)), map(step_label, steps), fontsize=13 if len(steps) <= 8 else 10)
    axes.tick_params(axis="x", length=0)
    axes.margins(y=0.12)


def draw_time(series: list[Series], out: Path) -> None:
    """Times of everybody; per cent of peak only where the run itself knew the device's peak."""
    steps = ladder(series)
    styles = looks(series)
    with_peak = [i for i, each in enumerate(series) if any(number(row, "percent_peak") is not None for row in each.rows.values())]
    figure, axes = new_figure(10.5 if with_peak else 7, rows=2 if with_peak else 1)
    bars(axes[0], steps, series, styles, Series.time, "{:.0f}")
    axes[0].set_ylabel("time, µs")
    axes[0].set_title("Time of one launch (less is better)", loc="left")
    axes[0].legend(framealpha=1, edgecolor="none", loc="upper right", fontsize=14, handlelength=2.5, handleheight=1.2)
    if with_peak:
        bars(axes[1], steps, [series[i] for i in with_peak], [styles[i] for i in with_peak],
             lambda each, step: number(each.rows.get(step), "percent_peak") if each.time(step) is not None else None, "{:.0f} %")
        axes[1].set_ylabel("% of peak bandwidth")
        axes[1].set_ylim(0, 100)
        axes[1].set_title("Share of the memory's peak bandwidth (100 % is the limit)", loc="left")
        axes[1].legend(framealpha=1, edgecolor="none", loc="upper left", fontsize=14, handlelength=2.5, handleheight=1.2)
    headline(figure, "How long each step takes, and how near the memory's limit it comes" if with_peak
             else "How long each step takes", sources(series))
    save(figure, out, "time")


def brief(value: float | None) -> str:
    if value is None:
        return "–"
    if value >= 1e6:
        return f"{value / 1e6:.3g} M" if value < 1e9 else f"{value / 1e9:.3g} G"
    return f"{value:,.0f}" if value == int(value) else f"{value:.1f}"


def draw_counters(emulated: Series, out: Path) -> None:
    steps = list(emulated.rows)
    figure, axes = new_figure(9.25, rows=2, columns=4, left=0.02, between=0.42)
    for panel, (counter, title, (kind, colour, hatch)) in zip(axes, PANELS):
        values = [number(row, counter) if results.verified(row) else None for row in emulated.rows.values()]
        drawn = panel.bar(range(len(steps)), [v or 0 for v in values], 0.8, color=colour, hatch=hatch, edgecolor="white", linewidth=0)
        panel.bar_label(drawn, map(brief, values), fontsize=11.5, padding=3, rotation=90)
        panel.set_title(f"{title}\n", loc="left", fontweight="bold")
        panel.text(0, 1.03, kind, transform=panel.transAxes, fontsize=12, color=colour)
        panel.set_xticks(range(len(steps)), [str(results.step_number(step)) for step in steps])
        panel.set_xlabel("step", fontsize=13)
        panel.tick_params(axis="x", length=0)
        panel.yaxis.set_visible(False)
        panel.grid(False)
        panel.spines["left"].set_visible(False)
        panel.set_ylim(0, max([v or 0 for v in values] + [1e-9]) * 1.35)
    row = emulated.first
    origin = "counted here" if emulated.here else "recorded"
    names = ", ".join(step_label(step).replace("\n", " ") for step in steps)
    headline(figure, "What each step changes, counted by the emulator",
             f"{row['device']}: {emulated.facts()}; {origin} {results.day(row)}\nSteps: {names}\n"
             "Exact counts are those of the hardware; PTX-level ones compare steps, not machines.")
    save(figure, out, "counters")


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws the ladder from results CSVs.")
    parser.add_argument("--out", type=Path, required=True, help="folder for speedup, time and counters (.png, .svg)")
    parser.add_argument("csv", type=Path, nargs="+")
    options = parser.parse_args()
    try:
        series = load(options.csv)
        options.out.mkdir(parents=True, exist_ok=True)
    except (OSError, results.Unusable) as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 2
    plt.rcParams.update(STYLE)
    timed = [each for each in series if any(each.time(step) is not None for step in each.rows)]
    emulated = [each for each in series if each.first["source"] == "emulated"]
    if not timed and not emulated:
        print("plot.py: no data to draw: the files hold no times and no emulated counts; `make run` writes build/run.csv", file=sys.stderr)
        return 2
    if timed:
        draw_speedup(timed, options.out)
        draw_time(timed, options.out)
    if emulated:
        draw_counters(emulated[0], options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
