"""Fresh evidence for the pages: what the emulator counts in a step, what it reports of a kernel with a bug, what a GPU was recorded to say.

counts() and report() run programs in this checkout, so `make steps` comes first; everything else reads plots/recorded and tests/hardware.
"""
import csv
import functools
import os
import re
import shutil
import subprocess
import tempfile
import textwrap
from pathlib import Path

import results
from results import ROOT, Row, Unusable, number

N, BLOCK = "2^20", "256"  # of every fresh count on a page
RECORDED = ROOT / "plots" / "recorded"
HARDWARE = ROOT / "tests" / "hardware" / "h200_counters.csv"


def ladder() -> list[str]:
    return sorted((path.parent.name for path in ROOT.glob("step*_*/reduce.cu")), key=results.step_number)


def named(word: str) -> str:
    """step3 is step3_nobank."""
    for step in ladder():
        if word in (step, step.partition("_")[0]):
            return step
    raise Unusable(f"there is no step called '{word}'")


def before(step: str) -> str | None:
    steps = ladder()
    at = steps.index(step)
    return steps[at - 1] if at else None


def environment() -> dict[str, str]:
    """Ours, without what steers the emulator or a make around this one."""
    drop = ("EMULATOR_", "LD_LIBRARY_PATH", "LD_PRELOAD", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "REDUCTION_")
    return {k: v for k, v in os.environ.items() if not k.startswith(drop)}


@functools.lru_cache(maxsize=None)
def counts(step: str, n: str = N, block: str = BLOCK) -> Row:
    program = ROOT / step / "run"
    if not program.exists():
        raise Unusable(f"{step}/run is not built; run: make steps")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "run.csv"
        done = subprocess.run([program, "--n", n, "--block", block, "--device", "emulator", "--quiet", "--csv", table],
                              capture_output=True, text=True, env=environment(), timeout=300)
        if done.returncode != 0:
            raise Unusable(f"{step}/run --n {n} --block {block} ended with status {done.returncode}: {done.stderr.strip()}")
        return results.read(table)[-1]


@functools.lru_cache(maxsize=None)
def recorded(name: str) -> tuple[Row, ...]:
    path = RECORDED / f"{name}.csv"
    return tuple(results.read(path)) if path.exists() else ()


def recorded_time(name: str, step: str, device: str = "") -> float | None:
    rows = [row for row in recorded(name) if device in row["device"]]
    row = results.latest(rows).get(step) if rows else None
    return number(row, "median_us") if row and results.verified(row) else None


@functools.lru_cache(maxsize=None)
def hardware(kernel: str, n: str = "33554432", block: str = "256") -> Row:
    with open(HARDWARE, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if (row["kernel"], row["n"], row["block"]) == (kernel, n, block):
                return row
    raise Unusable(f"{HARDWARE.name} has no kernel {kernel} with n = {n}, block {block}")


# ---- kernels with a bug ----

def patched(source: str, diff: str) -> str:
    """`source` with a diff applied that has no line numbers: each hunk (@@ parts them) must fit in exactly one place."""
    for hunk in re.split(r"^@@.*\n", diff, flags=re.MULTILINE):
        lines = hunk.splitlines()
        old = "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", "-"))
        new = "".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", "+"))
        if source.count(old) != 1 or old == new or not old:
            raise Unusable(f"this change fits in {source.count(old) if old else 0} places, and must fit in one:\n{hunk}")
        source = source.replace(old, new)
    return source


def nvcc() -> list[str]:
    """The compiler, and the folder of the toolkit's headers."""
    done = subprocess.run(["sh", "common/setup.sh", "find-nvcc"], cwd=ROOT, capture_output=True, text=True,
                          env={"NVCC": "", "CUDA_HOME": "", "CUDA": ""} | environment())
    words = done.stdout.split()
    if len(words) < 4:
        raise Unusable("there is no CUDA compiler; run make, which says why")
    return words


def toolkit() -> str:
    return nvcc()[3]


def build(source: str, name: str, folder: Path) -> Path:
    """A step's program from changed source. PTX alone is enough for the emulator."""
    (folder / "reduce.cu").write_text(source, encoding="utf-8")
    objects = sorted((ROOT / "build" / "int" / "common").glob("*.o"))
    library = ROOT / "build" / "emulator"
    compile_ = [nvcc()[0], "-O3", "-lineinfo", "-gencode", "arch=compute_75,code=compute_75", "--compress-mode=none", "-DTYPE_int",
                f"-I{ROOT / 'common'}", f'-DSTEP_NAME="{name}"', '-DSTEP_BEFORE=""', '-DSTEP_WATCH=""', "-c", "reduce.cu", "-o", "reduce.o"]
    link = [nvcc()[0], "-cudart", "none", "-Xlinker", "-rpath", "-Xlinker", str(library), "reduce.o", *map(str, objects),
            str(library / "libcudart.so"), "-lm", "-ldl", "-o", "run"]
    for command in (compile_, link):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment())
        if done.returncode != 0:
            raise Unusable(f"the changed {name} does not build: {done.stderr.strip()}")
    return folder / "run"


@functools.lru_cache(maxsize=None)
def report(step: str, diff: str, options: str) -> str:
    """What the emulator and the harness say of `step` after `diff`, under the options; the last line is the exit status."""
    source = patched((ROOT / step / "reduce.cu").read_text(encoding="utf-8"), diff)
    folder = Path(tempfile.mkdtemp())
    try:
        program = build(source, step, folder)
        done = subprocess.run([program, *options.split(), "--device", "emulator", "--quiet"], cwd=folder, capture_output=True,
                              text=True, env=environment(), timeout=120)
    finally:
        shutil.rmtree(folder)
    said = (done.stderr + done.stdout.partition("watch:")[0]).rstrip().splitlines()  # without the counters
    said = [re.sub(r"_INTERNAL_[0-9a-f]{8}_(\d+_\w+?)_[0-9a-f]{8}", r"_INTERNAL_…_\1_…", line) for line in said]  # a hash of the folder
    folded = [part for line in said for part in textwrap.wrap(line, 100, subsequent_indent="       ", drop_whitespace=True) or [""]]
    return "\n".join([*folded, f"exit status {done.returncode}"])
