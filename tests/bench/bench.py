"""How many warp instructions a second the emulator executes: bench.py [--n N] [--repeat R] [--checks] PROGRAM... -- STEP...

Every program runs with counters off and on, on one thread and on all, each R times (3), and the shortest time counts: on a machine that
others use too, single times differ by a third. The time is that of the launches alone, as EMULATOR_TIME=on
reports it: generating data and checking results are not in it. STEPs run with --n N, and their sum is the ladder.
--checks times the ladder under each of EMULATOR_CHECK's checks instead: on one thread, without counters.
"""
import argparse
import os
import re
import subprocess
import sys

REPORT = re.compile(r"emulator: (\d+) warp instructions in ([\d.]+) s")


def run(command, threads, counters, check="none"):
    environment = dict(os.environ, EMULATOR_TIME="on", EMULATOR_COUNTERS=counters, EMULATOR_THREADS=str(threads), EMULATOR_CHECK=check)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    found = REPORT.search(done.stderr)
    if done.returncode or not found:
        sys.exit(f"{' '.join(command)} failed with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return int(found[1]), float(found[2])


def best_of(ways, repeat, command):
    """(warp instructions, seconds) for each way; the ways take turns."""
    best = [(0, float("inf"))] * len(ways)
    for _ in range(repeat):
        best = [min(old, run(command, *way), key=lambda result: result[1]) for old, way in zip(best, ways)]
    return best


def processor():
    with open("/proc/cpuinfo") as lines:
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown processor"


def print_row(name, instructions, seconds):
    rates = "".join(f"{instructions / s / 1e6:12.1f}" if s else f"{'-':>12}" for s in seconds)
    print(f"{name:18}{instructions / 1e6:10.1f}{rates}   {'  '.join(f'{s:7.3f}' for s in seconds)}", flush=True)


def ladder_command(step, n):
    return [step, "--n", n, "--device", "emulator", "--quiet"]


def time_checks(steps, n, repeat):
    checks = ["none", "sync", "leak", "init", "race", "all"]
    seconds = [0.0] * len(checks)
    for step in steps:
        results = best_of([(1, "off", check) for check in checks], repeat, ladder_command(step, n))
        seconds = [total + result[1] for total, result in zip(seconds, results)]
    print(f"{processor()}, 1 thread; {len(steps)} steps at n = {n}; the best of {repeat}; load {os.getloadavg()[0]:.1f}")
    print(f"{'check':8}{'seconds':>10}{'slow-down':>12}")
    for check, total in zip(checks, seconds):
        print(f"{check:8}{total:10.3f}{total / seconds[0]:12.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", default="2^25")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("programs", nargs="*")
    if "--" not in sys.argv:
        sys.exit(__doc__)
    at = sys.argv.index("--")
    options, steps = parser.parse_args(sys.argv[1:at]), sys.argv[at + 1:]
    if options.repeat < 1:
        parser.error(f"--repeat {options.repeat}: at least one run")
    if options.checks:
        time_checks(steps, options.n, options.repeat)
        return
    threads = len(os.sched_getaffinity(0))
    ways = [(1, "off"), (1, "on"), (threads, "off"), (threads, "on")]

    print(f"{processor()}, {threads} threads; steps at n = {options.n}; the best of {options.repeat}; load {os.getloadavg()[0]:.1f}")
    print(f"{'':18}{'M warp':>10}   M warp instructions a second; then seconds")
    print(f"{'':18}{'instr.':>10}{'1, off':>12}{'1, counting':>12}{f'{threads}, off':>12}{f'{threads}, counting':>12}")
    ladder, total = 0, [0.0] * len(ways)
    for step in steps:
        results = best_of(ways, options.repeat, ladder_command(step, options.n))
        print_row(os.path.basename(os.path.dirname(step)), results[0][0], [r[1] for r in results])
        ladder += results[0][0]
        total = [a + r[1] for a, r in zip(total, results)]
    if steps:
        print_row("the ladder", ladder, total)
    for program in options.programs:
        results = best_of(ways, options.repeat, [program])
        print_row(os.path.basename(program), results[0][0], [r[1] for r in results])


if __name__ == "__main__":
    main()
