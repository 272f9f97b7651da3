"""Results of `make bench`, every contender beside CUB: tables for plots/docs.py, and pictures.

    python3 plots/comparison.py --out plots/pictures bench/h200.csv

Writes bandwidth and sizes: how near the memory's peak the last steps, CUB, PyTorch and a kernel that only reads come, over n, and how
long they take.
"""
import argparse
import csv
import sys
from pathlib import Path

from results import ELEMENT_BYTES, ROOT, Unusable

RECORDED = ROOT / "bench" / "h200.csv"
CUB, READ = "CUB DeviceReduce::Sum", "read only"

Row = dict[str, str]


def read(path: Path = RECORDED) -> tuple[str, list[Row]]:
    """Where the figures come from, as the file's first line says, and its rows."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Unusable(f"{path}: cannot be read: {error}") from None
    if not lines or not lines[0].startswith("# "):
        raise Unusable(f"{path}: the first line does not say where the figures come from")
    return lines[0][2:], list(csv.DictReader(lines[1:]))


def chosen(rows: list[Row], kind: str, l2: str, contender: str, block: str = "") -> dict[int, Row]:
    """The rows of one contender, by n; a block of "" means whichever there is, the smallest first."""
    found: dict[int, Row] = {}
    for row in rows:
        if (row["type"], row["l2"], row["contender"]) == (kind, l2, contender) and block in ("", row["block"]):
            found.setdefault(int(row["n"]), row)
    return found


def power(n: int) -> str:
    return f"2^{n.bit_length() - 1}"


def against_cub(kind: str, block: str, l2: str, exponents: list[int]) -> tuple[list[str], list[list[str]]]:
    """Heads and lines: step 11 and CUB at each size, in µs with the quarters, and how many times as fast step 11 is."""
    _, rows = read()
    ours, cub, read_only = (chosen(rows, kind, l2, name, b) for name, b in (("step11_onepass", block), (CUB, ""), (READ, "")))
    lines = []
    for n in (1 << e for e in exponents):
        if n in ours and n in cub:
            lines.append([power(n), *(f"{float(r['median_us']):.1f} ({float(r['q1_us']):.1f}–{float(r['q3_us']):.1f})" for r in (ours[n], cub[n])),
                          f"{float(ours[n]['times_cub']):.2f}", f"{float(read_only[n]['median_us']):.1f}",
                          f"{float(ours[n]['gbps']):,.0f}", ours[n]["percent_peak"]])
    return ["n", "step 11, µs", "CUB, µs", "× CUB", "read only, µs", "GB/s", "% of peak"], lines


def contenders(kind: str, l2: str, n: int) -> tuple[list[str], list[list[str]]]:
    """Heads and lines: every contender at one size, the fastest first."""
    _, rows = read()
    found = [row for row in rows if row["type"] == kind and row["l2"] == l2 and int(row["n"]) == n]
    if not found:
        raise Unusable(f"{RECORDED}: nothing for {kind}, L2 {l2}, n = {n}")
    found.sort(key=lambda row: float(row["median_us"]))
    return ["contender", "block", "µs", "GB/s", "% of peak", "× CUB"], [
        [row["contender"], row["block"] or "–", f"{float(row['median_us']):.1f}", f"{float(row['gbps']):,.0f}", row["percent_peak"],
         f"{float(row['times_cub']):.2f}"] for row in found]


def lines(plot) -> list[tuple[str, str, str, str, str, str]]:
    """Who is drawn, and how: contender, block, label, colour, line, marker."""
    return [(READ, "", "read only", plot.BLACK, ":", ""), ("step11_onepass", "1024", "step 11 (block 1024)", plot.BLUE, "-", "o"),
            (CUB, "", "CUB", plot.ORANGE, "--", "s"), ("torch.sum", "", "PyTorch", plot.PURPLE, "--", "^"),
            ("step8_gridstride", "256", "step 8", plot.GREEN, "-", "D"), ("step7_fullunroll", "256", "step 7", plot.GREEN, "-", "v")]


def over_n(rows: list[Row], column: str, least: int):
    """Two panels, ints and floats: a column over n, from `least` on, with a line for each contender."""
    import plot
    from matplotlib.ticker import FuncFormatter

    plot.plt.rcParams.update(plot.STYLE)
    figure, axes = plot.new_figure(7.5, columns=2, left=0.07)
    for panel, kind in zip(axes, ("int", "float")):
        for contender, block, label, colour, style, marker in lines(plot):
            found = chosen(rows, kind, "dirty", contender, block)
            ns = sorted(n for n in found if n >= least)
            panel.plot(ns, [float(found[n][column]) for n in ns], color=colour, linestyle=style, marker=marker or None, markersize=7,
                       linewidth=3 if marker == "o" else 2, label=label)
        panel.set_xscale("log", base=2)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda n, _: power(int(n))))
        panel.set_title(f"n {kind}s of {ELEMENT_BYTES[kind]} bytes", loc="left")
    axes[0].legend(framealpha=1, edgecolor="none", loc="upper left", fontsize=14)
    axes[1].tick_params(labelleft=False)
    return figure, axes


def draw(path: Path, out: Path) -> None:
    import plot

    origin, rows = read(path)
    figure, axes = over_n(rows, "percent_peak", 1 << 16)
    for panel in axes:
        panel.set_ylim(0, 100)
    axes[0].set_ylabel("% of the memory's peak bandwidth")
    plot.headline(figure, "How near the memory's limit each one comes", f"{origin}; median of each, cold L2 (dirty)", gap=0.95)
    plot.save(figure, out, "bandwidth")

    figure, axes = over_n(rows, "median_us", 1 << 10)
    for panel in axes:
        panel.set_yscale("log")
        panel.set_ylim(2, 8000)
        panel.set_yticks([10, 100, 1000], ["10", "100", "1000"])
        panel.minorticks_off()
    axes[0].set_ylabel("time, µs")
    plot.headline(figure, "How long each one takes, from a thousand numbers to a thousand million",
                  f"{origin}; median of each, cold L2 (dirty). Steps 7 and 8 leave one sum a block.", gap=0.95)
    plot.save(figure, out, "sizes")


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws the results of make bench.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("csv", type=Path)
    options = parser.parse_args()
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        draw(options.csv, options.out)
    except (OSError, Unusable, KeyError) as error:
        print(f"comparison.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
