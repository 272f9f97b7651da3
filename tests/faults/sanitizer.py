#!/usr/bin/env python3
"""What compute-sanitizer says of the programs in this folder, for a machine with a GPU, nvcc and compute-sanitizer.

    python3 tests/faults/sanitizer.py [--csv tests/faults/h200.csv] [--jobs 6] [--timeout 20] [--nvcc nvcc] [NAME …]

Builds each program as the fault and as its correct twin, runs both under memcheck, racecheck, synccheck and initcheck, and writes
one row each: program, form, tool, verdict (the first finding in a few words, "nothing", or why there is none), exit status. Programs
that can hang a GPU are not run as the fault. Exit status: 0 the table is written, 1 a correct twin was blamed, or a tool did not
work (the table is written all the same), 2 bad usage, 3 nothing could be built or run."""
import argparse
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import kinds

TOOLS = {"memcheck": ["--leak-check", "full"], "racecheck": [], "synccheck": [], "initcheck": []}
COLUMNS = ["program", "form", "tool", "verdict", "exit_status", "device", "driver", "toolkit", "date"]
FOUND = 99
NOT_RUN = "not run: it can hang a GPU"
# Lines behind "=========" that are no finding: frames and sums, and what the tool says of itself.
NOISE = re.compile(r"COMPUTE-SANITIZER|\w+ SUMMARY|Target application|Error: process didn't|Using |Saved host|Internal")
BROKEN = re.compile(r"^========= +((?:Internal Sanitizer )?Error: (?!process didn't|Race |Potential ).*|.*(?:not supported|No CUDA-capable).*)",
                    re.MULTILINE)


def say(message):
    print(f"sanitizer.py: {message}", file=sys.stderr)


def build(nvcc, fault, form, folder):
    program = folder / f"{fault.name}.{form}"
    done = subprocess.run([nvcc, *kinds.FORMS[form], "-lineinfo", "-w", "-arch=native", "-cudart", "static", fault.source, "-o", program],
                          capture_output=True, text=True)
    if done.returncode:
        say(f"{fault.source.name} ({form}) does not build: {done.stderr.strip()[:300]}")
        return None
    return program


def until_timeout(command, seconds):
    """Output and exit status, None if it had to be killed with all it started."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            status = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(process.pid, signal.SIGKILL)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                say(f"{command[-1]} cannot be killed; the GPU hangs")
        out.seek(0)
        return out.read(1 << 20).decode(errors="replace"), status


def findings(output):
    """The first line of each; what belongs to it is indented further."""
    lines = re.findall(r"^========= (\S.*)$", BROKEN.sub("", output), re.MULTILINE)
    return [line for line in lines if not NOISE.match(line)]


def few_words(finding):
    """Without addresses, places and what differs from run to run."""
    words = re.split(r" at | on CUDA API call| in block", finding.removeprefix("Error: "))[0]
    return re.sub(r"\s+", " ", words).replace("|", "/").strip(" .:,")[:120]


def verdict(output, status):
    if status is None:
        return "timeout"
    found, broken = findings(output), BROKEN.search(output)
    if found:
        return few_words(found[0])
    if broken or "COMPUTE-SANITIZER" not in output:
        return "the tool failed: " + few_words(broken[1] if broken else output.strip().partition("\n")[0])
    return "nothing" if status == 0 else f"nothing, and exit status {status}"


def examine(job):
    fault, form, tool, program, options = job
    row = {"program": fault.name, "form": form, "tool": tool, "exit_status": ""}
    if program is None:
        return row | {"verdict": "not run: it does not build"}, ""
    if fault.hangs_gpu and form == "fault":
        return row | {"verdict": NOT_RUN}, ""
    command = [options.sanitizer, "--tool", tool, *TOOLS[tool], "--error-exitcode", str(FOUND), str(program)]
    output, status = until_timeout(command, options.timeout)
    return row | {"verdict": verdict(output, status), "exit_status": "" if status is None else status}, output


def machine(options):
    """The machine's name, driver and toolkit, for the table's provenance."""
    try:
        asked = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True)
        name, _, driver = asked.stdout.partition("\n")[0].partition(", ")
    except FileNotFoundError:
        name = driver = ""
    version = subprocess.run([options.nvcc, "--version"], capture_output=True, text=True).stdout
    release = re.search(r"release ([\d.]+)", version)
    return {"device": name, "driver": driver.strip(), "toolkit": release[1] if release else "",
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


def summary(rows):
    """What each tool found, and which twins were blamed."""
    for tool in TOOLS:
        of_tool = [row for row in rows if row["tool"] == tool and row["form"] == "fault" and not row["verdict"].startswith("not run")]
        found = [row["program"] for row in of_tool if row["exit_status"] == FOUND]
        print(f"{tool}: {len(found)} of {len(of_tool)} faults found: {' '.join(found)}")
    faults = {row["program"] for row in rows if row["form"] == "fault"}
    found = {row["program"] for row in rows if row["form"] == "fault" and row["exit_status"] == FOUND}
    skipped = {row["program"] for row in rows if row["form"] == "fault" and row["verdict"] == NOT_RUN}
    print(f"found by none: {' '.join(sorted(faults - found - skipped))}")
    print(f"not run: {' '.join(sorted(skipped))}")
    bad = [row for row in rows if row["form"] == "twin" and row["exit_status"] != 0 or row["verdict"].startswith("the tool failed")]
    for row in bad:
        print(f"NOT AS EXPECTED: {row['program']} {row['form']} {row['tool']}: {row['verdict']} (exit status {row['exit_status']})")
    return bad


def parse_arguments():
    parser = argparse.ArgumentParser(description="What compute-sanitizer says of the faults in this folder.")
    parser.add_argument("--csv", type=Path, default=kinds.FOLDER / "h200.csv")
    parser.add_argument("--log", type=Path, help="keep everything the tools wrote here")
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--timeout", type=float, default=20)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    parser.add_argument("names", nargs="*", help="default: all")
    options = parser.parse_args()
    unknown = set(options.names) - {fault.name for fault in kinds.all_of_them()}
    if unknown or options.jobs < 1 or options.timeout <= 0:
        parser.error(f"no such program: {', '.join(sorted(unknown))}" if unknown else "--jobs and --timeout must be above 0")
    return options


def find_tools(options):
    beside = Path(shutil.which(options.nvcc) or options.nvcc).resolve().parent
    for tool in ("nvcc", "sanitizer"):
        given = getattr(options, tool)
        found = shutil.which(given) or shutil.which(given, path=str(beside)) or shutil.which(given, path="/usr/local/cuda/bin")
        if not found:
            say(f"{given} is not found; a machine with a GPU and the CUDA toolkit is needed")
            return False
        setattr(options, tool, found)
    return True


def main():
    options = parse_arguments()
    if not find_tools(options):
        return 3
    faults = [fault for fault in kinds.all_of_them() if not options.names or fault.name in options.names]
    here = machine(options)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        pairs = [(fault, form) for fault in faults for form in kinds.FORMS]
        programs = list(pool.map(lambda pair: build(options.nvcc, *pair, Path(folder)), pairs))
        if not any(programs):
            say("nothing was built")
            return 3
        jobs = [(*pair, tool, program, options) for pair, program in zip(pairs, programs) for tool in TOOLS]
        done = list(pool.map(examine, jobs))
    rows = [row | here for row, _ in done]
    with open(options.csv, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    if options.log:
        options.log.write_text("".join(f"#### {row['program']} {row['form']} {row['tool']}: {row['verdict']}\n{output}\n" for row, output in done),
                               encoding="utf-8")
    bad = summary(rows)
    print(f"{len(rows)} rows in {options.csv}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
