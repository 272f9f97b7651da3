#!/usr/bin/env python3
"""Hands in a class's work, grades it without and with interruptions, and compares: make grade-class-demo

    class_of_200.py [--submissions 200] [--jobs 2] [--folder build/class]

Submissions are solutions, wrong ones, skeletons and attempts to cheat, over all exercises; each is a text of its own, so every one is
compiled. The second run is sent SIGINT after a third and SIGKILL after two thirds, and started again each time. Exit status: 0 if then
nothing is lost, nothing was graded twice, and both runs wrote the same class.csv."""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

EXERCISES = Path(__file__).resolve().parent.parent / "exercises"


def everything():
    """(exercise, file): each solution, skeleton, wrong submission and attempt to cheat."""
    names = (EXERCISES / "order.txt").read_text().split()
    files = [(n, f) for n in names for f in sorted((EXERCISES / "solutions" / n).rglob("*.cu"))]
    return files + [(n, EXERCISES / n / "reduce.cu") for n in names] + [("any_n", f) for f in sorted((EXERCISES / "cheats").glob("*.cu"))]


def hand_in(folder, files, token):
    shutil.rmtree(folder, ignore_errors=True)
    for i, (name, file) in enumerate(files):
        student = folder / f"student{i:03}"
        student.mkdir(parents=True)
        (student / f"{name}.cu").write_text(file.read_text() + (f"// {token} {i}\n" if token else ""))


def grade(folder, out, jobs, signals=()):
    """Runs the grader to its end, again after each (signal, after how many graded); returns what it said."""
    command = [sys.executable, str(EXERCISES / "grade.py"), "all", str(folder), "--out", str(out), "--jobs", str(jobs), "--seed", "1"]
    said = []
    for what, after in [*signals, (None, None)]:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        for line in process.stdout:
            said.append(line)
            graded = re.match(r" *\[(\d+)/", line)
            if graded and after and int(graded[1]) >= after:
                process.send_signal(what)
                after = None
        status = process.wait()
        print(f"  {said[-1].strip() if not what else f'{what.name}: ended with status {status}, {len(keys(out))} in the journal'}", flush=True)
    return "".join(said)


def keys(out):
    entries = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines() if line.endswith("}")]
    return [e["key"] for e in entries if "key" in e]


def compare(folder, files, jobs, token):
    """Both runs; what is amiss, in words. `token`: makes the texts differ from those of any other time."""
    hand_in(folder / "first", files, token and f"{token} first")
    shutil.rmtree(folder / "whole", ignore_errors=True)
    shutil.rmtree(folder / "interrupted", ignore_errors=True)
    print(f"{len(files)} submissions, {jobs} at a time, not interrupted:", flush=True)
    grade(folder / "first", folder / "whole", jobs)
    hand_in(folder / "second", files, token and f"{token} second")
    print("the same, interrupted twice:", flush=True)
    third = max(1, len(files) // 3)
    said = grade(folder / "second", folder / "interrupted", jobs, [(signal.SIGINT, third), (signal.SIGKILL, third)])
    problems = []
    done = keys(folder / "interrupted")
    if len(set(done)) != len(files):
        problems.append(f"{len(set(done))} of {len(files)} are in the journal")
    if len(done) != len(set(done)):
        problems.append("some were graded twice")
    if (folder / "whole/class.csv").read_bytes() != (folder / "interrupted/class.csv").read_bytes():
        problems.append("the two class.csv differ")
    before = [int(n) for n in re.findall(r"(\d+) graded before", said)]
    if not 0 == before[0] < before[1] < before[2] < len(files):
        problems.append(f"the interruptions did not interrupt: {before} were graded before")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=EXERCISES.parent / "build/class")
    options = parser.parse_args()
    rng, files = random.Random(1), everything()
    files += [rng.choice(files) for _ in range(options.submissions - len(files))]
    rng.shuffle(files)
    problems = compare(options.folder, files[:options.submissions], options.jobs, f"{os.getpid()} {time.time()}")
    print("\n".join(problems) or "nothing lost, nothing graded twice, the same class.csv")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
