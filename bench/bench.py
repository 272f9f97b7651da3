#!/usr/bin/env python3
"""Every step, every variant, CUB, Thrust, a kernel that only reads, and PyTorch's sum where it is installed: side by side on a GPU.

    python3 bench/bench.py [--n 2^10-2^30] [--types int,float,double] [--block 256,1024] [--repeat 21] [--csv FILE] LIBRARY_FOLDER

For each size the contenders take turns: each in its place in round 1, in another in round 2, and so on, so that a clock that
changes meets all alike. Before each launch the input is put back and the L2 is made cold in one of two ways: "dirty" (full of lines
that must be written back, as after a memset) and "clean" (full of lines that were read). Times are the device's own events around the
launch; a busy device gives the host a head start, so that no gap of the host's is in them. Every result is checked.
Exit status: 0 all right, 1 a wrong sum, 2 bad usage, 3 no GPU or an error of it."""

import argparse
import csv
import ctypes
import io
import os
import statistics
import sys
import time
from pathlib import Path

L2 = ["dirty", "clean"]
BLOCKS = [str(1 << e) for e in range(5, 11)]
SIZES = {"int": 4, "float": 4, "double": 8}
COLUMNS = "contender type n block l2 checked relative_error median_us min_us q1_us q3_us gbps percent_peak times_cub flag".split()
CUB = "CUB DeviceReduce::Sum"


def sizes(text):
    """'2^10-2^30' is every power of two between; '1000,2^20+7' are those."""
    def one(word):
        return sum(int(b) ** int(e or 1) for b, _, e in (part.partition("^") for part in word.split("+")))

    found = []
    for word in text.split(","):
        first, _, last = word.partition("-")
        n = one(first)
        while n <= one(last or first):
            found.append(n)
            n *= 2
    return sorted(set(found))


class Library:
    """The contenders of one type. See bench/measure.h."""

    def __init__(self, path, most, seed):
        self.c = ctypes.CDLL(str(path))
        self.c.bench_name.restype = self.c.bench_device.restype = ctypes.c_char_p
        self.c.bench_stop.restype = self.c.bench_peak.restype = ctypes.c_double
        self.c.bench_input.restype = ctypes.c_void_p
        self.c.bench_prepare.argtypes = [ctypes.c_size_t, ctypes.c_int]
        self.c.bench_launch.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_uint]
        self.c.bench_check.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_uint, ctypes.POINTER(ctypes.c_double)]
        self.c.bench_open.argtypes = [ctypes.c_size_t, ctypes.c_ulonglong]
        if self.c.bench_open(most, seed):
            sys.exit(3)
        self.names = [self.c.bench_name(i).decode() for i in range(self.c.bench_count())]

    def contender(self, i, block):
        def launch(n):
            self.c.bench_launch(i, n, block)

        def check(n):
            error = ctypes.c_double()
            return self.c.bench_check(i, n, block, ctypes.byref(error)), error.value
        return launch, check

    def time(self, launch, n, l2):
        self.c.bench_prepare(n, l2)
        self.c.bench_start()
        launch(n)
        return self.c.bench_stop()


def pytorch(library, kind, most):
    """PyTorch's sum over the same memory, or None and why not."""
    try:
        import torch
    except ImportError:
        return None, "PyTorch is not installed"
    if not torch.cuda.is_available():
        return None, "PyTorch sees no GPU"

    class Memory:
        __cuda_array_interface__ = {"shape": (most,), "typestr": {"int": "<i4", "float": "<f4", "double": "<f8"}[kind],
                                    "data": (library.c.bench_input(), False), "version": 3}
    tensor = torch.as_tensor(Memory(), device="cuda")
    assert tensor.data_ptr() == library.c.bench_input(), "PyTorch copied the data"
    return (lambda n: torch.sum(tensor[:n])), f"PyTorch {torch.__version__}"


def row_of(us, size, peak):
    """What is written of one contender's times at one size of so many bytes."""
    us = sorted(us)
    quarters = statistics.quantiles(us, n=4, method="inclusive") if len(us) > 1 else us * 3
    rate = size / quarters[1] / 1e3
    return {"median_us": round(quarters[1], 3), "min_us": round(us[0], 3), "q1_us": round(quarters[0], 3), "q3_us": round(quarters[2], 3),
            "gbps": round(rate, 1), "percent_peak": round(100 * rate * 1e9 / peak, 1) if peak else "",
            "flag": "impossible" if peak and rate * 1e9 > peak else ""}


def driver():
    try:
        return Path("/sys/module/nvidia/version").read_text().strip()
    except OSError:
        return "unknown"


def contenders(library, kind, blocks, most):
    """[(name, block or None, launch, check or None)]: the steps at the first block; the last steps and the variants at all."""
    found = []
    for i, name in enumerate(library.names):
        step = name.startswith("step")
        own = library.c.bench_own(i)
        for block in blocks if own and (not step or int(name[4:].split("_")[0]) >= 8) else blocks[:1]:
            launch, check = library.contender(i, block)
            found.append((name, block if own else "", launch, check))
    launch, why = pytorch(library, kind, most)
    print(f"    {why}", flush=True)
    if launch:
        found.append(("torch.sum", "", launch, None))
    return found


def measure(library, list_, n, repeat, l2):
    """Times of every contender, and whether its first result was right."""
    us, checks = [[] for _ in list_], [(-1, float("nan"))] * len(list_)
    for turn in range(-1, repeat):  # the first warms up
        for k in range(len(list_)):
            i = (k + 7 * turn) % len(list_)
            _, _, launch, check = list_[i]
            one = library.time(launch, n, l2)
            if turn >= 0:
                us[i].append(one)
            elif check:
                checks[i] = check(n)
    return us, checks


def bench(kind, options, out):
    ns = sizes(options.n)
    print(f"{kind}: making 2^{max(ns).bit_length() - 1} numbers", flush=True)
    library = Library(Path(options.folder) / f"{kind}.so", max(ns), options.seed)
    peak, wrong = library.c.bench_peak(), 0
    list_ = contenders(library, kind, [int(b) for b in options.block.split(",")], max(ns))
    for n in ns:
        for l2, state in enumerate(L2):
            if state not in options.l2.split(","):
                continue
            us, checks = measure(library, list_, n, options.repeat, l2)
            rows = [row_of(times, n * SIZES[kind], peak) for times in us]
            cub = rows[[name for name, *_ in list_].index(CUB)]["median_us"]
            for (name, block, *_), row, (right, error) in zip(list_, rows, checks):
                wrong += right == 0
                row |= {"contender": name, "type": kind, "n": n, "block": block, "l2": state, "checked": {1: "right", 0: "WRONG", -1: ""}[right],
                        "relative_error": "" if error != error else f"{error:.2g}", "times_cub": round(cub / row["median_us"], 3)}
                out.writerow(row)
            show(n, state, rows)
    device = library.c.bench_device().decode()
    library.c.bench_close()
    return wrong, device


def show(n, state, rows):
    print(f"\n{rows[0]['type']}, n = {n} (2^{n.bit_length() - 1}{'' if n & (n - 1) == 0 else ' and more'}), L2 {state}")
    print(f"    {'contender':24} block  median us     (quarters)       GB/s  % peak  x CUB  checked")
    for r in rows:
        print(f"    {r['contender']:24} {r['block']:>5}  {r['median_us']:9.2f} ({r['q1_us']:.2f}–{r['q3_us']:.2f})".ljust(62),
              f"{r['gbps']:8.1f}  {r['percent_peak']:>6}  {r['times_cub']:5.3f}  {r['checked']} {r['flag']}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where int.so, float.so and double.so are")
    parser.add_argument("--n", default="2^10-2^30")
    parser.add_argument("--types", default="int,float,double")
    parser.add_argument("--block", default="256,1024", help="the first is the steps', all are those of steps 8 on")
    parser.add_argument("--l2", default="dirty,clean")
    parser.add_argument("--repeat", type=int, default=21)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--csv", default="bench.csv")
    parser.add_argument("--toolkit", default="")
    options = parser.parse_args()
    options.command = "make bench" + "".join(f" {a}" for a in os.environ.get("BENCH_OPTIONS", "").split())
    for option, known in (("types", SIZES), ("l2", L2)):
        for word in getattr(options, option).split(","):
            if word not in known:
                parser.error(f"--{option}: {word} is not one of {', '.join(known)}")
    for block in options.block.split(","):
        if block not in BLOCKS:
            parser.error(f"--block: {block} is not a power of two from 32 to 1024")
    try:
        if not sizes(options.n) or sizes(options.n)[0] < 1:
            raise ValueError
    except ValueError:
        parser.error(f"--n: {options.n} is not a size, a range or a list of them, from 1 on")
    if options.repeat < 1:
        parser.error("--repeat must be 1 or more")
    wrong, rows = 0, io.StringIO()
    out = csv.DictWriter(rows, COLUMNS, lineterminator="\n")
    out.writeheader()
    for kind in options.types.split(","):
        more, device = bench(kind, options, out)
        wrong += more
        with open(options.csv, "w") as file:
            file.write(f"# {device}, driver {driver()}, CUDA {options.toolkit}, {time.strftime('%Y-%m-%d', time.gmtime())}: {options.command}\n")
            file.write(rows.getvalue())
    print(f"\n{options.csv}: {'all sums right' if not wrong else f'{wrong} WRONG sums'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
