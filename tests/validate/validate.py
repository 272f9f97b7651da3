#!/usr/bin/env python3
"""Our exact counters beside the hardware's, for a machine with a GPU and ncu (Nsight Compute).

    python3 tests/validate/validate.py [--steps 0,1] [--blocks 32,64] [--types int,double] [--sizes 2^20+7,2^25] [--csv FILE]

Runs every step once under ncu on the GPU and once on the emulator, with the same program, and prints each counter that the two
do not agree on. Exit status: 0 every exact counter equal, 1 some differ, 2 bad usage, 3 ncu or a program failed."""

import argparse
import csv
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BAR = "sass__inst_executed_per_opcode"


def exact_counters():
    """Our name -> ncu's metric, from the one place that states them."""
    text = (ROOT / "common/emulator/counters.def").read_text()
    rows = re.findall(r'COUNTER\((\w+),\s*"([^"]*)"', text)
    return {name: metric for name, metric in rows if metric}


def size(text):
    """2^20+7 as a number."""
    total = 0
    for part in text.split("+"):
        base, _, power = part.partition("^")
        total += int(base) ** int(power) if power else int(part)
    return total


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def number(text):
    """A cell of ncu's; what it has in brackets are the instances that the value is made of."""
    return int(float(text.split(" (")[0].replace(",", "")))


def bar_count(cell):
    """Of '1,234 (LDG: 20; BAR: 10; ...)', a metric with an instance an opcode, those of BAR."""
    counts = dict(re.findall(r"(\w+): *([\d,]+)", cell))
    if sum(map(number, counts.values())) != number(cell):
        sys.exit(f"ncu's {BAR} does not say what each opcode has: {cell}")
    return number(counts.get("BAR", "0"))


def hardware(program, sizes, blocks, metrics):
    """(n, block) -> counter -> value: one process under ncu, which launches the kernel once for each."""
    command = ["ncu", "--clock-control", "none", "--target-processes", "all", "--csv", "--page", "raw",
               "--print-metric-instances", "details", "--kernel-name", "regex:reduce",
               "--metrics", ",".join(sorted({m.split(" ")[0] for m in metrics.values()})),
               program, "--n", listed(sizes), "--block", listed(blocks), "--device", "gpu", "--repeat", "0", "--quiet"]
    # With NVIDIA's runtime found first, the program need not start itself again, which ncu 2025.3 does not survive.
    runtime = run(["make", "-s", "--no-print-directory", "print-runtime"]).strip()
    path = ":".join(filter(None, [runtime, os.environ.get("LD_LIBRARY_PATH")]))
    lines = [line for line in run(command, env={**os.environ, "LD_LIBRARY_PATH": path}).splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))[1:]  # the first holds the units
    cases = [(n, block) for block in blocks for n in sizes]
    if len(rows) != len(cases):
        sys.exit(f"ncu reported {len(rows)} kernels for {program}, not {len(cases)}:\n" + "\n".join(lines[:5]))
    return {case: {name: bar_count(row[BAR]) if metric.startswith(BAR) else number(row[metric])
                   for name, metric in metrics.items()} for case, row in zip(cases, rows)}


def emulated(program, sizes, blocks, metrics):
    """The same, counted on the emulator."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.csv"
        run([program, "--n", listed(sizes), "--block", listed(blocks), "--device", "emulator", "--csv", out, "--quiet"])
        rows = list(csv.DictReader(out.open()))
    return {(int(row["n"]), int(row["block"])): {name: number(row[name]) for name in metrics} for row in rows}


def listed(values):
    return ",".join(map(str, values))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", default="", help="numbers of steps, with commas (all)")
    parser.add_argument("--blocks", default="32,64,128,256,512,1024")
    parser.add_argument("--types", default="int,double")
    parser.add_argument("--sizes", default="2^20+7,2^25")
    parser.add_argument("--csv", help="write every pair of figures to this file")
    return parser.parse_args()


def folders(wanted):
    names = run(["make", "-s", "--no-print-directory", "print-steps"]).split()
    numbers = wanted.split(",") if wanted else [re.match(r"step(\d+)_", name).group(1) for name in names]
    chosen = [name for name in names if re.match(r"step(\d+)_", name).group(1) in numbers]
    if len(chosen) != len(numbers):
        sys.exit(f"--steps {wanted}: there are {', '.join(names)}")
    return chosen


def compare(step, kind, ours, theirs):
    """One row a counter: step, type, n, block, counter, ours, the hardware's, difference."""
    return [[step, kind, n, block, name, ours[n, block][name], value, ours[n, block][name] - value]
            for (n, block), counters in theirs.items() for name, value in counters.items()]


def main():
    options = arguments()
    metrics = exact_counters()
    sizes, blocks = [size(n) for n in options.sizes.split(",")], [int(b) for b in options.blocks.split(",")]
    table, steps = [], folders(options.steps)
    for kind in options.types.split(","):
        run(["make", "-s", f"-j{os.cpu_count()}", "steps", f"TYPE={kind}"])
        for step in steps:
            program = ROOT / step / "run"
            rows = compare(step, kind, emulated(program, sizes, blocks, metrics), hardware(program, sizes, blocks, metrics))
            wrong = [row for row in rows if row[-1]]
            for row in wrong:
                print("{} {} n={} block={} {}: ours {}, hardware {}, difference {}".format(*row))
            print(f"{step} {kind}: {len(rows) - len(wrong)} of {len(rows)} counters equal", flush=True)
            table += rows
    if options.csv:
        with open(options.csv, "w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow("step type n block counter ours hardware difference".split())
            writer.writerows(table)
    differ = sum(row[-1] != 0 for row in table)
    print(f"{len(table)} counters compared, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
