"""What bounds each step on an H200: tables for plots/docs.py, and the instruction roofline.

    python3 plots/limits.py --out plots/pictures

Reads tests/hardware/h200_limits.csv (Nsight Compute) and bench/blocks_h200.csv (times over block sizes). Writes roofline and blocks.
The roofline is that of Ding and Williams, "An Instruction Roofline Model for GPUs" (2019): warp instructions a second over warp
instructions a byte of memory. Its flat roof is what the schedulers can issue, 4 a clock in each SM.
"""
import argparse
import csv
import sys
from pathlib import Path

from results import ROOT, Unusable, step_number

COUNTED = ROOT / "tests" / "hardware" / "h200_limits.csv"
BLOCKS = ROOT / "bench" / "blocks_h200.csv"
PEAK = 4814e9                      # bytes a second: 3.201 GHz, two edges, 6016 bits, as the device's attributes say
ISSUE = 132 * 4 * 1.98e9           # warp instructions a second: SMs, schedulers, the clock that the device names as its highest
N = 1 << 25

Row = dict[str, str]


def read(path: Path) -> list[Row]:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise Unusable(f"{path}: cannot be read: {error}") from None


def counted(n: int = N, block: str = "256") -> list[Row]:
    return [row for row in read(COUNTED) if int(row["n"]) == n and row["block"] == block]


def limits_table(n: int) -> tuple[list[str], list[list[str]]]:
    """Heads and lines: where each step's time goes, as Nsight Compute counts it."""
    heads = ["step", "µs", "memory busy, %", "schedulers busy, %", "warps resident, %", "warp instructions, M", "waits for memory", "waits at barriers"]
    return heads, [[row["step"], f"{float(row['time_us']):.1f}", f"{float(row['dram_percent']):.0f}", f"{float(row['issue_active_percent']):.0f}",
                    f"{float(row['warps_active_percent']):.0f}", f"{float(row['warp_instructions']) / 1e6:.1f}",
                    f"{float(row['stalled_long_scoreboard']):.1f}", f"{float(row['stalled_barrier']):.1f}"] for row in counted(n)]


def blocks_table() -> tuple[list[str], list[list[str]]]:
    """Heads and lines: the median time of each step over the block size."""
    times: dict[str, dict[int, float]] = {}
    for row in read(BLOCKS):
        times.setdefault(row["step"], {})[int(row["block"])] = float(row["median_us"])
    sizes = sorted({block for found in times.values() for block in found})
    return ["step", *(f"block {block}, µs" for block in sizes)], [[step, *(f"{found[block]:.1f}" for block in sizes)] for step, found in times.items()]


def draw_roofline(out: Path) -> None:
    import plot

    plot.plt.rcParams.update(plot.STYLE)
    figure, (axes,) = plot.new_figure(8.5)
    low, high, ridge = 0.02, 5, ISSUE / PEAK
    axes.plot([low, ridge], [PEAK * low / 1e9, ISSUE / 1e9], color=plot.BLACK, linewidth=3)
    axes.plot([ridge, high], [ISSUE / 1e9] * 2, color=plot.BLACK, linewidth=3)
    axes.text(0.023, PEAK * 0.023 / 1e9 * 1.35, "the memory's roof: 4814 GB/s", rotation=36, rotation_mode="anchor", fontsize=14)
    axes.text(ridge * 1.05, ISSUE / 1e9 * 1.1, "the schedulers' roof: 1045 G warp instructions/s", fontsize=14)
    places = {0: (8, -22), 1: (-6, -26), 2: (8, -20), 3: (-6, -26), 4: (10, -6), 5: (-10, -26), 6: (10, -8), 7: (10, -8), 8: (-22, -26), 9: (10, -10),
              10: (12, -2), 11: (-34, -10)}
    for row in counted():
        step = step_number(row["step"])
        x = float(row["warp_instructions"]) / float(row["dram_bytes_read"])
        y = float(row["warp_instructions"]) / float(row["time_us"]) / 1e3
        colour = plot.ORANGE if step < 6 else plot.PURPLE if step < 10 else plot.BLUE
        axes.plot(x, y, marker="os^D"[(step > 5) + (step > 7) + (step > 9)], markersize=13, color=colour)
        axes.annotate(str(step), (x, y), xytext=places[step], textcoords="offset points", fontsize=17, fontweight="bold", color=colour)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(60, 2000)
    axes.set_xticks([0.03, 0.1, 0.3, 1, 3], ["0.03", "0.1", "0.3", "1", "3"])
    axes.set_yticks([100, 300, 1000], ["100", "300", "1000"])
    axes.minorticks_off()
    axes.set_xlabel("warp instructions for each byte read from memory")
    axes.set_ylabel("G warp instructions a second")
    plot.headline(figure, "The ladder goes left, from one roof to the other",
                  "NVIDIA H200, Nsight Compute 2025.3: steps 0 to 11, n = 2^25 ints, block 256.\n"
                  "Close to a roof means bound by it; far below both (8 and 9) means waiting.", gap=1.0)
    plot.save(figure, out, "roofline")


def draw_blocks(out: Path) -> None:
    import plot

    plot.plt.rcParams.update(plot.STYLE)
    figure, (axes,) = plot.new_figure(7.5)
    heads, lines = blocks_table()
    sizes = [int(head.split()[1].rstrip(",")) for head in heads[1:]]
    shown = {"step3_nobank": (plot.ORANGE, "s", "--"), "step5_halfthreads": (plot.PURPLE, "^", "--"), "step7_fullunroll": (plot.GREEN, "v", "-"),
             "step8_gridstride": (plot.GREEN, "D", "-"), "step11_onepass": (plot.BLUE, "o", "-")}
    for step, *times in lines:
        if step in shown:
            colour, marker, style = shown[step]
            axes.plot(sizes, [float(t) for t in times], color=colour, marker=marker, linestyle=style, markersize=10, linewidth=2.5, label=step.replace("_", " "))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes, map(str, sizes))
    axes.set_yticks([50, 100, 200, 400], ["50", "100", "200", "400"])
    axes.minorticks_off()
    axes.set_xlabel("threads a block")
    axes.set_ylabel("time, µs")
    axes.legend(framealpha=1, edgecolor="none", loc="upper right", fontsize=15)
    row = read(BLOCKS)[0]
    plot.headline(figure, "Small blocks wait to be launched",
                  f"{row['device']}, driver {row['driver']}, CUDA {row['toolkit']}, {row['date'][:10]}; n = 2^25 ints, median of 30, cold L2", gap=0.95)
    plot.save(figure, out, "blocks")


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws what bounds each step on an H200.")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        draw_roofline(options.out)
        draw_blocks(options.out)
    except (OSError, Unusable, KeyError) as error:
        print(f"limits.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
