#!/usr/bin/env python3
"""Grades CUDA exercises on the emulator: no GPU, no times, the same verdict on every machine.

    grade.py one EXERCISE [FILE]        a student's view: each requirement, what was measured, the limit, a hint, the score
    grade.py all FOLDER [--out OUT]     a class: FOLDER/STUDENT/EXERCISE.cu; an interrupted run, started again, goes on

A submission is a .cu file with a function solve(), declared in the exercise's exercise.h. It is compiled, checked for calls that no
submission needs (link.txt), linked with driver.c, and run in a process of its own with limits. This process makes the inputs, knows
the expected values and compares; the submission sees neither. Each exercise's spec.py says what is asked: spec_help.py has its words.
Exit status: 0 full marks, 1 points lost, 2 bad usage, 3 grading is not possible here."""
import argparse
import array
import contextlib
import csv
import ctypes
import fcntl
import fnmatch
import hashlib
import inspect
import json
import math
import multiprocessing
import multiprocessing.connection
import os
import random
import re
import resource
import select
import shlex
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.sax.saxutils import quoteattr

import spec_help

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "exercises"
EMULATOR = ROOT / "build" / "emulator"
STANDARDS = (["-std=c++14"], [])    # with C++14 the headers take a third less time; what needs more gets the compiler's own default
FLAGS = ["-O3", "-lineinfo", "-gencode", "arch=compute_75,code=compute_75", "--compress-mode=none"]

# What one submission may use. Instructions are the measure of work; the seconds are a last resort against loops in host code.
INSTRUCTIONS = 8_000_000        # a warp, in one launch
ALL_INSTRUCTIONS = 100_000_000  # warp instructions, all cases of a submission together
CPU_SECONDS = 20                # all runs of a submission together
WALL_SECONDS = 120              # the same, for programs that wait
COMPILE_SECONDS = 60            # of processor time, one process of the compiler
TOOL_OUTPUT = 64 << 20          # bytes of a file that the compiler writes
SOURCE = 1 << 20                # bytes of the submission
MEMORY = 2 << 30
OUTPUT = 1 << 20                # bytes on stdout and stderr
CHECKED = 6000                  # elements: cases up to here also run with each check that must be silent

CODES = {"int": "i", "unsigned": "I", "float": "f", "double": "d", "long long": "q", "unsigned long long": "Q", "size_t": "Q",
         "unsigned char": "B"}

# How a finding of each check reads, for cases that fail without the check too.
SAYS = {"race": re.compile("race on"), "sync": re.compile("synchronisation|barrier|shuffle"), "init": re.compile("nothing wrote|never written")}


LIBC = ctypes.CDLL(None)


class Usage(Exception):
    """The caller's mistake: one sentence, status 2."""


class Impossible(Exception):
    """This machine cannot grade: status 3."""


# ---- exercises ----
class Exercise:
    def __init__(self, name):
        self.name, self.folder = name, HERE / name
        if not (self.folder / "spec.py").is_file():
            raise Usage(f"there is no exercise {name!r}; there are: {', '.join(exercise_names())}")
        words = dict(vars(spec_help))
        exec(compile((self.folder / "spec.py").read_text(), str(self.folder / "spec.py"), "exec"), words)
        self.title, self.cases, self.requirements = words["TITLE"], words["CASES"], words["REQUIREMENTS"]
        self.inputs, self.expected = words["inputs"], words["expected"]
        self.time_size, self.time_beside = words.get("TIME"), words.get("TIME_BESIDE_STEP")
        self.structs = words.get("STRUCTS", {})
        self.parameters = self.read_prototype()
        self.most = sum(r.points for r in self.requirements)
        groups = {c.name for c in self.cases}
        for r in self.requirements:
            if missing := set(r.on) - groups:
                raise Usage(f"{name}/spec.py: the requirement {r.name!r} names the cases {sorted(missing)}, which CASES does not have")

    def read_prototype(self):
        """The parameters of solve() in exercise.h: (kind, name, format of an element)."""
        text = re.sub(r"//.*|/\*.*?\*/", "", (self.folder / "exercise.h").read_text())
        found = re.search(r"void\s+solve\s*\(([^)]*)\)\s*;", text)
        if not found:
            raise Usage(f"{self.name}/exercise.h does not declare void solve(…);")
        if 'extern "C"' not in text[:found.start()]:
            raise Usage(f"{self.name}/exercise.h has to declare solve with extern \"C\", as exercises/any_n/exercise.h does")
        parameters = []
        for part in found[1].split(","):
            match = re.fullmatch(r"\s*(const\s+)?(?:struct\s+)?([\w ]+?)\s*(\*?)\s*(\w+)\s*", part)
            if not match:
                raise Usage(f"{self.name}/exercise.h: the parameter {part.strip()!r} is not understood")
            constant, type_, pointer, name = match.groups()
            if pointer and constant and type_ in self.structs:
                raise Usage(f"{self.name}/exercise.h: {name} is an input of structs; only outputs may be structs")
            if not pointer and type_ != "size_t":
                raise Usage(f"{self.name}/exercise.h: {name} is neither a pointer nor a size_t")
            code = CODES.get(type_) or self.structs.get(type_)
            if not code:
                raise Usage(f"{self.name}/exercise.h: the type {type_!r} is not known; a struct's layout goes into STRUCTS of spec.py")
            parameters.append(("size" if not pointer else "in" if constant else "out", name, code))
        return parameters

    def digest(self):
        return digest_of(*(self.folder / f for f in ("spec.py", "exercise.h")))

    def make_cases(self, seed, hidden):
        """Every case with its input and what must come out. Sizes are those of the spec, some drawn by the seed, and hidden ones."""
        made = []
        for group in self.cases:
            draw = random.Random(f"{seed} {self.name} {group.name}")
            sizes = list(group.sizes) + [group.drawn(draw) for _ in range(group.draw)]
            if group.draw:
                sizes += [group.complete(s) for s in hidden.get(self.name, [])]
            for size in sizes:
                made.append(self.make_case(group, size, random.Random(f"{seed} {self.name} {group.name} {size}")))
        return made

    def make_case(self, group, size, rng):
        case = spec_help.Sizes(kind=group.kind, **size)
        inputs = self.inputs(rng, case)
        arrays = {name: array.array(code, inputs[name]) for kind, name, code in self.parameters if kind == "in"} # floats as the device sees them
        return self.place(group, case, arrays)

    def make_timed_case(self, repeat):
        """A large case for a GPU: a small one's input many times over, so that it is made in a moment."""
        sizes, larger, times = self.time_size
        group = next(c for c in self.cases if not c.kind)
        small = self.make_case(group, sizes, random.Random(1))
        case = spec_help.Sizes(kind=None, **{k: v * times if k == larger else v for k, v in sizes.items()})
        return self.place(group, case, {name: a * times for name, a in small.arrays.items()}, repeat)

    def place(self, group, case, arrays, repeat=0):
        """The case as the driver takes it, and what must come out."""
        want = self.expected(case, **{name: a.tolist() for name, a in arrays.items()})
        header, data = [], []
        for kind, name, code in self.parameters:
            if kind == "in":
                data.append(arrays[name].tobytes())
                header.append(f"in {len(data[-1])} 0")
            elif kind == "out":
                header.append(f"out {len(want[name]) * struct.calcsize('<' + code)} {poison(code)}")
            else:
                header.append(f"size {getattr(case, name)} 0")
        return Case(group.name, case, want, header, data, arrays, repeat)


class Case:
    def __init__(self, group, sizes, want, header, data, arrays, repeat):
        self.group, self.sizes, self.want, self.header, self.data, self.arrays, self.repeat = group, sizes, want, header, data, arrays, repeat
        self.elements = sizes.elements()
        self.input_bytes = sum(len(d) for d in data)
        self.label = ", ".join(f"{k} = {v}" for k, v in sizes.items() if k != "kind")

    def request(self, nonce):
        head = f"case {nonce} {self.repeat} {len(self.header)}\n" + "".join(line + "\n" for line in self.header)
        return head.encode() + b"".join(self.data)


def exercise_names():
    return sorted((p.parent.name for p in HERE.glob("*/spec.py")), key=lambda n: (spec_order(n), n))


def spec_order(name):
    """The place in the course: exercises/order.txt, the unlisted ones after."""
    order = (HERE / "order.txt").read_text().split() if (HERE / "order.txt").exists() else []
    return order.index(name) if name in order else len(order)


def digest_of(*files):
    h = hashlib.sha256()
    for f in files:
        h.update(Path(f).read_bytes() + b"\0")
    return h.hexdigest()[:24]


# ---- from a submission to a program ----
class Refused(Exception):
    """The submission cannot be run: why, and what to do."""


class Stopped(Refused):
    """The compiler was ended by a limit, which on another day it may keep."""


def nvcc_command():
    nvcc = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not shutil.which(nvcc):
        raise Impossible("there is no nvcc; `make grade EX=name` finds or installs one")
    return nvcc


def limit(kind, soft, hard=None):
    """Never above what the grader itself may use."""
    most = resource.getrlimit(kind)[1]
    capped = [most if most != resource.RLIM_INFINITY and (v == resource.RLIM_INFINITY or v > most) else v for v in (soft, hard or soft)]
    resource.setrlimit(kind, tuple(capped))


def limits(cpu, memory, output):
    def set_them():
        end_with_parent(signal.SIGKILL)
        limit(resource.RLIMIT_CPU, cpu, cpu + 1)
        limit(resource.RLIMIT_CORE, 0)
        limit(resource.RLIMIT_FSIZE, output)
        limit(resource.RLIMIT_DATA, memory)
    return set_them


def end_with_parent(how):
    """Whatever happens to the grader, what it started does not stay behind."""
    with contextlib.suppress(OSError, AttributeError):
        LIBC.prctl(1, how) # PR_SET_PDEATHSIG


def kill_group(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def tool(command, scratch, seconds=COMPILE_SECONDS, most=OUTPUT):
    """Runs a compiler's tool with limits; returns (status, the first bytes of what it wrote)."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=scratch, start_new_session=True,
                                   preexec_fn=limits(seconds, 4 << 30, TOOL_OUTPUT), env=os.environ | {"TMPDIR": str(scratch)})
        try:
            status = process.wait(timeout=4 * seconds)
        except subprocess.TimeoutExpired:
            status = -signal.SIGKILL
        finally:
            kill_group(process)
        out.seek(0)
        return status, out.read(most).decode(errors="replace")


def listing_of(command, scratch):
    """What a tool says of an object file, whole: what would not be looked at must not be run."""
    status, text = tool(command, scratch, most=TOOL_OUTPUT)
    if status or len(text) >= TOOL_OUTPUT:
        raise Refused("its code is too large to be looked through", "a submission is a few kernels")
    return text


def read_link_rules():
    rules = {}
    for line in (HERE / "link.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, stand_in = (part.strip() for part in line.partition("->"))
            rules[pattern] = stand_in
    return rules


def need_driver(nvcc):
    """driver.o, compiled once for this driver and this compiler."""
    if not any(EMULATOR.glob("libcudart.so.1[23]")):
        raise Impossible("the emulator is not built: say make emulator")
    if missing := [t for t in ("nm", "objdump", "objcopy", "c++filt") if not shutil.which(t)]:
        raise Impossible(f"there is no {missing[0]}; on Debian and Ubuntu: sudo apt install binutils")
    key = digest_of(HERE / "driver.c", ROOT / "common/emulator/emulator.h")
    target = BUILD / f"driver-{key}.o"
    if not target.exists():
        include = Path(shutil.which(nvcc)).resolve().parent.parent / "include"
        header = next((p for p in (include, include.parent / "targets/x86_64-linux/include") if (p / "cuda_runtime_api.h").exists()), include)
        BUILD.mkdir(parents=True, exist_ok=True)
        new = BUILD / f"driver-{key}-{os.getpid()}.o"
        status, text = tool([os.environ.get("CC", "cc"), "-std=c11", "-O2", "-isystem", str(header), "-c", str(HERE / "driver.c"), "-o", str(new)], BUILD)
        if status:
            raise Impossible(f"driver.c does not compile:\n{text}")
        new.replace(target)
    return target


def was_stopped(status, said):
    return status < 0 or bool(re.search(r"died due to signal|Killed|out of memory|annot allocate|signal terminated program|limit exceeded", said))


def check_headers(listed, own, nvcc):
    """Refuses a file that includes others than the toolkit's and the system's: the solutions, say, or what somebody else handed in."""
    own = {os.path.realpath(f) for f in own}
    toolkit = os.path.realpath(Path(shutil.which(nvcc)).resolve().parent.parent) + "/"
    for name in re.findall(r"(?:\\.|[^\s\\])+", listed.partition(" : ")[2].replace("\\\n", " ")):
        file = os.path.realpath(re.sub(r"\\(.)", r"\1", name))
        if file not in own and not file.startswith(toolkit):
            raise Refused(f"it includes {Path(file).name}, which is neither exercise.h nor a header of CUDA, C or C++", "hand in one file that stands alone")


def check_symbols(object_, scratch):
    """Refuses host code that calls what no submission needs; returns the redirections for objcopy."""
    listing = listing_of(["nm", "-P", str(object_)], scratch)
    symbols = [line.split()[:2] for line in listing.splitlines() if len(line.split()) >= 2]
    if not any(name == "solve" and kind == "T" for name, kind in symbols):
        raise Refused("it defines no solve() with the parameters that exercise.h declares",
                      "keep the line that declares solve(…) as it is in the skeleton, and do not make it static or a template")
    rules, redirections = read_link_rules(), []
    forbidden = []
    for name, kind in symbols:
        if kind not in "Uwv": # w, v: weak, which the linker resolves all the same
            continue
        rule = next((p for p in rules if fnmatch.fnmatchcase(name, p)), None)
        if rule is None:
            forbidden.append(name)
        elif rule and rules[rule]:
            redirections.append(f"--redefine-sym={name}={rules[rule]}")
    if forbidden:
        raise Refused(f"its host code uses {', '.join(readable(f) for f in sorted(forbidden)[:5])}, which a submission may not",
                      "solve() launches kernels; it needs no files, processes or copies in memory that the host sees (exercises/link.txt lists what is allowed)")
    code = listing_of(["objdump", "-d", "--no-show-raw-insn", str(object_)], scratch)
    if re.search(r"\t(syscall|sysenter|int +\$0x80|svc)\b", code):
        raise Refused("its host code calls the operating system itself", "no assembler in host code; asm in kernels is allowed")
    return redirections


def readable(symbol):
    shown = subprocess.run(["c++filt", symbol], capture_output=True, text=True).stdout.strip()
    return shown or symbol


def build(exercise, source, scratch):
    """The program of a submission; cached by everything that goes into it. Raises Refused."""
    nvcc = nvcc_command()
    driver = need_driver(nvcc)
    text = source.read_bytes()
    key = hashlib.sha256(b"\0".join([text, (exercise.folder / "exercise.h").read_bytes(), driver.name.encode(), (HERE / "link.txt").read_bytes(),
                                     inspect.getsource(build_anew).encode(), inspect.getsource(check_symbols).encode(), nvcc.encode(),
                                     repr((STANDARDS, FLAGS)).encode()])).hexdigest()[:32]
    program, verdict = BUILD / "programs" / key, BUILD / "programs" / f"{key}.refused"
    if verdict.exists():
        raise Refused(*json.loads(verdict.read_text()))
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    try:
        new = build_anew(exercise, text, nvcc, driver, scratch)
    except Refused as e:
        if not isinstance(e, Stopped): # another time it may do
            verdict.write_text(json.dumps(e.args))
        raise
    shutil.copy(new, f"{program}-{os.getpid()}")
    os.replace(f"{program}-{os.getpid()}", program)
    return program


def build_anew(exercise, text, nvcc, driver, scratch):
    copy, object_, mine, program, headers = (scratch / f for f in ("reduce.cu", "reduce.o", "submission.o", "program", "headers.d"))
    copy.write_bytes(text)
    for standard in STANDARDS:
        status, said = tool([nvcc, *standard, *FLAGS, "-include", str(exercise.folder / "exercise.h"), "-I", str(exercise.folder),
                             "-MMD", "-MF", str(headers), "-c", str(copy), "-o", str(object_)], scratch)
        if status == 0 or was_stopped(status, said):
            break
    if headers.exists():
        check_headers(headers.read_text(errors="replace"), {copy, exercise.folder / "exercise.h"}, nvcc)
    if was_stopped(status, said):
        raise Stopped(f"the compiler was stopped: more than {COMPILE_SECONDS} s, 4 GiB of memory or 64 MiB of code",
                      "does a template or a macro ever end? Is a large array initialised?")
    if status or not object_.exists():
        said = said.replace(str(scratch) + "/", "").strip()
        raise Refused("it does not compile:\n" + "\n".join(said.splitlines()[:20])[:4000], "the first message of the compiler usually names the cause")
    redirections = check_symbols(object_, scratch)
    # Only solve() stays visible: a main, malloc or cudaMalloc of the submission's own replaces nothing.
    status, said = tool(["objcopy", "--keep-global-symbol=solve", *redirections, str(object_), str(mine)], scratch)
    if status == 0: # -no-pie: where libstdc++ is an archive, it need not be position-independent
        status, said = tool([os.environ.get("CC", "cc"), str(driver), str(mine), f"-L{EMULATOR}", "-lcudart", "-lstdc++", "-ldl", "-lm",
                             "-no-pie", f"-Wl,-rpath,{EMULATOR},--enable-new-dtags", "-o", str(program)], scratch)
    if status:
        raise Refused("it does not link:\n" + said[:2000], "the message names what is missing")
    return program


# ---- running it ----
class Answer:
    """What one case gave: an error, or the bytes and the counters."""

    def __init__(self, error=None, outs=(), counters=None):
        self.error, self.outs, self.counters, self.time_us, self.device = error, list(outs), counters or {}, None, None


class Runner:
    """Runs cases of one program, in as few processes as its faults allow, within one allowance of CPU seconds."""

    def __init__(self, program, scratch, sandbox, gpu=None):
        self.program, self.scratch, self.sandbox, self.gpu = program, scratch, sandbox, gpu
        self.left = WALL_SECONDS if gpu else CPU_SECONDS
        self.deadline = time.monotonic() + WALL_SECONDS
        self.reports = []

    def run(self, cases, until_error=False, **settings):
        """An Answer a case. `until_error`: the cases after the first error are not run (None)."""
        answers, secret = [], random.SystemRandom()
        while len(answers) < len(cases):
            rest = cases[len(answers):]
            if self.left < 1 or time.monotonic() > self.deadline:
                answers += [Answer("not run: the time allowed for this submission is used up")] * len(rest)
                break
            nonces = [f"{secret.getrandbits(64):016x}" for _ in rest]
            text, ended, said = self.process(b"".join(c.request(n) for c, n in zip(rest, nonces)), settings)
            got = parse_answers(text, nonces)
            if len(got) < len(rest) and not (got and got[-1].error):
                got.append(Answer(ended + last_words(said)))
            for a in got:
                if a.error and re.search("^fault:|: error:", said, re.M) and "fault:" not in a.error and "; it said" not in a.error:
                    a.error += last_words(said)
            answers += got
            if until_error and answers[-1].error:
                break
        return answers

    def process(self, requests, settings):
        """One process with these requests on descriptor 3: what it answered on 4, how it ended, what it said on stderr."""
        request_read, request_write = os.pipe()
        answer_read, answer_write = os.pipe()
        environment = {"PATH": "/usr/bin:/bin", "EMULATOR_THREADS": "1", "EMULATOR_TIMEOUT": str(INSTRUCTIONS), **settings}
        if self.gpu:
            environment = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": f"{self.gpu}:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":"),
                           **{k: v for k, v in os.environ.items() if k.startswith(("CUDA_", "NVIDIA_"))}, **settings}
        before = os.times()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            def arrange():
                os.dup2(request_read, 103), os.dup2(answer_write, 104)
                os.dup2(103, 3), os.dup2(104, 4)
                os.closerange(5, 256)
                if self.gpu: # the driver maps much memory, writes files of its own and starts threads
                    limits(WALL_SECONDS, resource.RLIM_INFINITY, 256 << 20)()
                else:
                    limits(int(math.ceil(self.left)), MEMORY, OUTPUT)()
                    if not self.sandbox: # which may need a process of its own, and limits them in its own way
                        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0)) # no fork; root is exempt, so grade as another user
            process = subprocess.Popen([*self.sandbox, str(self.program)], stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=self.scratch,
                                       env=environment, start_new_session=True, close_fds=False, preexec_fn=arrange)
            os.close(request_read), os.close(answer_write)
            try:
                text, in_time = converse(request_write, answer_read, requests, self.deadline)
                ended = how_it_ended(process.returncode) if in_time and wait_briefly(process) else "it did not end"
            finally:
                kill_group(process)
            err.seek(0)
            said = err.read(OUTPUT).decode(errors="replace")
        after = os.times()
        self.left -= after.children_user + after.children_system - before.children_user - before.children_system
        return text, ended, said


def wait_briefly(process):
    try:
        process.wait(timeout=10)
        return True
    except subprocess.TimeoutExpired:
        return False


def how_it_ended(status):
    if status < 0:
        name = signal.Signals(-status).name
        known = {"SIGXFSZ": f"it wrote more than {OUTPUT >> 20} MiB of output", "SIGXCPU": "its host code ran too long",
                 "SIGKILL": "it was killed: too long, or too much memory", "SIGSEGV": "its host code crashed (SIGSEGV): device memory cannot be read on the host"}
        return known.get(name, f"its host code crashed ({name})")
    return f"the program ended with status {status} before it had answered"


def last_words(said):
    """The first fault report, with the names of the source, or the last line."""
    said = re.sub(r"\w+\.ptx:\d+ \(([^)]*)\)", r"\1", said)
    said = re.sub(r"\b_Z+(\d+)(\w+)", lambda m: m[2][:int(m[1])], said)
    lines = said.strip().splitlines()
    at = next((i for i, line in enumerate(lines) if line.startswith("fault:") or ": error:" in line), None)
    if at is not None:
        return "; " + "; ".join(line.strip() for line in lines[at:at + 2])[:500]
    return "; it said: " + lines[-1][:200] if lines else ""


def converse(write_fd, read_fd, requests, deadline):
    """Feeds the requests and collects the answers until the other side closes; (text, ended in time)."""
    os.set_blocking(write_fd, False)
    got, sent, view = [], 0, memoryview(requests)
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or sum(map(len, got)) > 64 << 20:
                return b"".join(got), False
            readable_, writable, _ = select.select([read_fd], [write_fd] if write_fd >= 0 else [], [], min(left, 1))
            if writable:
                try:
                    sent += os.write(write_fd, view[sent:sent + 65536])
                except BrokenPipeError:
                    sent = len(requests)
                if sent >= len(requests):
                    os.close(write_fd)
                    write_fd = -1
            if readable_:
                part = os.read(read_fd, 65536)
                if not part:
                    return b"".join(got), True
                got.append(part)
    finally:
        if write_fd >= 0:
            os.close(write_fd)
        os.close(read_fd)


def parse_answers(text, nonces):
    """The leading answers that are whole and repeat their nonce."""
    answers = []
    for chunk, nonce in zip(text.decode(errors="replace").split("\nend\n"), nonces):
        lines = chunk.strip().splitlines()
        if not lines or lines[0] != f"answer {nonce}":
            break
        a = Answer()
        for line in lines[1:]:
            word, _, rest = line.partition(" ")
            if word == "error":
                a.error = rest
            elif word == "counter":
                name, value = rest.split()
                a.counters[name] = float(value)
            elif word == "out":
                a.outs.append(bytes.fromhex(rest))
            elif word == "time_us":
                a.time_us = tuple(float(t) for t in rest.split()) # median, least
            elif word == "device":
                a.device = rest
        if a.error is None and not a.counters:
            break
        answers.append(a)
    return answers


# ---- the verdict on one case ----
def close_enough(got, want, tolerance):
    """NaN compares false, so NaN fails."""
    return got == want or abs(got - want) <= tolerance


def flat(code, data):
    return [v for item in struct.iter_unpack("<" + code, data) for v in item]


def wrong_because(exercise, case, answer):
    """None if the answer is right, else what is wrong with it."""
    if answer.error:
        return answer.error
    outs = iter(answer.outs)
    for kind, name, code in exercise.parameters:
        if kind != "out":
            continue
        got = flat(code, next(outs, b""))
        want = [w if isinstance(w, tuple) else (w, 0) for w in case.want[name]]
        per_item = len(code)
        if per_item > 1: # structs: expected() gives a tuple of (value, tolerance) or plain values an item
            want = [v if isinstance(v, tuple) else (v, 0) for item in case.want[name] for v in item]
        if len(got) != len(want):
            return f"{name} came back with {len(got)} values, not {len(want)}"
        bad = [i for i, (g, (w, t)) in enumerate(zip(got, want)) if not close_enough(g, w, t)]
        if bad:
            i = bad[0]
            within = f" (within {want[i][1]:.3g})" if want[i][1] else ""
            many = f"; {len(bad)} of {len(want)} are wrong" if len(want) > 1 else ""
            unwritten = " (never written)" if is_poison(code, got[i], i) else ""
            return f"{name}[{i // per_item}] is {shown(got[i])}{unwritten}, should be {shown(want[i][0])}{within}{many}"
    return no_device_work(case, answer.counters)


def poison(code):
    """What an output's bytes hold before: NaN for floats, else a large number that no exercise has as its answer."""
    return 0xFF if code in "fd" else 0xA5


def is_poison(code, value, i):
    item = code[i % len(code)]
    was = struct.unpack("<" + item, bytes([poison(code)]) * struct.calcsize("<" + item))[0]
    return value == was or (value != value and was != was)


def no_device_work(case, counters):
    """The counters must prove that the device read the input and computed on it."""
    if counters["to_host"]:
        return f"{counters['to_host']:.0f} bytes were copied to the host: the device has to do the work, and solve() leaves the result there"
    if counters["input_changed"]:
        return "the input was changed"
    if "global_load_sectors" in counters:
        need = case.input_bytes // 32
        if counters["global_load_sectors"] < need:
            return f"the kernels read {counters['global_load_sectors']:.0f} sectors of 32 bytes, the input has {need}: the result was not computed from it"
        if counters["active_lanes"] < case.elements:
            return f"the kernels executed {counters['active_lanes']:.0f} operations on {case.elements} elements: the result was not computed from them"
    return None


def shown(value):
    return f"{value:.9g}" if isinstance(value, float) else str(value)


# ---- the verdict on a submission ----
def judge(exercise, cases, source, sandbox=(), gpu=None, time_points=0):
    """The result as plain data: score, most, and a line a requirement."""
    result = {"exercise": exercise.name, "title": exercise.title, "score": 0, "most": exercise.most, "refused": None, "requirements": []}
    scratch = Path(tempfile.mkdtemp(prefix="grade-"))
    os.chmod(scratch, 0o755)
    try:
        try:
            program = build(exercise, source, scratch)
        except Refused as e:
            return not_run(exercise, *e.args)
        work = scratch / "work"
        work.mkdir()
        runner = Runner(program, work, list(sandbox))
        measured = measure(exercise, cases, runner)
        for r in exercise.requirements:
            passed, what, limit = r.judge(measured)
            result["requirements"].append(outcome(r, passed, what, limit))
        if gpu:
            with alone_on_gpu():
                result["gpu"] = on_gpu(exercise, cases, source, program, work, gpu)
            if time_points:
                add_time_requirement(result, time_points)
        result["score"] = sum(r["points"] for r in result["requirements"] if r["passed"])
        return result
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def not_run(exercise, why, hint):
    return {"exercise": exercise.name, "title": exercise.title, "score": 0, "most": exercise.most, "refused": {"why": why, "hint": hint},
            "requirements": [outcome(r, False, "not run", "") for r in exercise.requirements]}


def outcome(r, passed, what, limit):
    return {"name": r.name, "text": r.text, "passed": bool(passed), "points": r.points, "measured": what, "limit": limit, "hint": r.hint}


def measure(exercise, cases, runner):
    """Every case twice, with blocks and warps in both orders; then the small ones again under each check that must be silent."""
    plain = runner.run(cases, EMULATOR_CHECK="none")
    backwards = runner.run(cases, EMULATOR_CHECK="none", EMULATOR_SCHEDULE="reversed")
    measured, spent = spec_help.Measured(), 0
    for case, first, second in zip(cases, plain, backwards):
        why = wrong_because(exercise, case, first)
        spent += first.counters.get("warp_instructions", 0)
        if not why and spent > ALL_INSTRUCTIONS:
            why = f"the cases up to here took {spent:.0f} warp instructions; {ALL_INSTRUCTIONS} are allowed for all together"
        if not why and (why := wrong_because(exercise, case, second)):
            why += " (when blocks and warps run in the opposite order)"
        measured.add(case.group, case, why, first.counters)
    small = [c for c in cases if c.elements <= CHECKED]
    for check in sorted({r.check for r in exercise.requirements if r.check}):
        answers = runner.run(small, until_error=True, EMULATOR_CHECK=check)
        without = {id(c): a.error for c, a in zip(cases, plain)}
        finding = next(((c, a.error) for c, a in zip(small, answers) if a.error and (not without[id(c)] or SAYS[check].search(a.error))), None)
        measured.findings[check] = finding and f"{finding[0].label}: {finding[1]}"
    return measured


# ---- on a GPU, where there is one ----
REPEAT = 20                     # timed runs, of which the median counts
SLOWER = 1.25                   # times the reference's median: the limit where a teacher gives points for time


def gpu_runtime(wish):
    """The folder of NVIDIA's runtime where there is a GPU to use it on, else None. `wish`: auto, gpu (or this is impossible) or emulator."""
    if wish == "emulator":
        return None
    folder = os.environ.get("CUDART_DIR", "")
    missing = None
    if not any(os.path.exists(f"/dev/{f}") for f in ("nvidiactl", "dxg")):
        missing = "there is no NVIDIA GPU here (neither /dev/nvidiactl nor /dev/dxg)"
    elif not folder or not any(Path(folder).glob("libcudart.so.1[23]")):
        missing = f"CUDART_DIR ({folder or 'not set'}) holds no libcudart.so.13 (or .12) of NVIDIA's; `make grade` sets it"
    if missing and wish == "gpu":
        raise Impossible(missing)
    return None if missing else folder


def wanted_gpu(options):
    """Points for time must not be left out in silence."""
    gpu = gpu_runtime(options.device)
    if options.time_points and not gpu:
        raise Impossible("--time-points needs a GPU: say DEVICE=gpu on a machine that has one")
    return gpu


@contextlib.contextmanager
def alone_on_gpu():
    """One at a time, or they would disturb each other's times. A lock on a file goes with the process that holds it."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "gpu.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def on_gpu(exercise, cases, source, program, scratch, gpu):
    """On the GPU: are the results right there too, and how long solve() takes, beside the reference solution on the same GPU."""
    found = {"wrong": None, "submission": None, "reference": None}
    bad = [(c, why) for c, a in zip(cases, Runner(program, scratch, [], gpu).run(cases)) if (why := wrong_because(exercise, c, a))]
    if bad:
        found["wrong"] = f"{bad[0][0].label}: {bad[0][1]}   [{len(bad)} of {len(cases)} cases]"
    elif exercise.time_size:
        case = exercise.make_timed_case(REPEAT)
        found["size"] = case.label
        found["wrong"] = time_one(exercise, case, program, scratch, gpu, "submission", found)
        solution = HERE / "solutions" / exercise.name / "reduce.cu"
        if not found["wrong"] and solution.exists():
            own = scratch / "reference"
            own.mkdir()
            found["reference_wrong"] = time_one(exercise, case, build(exercise, solution, own), scratch, gpu, "reference", found)
            if exercise.time_beside:
                found["beside"] = time_step(exercise.time_beside, case, scratch)
    return found


def time_one(exercise, case, program, scratch, gpu, who, found):
    """Notes the times of one program; returns what is wrong with its results, for only right ones are timed."""
    answer = Runner(program, scratch, [], gpu).run([case])[0]
    why = wrong_because(exercise, case, answer)
    if not why:
        found[who], found["device"] = answer.time_us, answer.device
    return why and f"{case.label}: {why}"


def time_step(number, case, scratch):
    """The ladder's step of this number, or the last before it that is here, on as many ints: (its name, its median in us or what is amiss)."""
    steps = {int(p.parent.name[4:].split("_")[0]): p.parent for p in ROOT.glob("step*_*/reduce.cu")}
    step = steps[max(k for k in steps if k <= number)]
    if not (step / "run").exists():
        return step.name, f"not built: make {step.name.split('_')[0]}"
    table = scratch / "step.csv"
    command = [step / "run", "--n", str(case.sizes.n), "--device", "gpu", "--repeat", str(REPEAT), "--quiet", "--csv", table]
    status = subprocess.run(command, capture_output=True, check=False).returncode
    rows = list(csv.DictReader(open(table))) if table.exists() else []
    return step.name, float(rows[-1]["median_us"]) if status == 0 and rows else f"ended with status {status}"


def add_time_requirement(result, points):
    gpu = result["gpu"]
    mine, reference = gpu["submission"], gpu["reference"]
    passed = bool(mine and reference and mine[0] <= SLOWER * reference[0])
    measured = f"median {mine[0]:.1f} us ({gpu['size']})" if mine else f"not timed: {gpu['wrong'] or 'this exercise has no size for it'}"
    limit = f"at most {SLOWER * reference[0]:.1f} us" if reference else "there is no reference solution to compare with" if mine else ""
    result["most"] += points
    result["requirements"].append({"name": "time", "text": f"at most {SLOWER} times as slow as the reference on this GPU", "passed": passed,
                                   "points": points, "measured": measured, "limit": limit,
                                   "hint": "compare the counters with the limits above, and the number of launches and of cudaMalloc with what is needed"})


def gpu_lines(gpu):
    """What a report says of the GPU."""
    if gpu["wrong"]:
        return [f"on this GPU it fails: {gpu['wrong']}"]
    if not gpu["submission"]:
        return ["on this GPU the results are right in every case, too"]
    lines = [f"on {gpu['device']} the results are right in every case, too; {gpu['size']}, median of {REPEAT} (and the least), L2 cache flushed before each:",
             f"    this file             {gpu['submission'][0]:>9.1f} us ({gpu['submission'][1]:.1f})"]
    if reference := gpu["reference"]:
        lines.append(f"    reference solution    {reference[0]:>9.1f} us ({reference[1]:.1f})   this file takes {gpu['submission'][0] / reference[0]:.2f} times as long")
    if "beside" in gpu:
        name, us = gpu["beside"]
        lines.append(f"    {name:<22}{us:>9.1f} us   this file takes {gpu['submission'][0] / us:.2f} times as long" if isinstance(us, float) else f"    {name}: {us}")
    return lines


# ---- reports ----
def report(result, source, seed, out=sys.stdout):
    print(f"{result['exercise']}: {result['title']}   ({source}, seed {seed})\n", file=out)
    if result["refused"]:
        print(f"  not run: {result['refused']['why']}\n  hint: {result['refused']['hint']}\n", file=out)
    width = max(len(r["text"]) for r in result["requirements"])
    for r in result["requirements"]:
        mark = "passed" if r["passed"] else "FAILED"
        limit = f"   (limit: {r['limit']})" if r["limit"] else ""
        print(f"  {mark}  {r['points'] if r['passed'] else 0:>2}/{r['points']:<2}  {r['text']:<{width}}  {r['measured']}{limit}", file=out)
        if not r["passed"] and not result["refused"] and r["hint"]:
            print(f"                 hint: {r['hint']}", file=out)
    if result.get("gpu"):
        print("\n  " + "\n  ".join(gpu_lines(result["gpu"])), file=out)
    print(f"\n  score: {result['score']} of {result['most']}", file=out)


def gradescope(results):
    """Gradescope's results.json for one student."""
    tests = []
    for result in results:
        if result["refused"]:
            tests.append({"name": f"{result['exercise']}: can be run", "score": 0, "max_score": 0, "status": "failed",
                          "output": f"{result['refused']['why']}\nhint: {result['refused']['hint']}"})
        for r in result["requirements"]:
            output = r["measured"] + (f"\nlimit: {r['limit']}" if r["limit"] else "") + ("" if r["passed"] or not r["hint"] else f"\nhint: {r['hint']}")
            tests.append({"name": f"{result['exercise']}: {r['text']}", "score": r["points"] if r["passed"] else 0, "max_score": r["points"],
                          "status": "passed" if r["passed"] else "failed", "output": output})
    return {"score": sum(r["score"] for r in results), "visibility": "visible", "stdout_visibility": "hidden", "tests": tests}


def clean_xml(text):
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd]", "?", text)


def junit(results):
    """JUnit XML: a suite a submission, a test a requirement. `results`: (student, result)."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for student, result in results:
        failed = sum(not r["passed"] for r in result["requirements"])
        suite = f"{student}.{result['exercise']}" if student else result["exercise"]
        lines.append(f"  <testsuite name={quoteattr(clean_xml(suite))} tests=\"{len(result['requirements'])}\" failures=\"{failed}\">")
        for r in result["requirements"]:
            case = f"    <testcase classname={quoteattr(clean_xml(suite))} name={quoteattr(clean_xml(r['text']))}"
            why = r["measured"] if not result["refused"] else result["refused"]["why"]
            lines.append(case + "/>" if r["passed"] else f"{case}><failure message={quoteattr(clean_xml(why))}/></testcase>")
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def write_class(out, everybody, entries):
    """class.csv, results.xml and a results.json a student, from the journal."""
    names = [n for n in exercise_names() if any(e["result"]["exercise"] == n for e in entries)]
    students = sorted({e["student"] for e in entries} | set(everybody))
    by = {(e["student"], e["result"]["exercise"]): e["result"] for e in entries}
    with open(out / "class.csv", "w", newline="") as f:
        table = csv.writer(f)
        table.writerow(["student", *names, "total"])
        for s in students:
            scores = [by[s, n]["score"] if (s, n) in by else "" for n in names]
            table.writerow([as_cell(s), *scores, sum(x for x in scores if x != "")])
        table.writerow(["(most)", *(next(e["result"]["most"] for e in entries if e["result"]["exercise"] == n) for n in names), ""])
    (out / "results.xml").write_text(junit([(s, by[s, n]) for s in students for n in names if (s, n) in by]))
    for s in students:
        (out / "students" / s).mkdir(parents=True, exist_ok=True)
        (out / "students" / s / "results.json").write_text(json.dumps(gradescope([by[s, n] for n in names if (s, n) in by]), indent=1))


def as_cell(text):
    """A folder named =1+1 must not become a formula in a spreadsheet."""
    return "'" + text if text[:1] in "=+-@" else text


# ---- one submission, a class ----
def read_seeds(path):
    """The seed and the hidden sizes: {"seed": 1, "sizes": {"max": [{"n": 777}]}}."""
    try:
        data = json.loads(Path(path).read_text())
        return data["seed"], data.get("sizes", {})
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise Usage(f"{path} is not a seed file ({e}); one looks like this: {{\"seed\": 42, \"sizes\": {{\"max\": [{{\"n\": 777}}]}}}}")


def check_hidden(path, hidden):
    """A slip in the seed file must not pass for hidden sizes."""
    try:
        for name, sizes in hidden.items():
            drawn = {size: None for group in Exercise(name).cases if group.draw for size in group.listed}
            for given in sizes:
                if wrong := [k for k, v in given.items() if k not in drawn or not isinstance(v, int) or v < 0]:
                    raise Usage(f"{path}: {wrong[0]!r} of {name} is no size that the seed draws, or no number; these are: {', '.join(drawn) or 'none'}")
    except (AttributeError, TypeError):
        raise Usage(f"{path}: \"sizes\" looks like this: {{\"max\": [{{\"n\": 777}}]}}") from None


def seeds_of(options):
    if options.seed_file:
        seed, hidden = read_seeds(options.seed_file)
        check_hidden(options.seed_file, hidden)
        return seed, hidden
    return options.seed if options.seed is not None else random.SystemRandom().randrange(1, 10**6), {}


def grade_one(options):
    exercise = Exercise(options.exercise)
    source = Path(options.file or exercise.folder / "reduce.cu")
    if not source.is_file():
        raise Usage(f"there is no file {source}")
    if source.stat().st_size > SOURCE:
        raise Usage(f"{source} is larger than a megabyte")
    seed, hidden = seeds_of(options)
    gpu = wanted_gpu(options)
    result = judge(exercise, exercise.make_cases(seed, hidden), source, shlex.split(options.sandbox), gpu, options.time_points)
    shown_as = source.relative_to(ROOT) if source.is_relative_to(ROOT) else source
    report(result, printable(shown_as), "hidden" if options.seed_file else seed)
    if options.gradescope:
        Path(options.gradescope).write_text(json.dumps(gradescope([result]), indent=1))
    if options.junit:
        Path(options.junit).write_text(junit([("", result)]))
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1))
    return 0 if result["score"] == result["most"] else 1


def printable(name):
    """A file's name as text, whatever its bytes are."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in os.fsencode(name).decode(errors="backslashreplace"))


def find_submissions(folder):
    """The students, and (student, exercise, file): FOLDER/STUDENT/EXERCISE.cu or FOLDER/STUDENT/EXERCISE/reduce.cu."""
    students, found = [], {}
    names = set(exercise_names())
    for student in sorted(p for p in Path(folder).iterdir() if p.is_dir() and not p.is_symlink()):
        students.append(who := printable(student.name))
        for f in sorted([*student.glob("*/reduce.cu"), *(p for p in student.iterdir() if p.suffix.lower() == ".cu")]):
            name = f.stem if f.parent == student else f.parent.name
            if name not in names:
                print(f"not graded: {printable(f)}: there is no exercise {printable(name)!r}", file=sys.stderr)
            elif (who, name) in found:
                print(f"not graded: {printable(found[who, name])}, for there is {printable(f)} too", file=sys.stderr)
            if name in names:
                found[who, name] = f # sorted: EXERCISE.cu comes after EXERCISE/reduce.cu, and is what is graded
        if not any(w == who for w, _ in found):
            print(f"nothing to grade: {printable(student)}", file=sys.stderr)
    return students, [(who, name, f) for (who, name), f in found.items()]


def objection(path):
    """Why a file is not even opened: links lead elsewhere, pipes and devices have no end."""
    try:
        info, folder = path.lstat(), path.parent.lstat()
    except OSError as e:
        return f"it cannot be read ({e.strerror})"
    if not stat.S_ISREG(info.st_mode) or not stat.S_ISDIR(folder.st_mode):
        return "it is a link, a folder or a device"
    if info.st_size > SOURCE:
        return "it is larger than a megabyte"
    return None if os.access(path, os.R_OK) else "it cannot be read"


WORK = {}


def grade_job(job):
    """The entry of the journal for one submission. What goes wrong with the grader itself is tried again by the next run."""
    student, name, path, key = job
    exercise, cases = WORK[name]
    entry = {"student": student, "key": key}
    try:
        if why := objection(path):
            return entry | {"result": not_run(exercise, why, "hand in the file itself")}
        return entry | {"result": judge(exercise, cases, path, WORK["sandbox"], WORK["gpu"], WORK["time_points"])}
    except Exception as e: # one submission costs itself alone
        return not_graded(job, f"{type(e).__name__}: {e}")


def not_graded(job, why):
    return {"student": job[0], "key": job[3], "again": True,
            "result": not_run(WORK[job[1]][0], f"it could not be graded: {why}", "the same command tries it again; look at this one by hand")}


def work_on(job, pipe):
    """The process of one submission. The interruption is the main process's to handle; if that is killed, this one goes too, tidily."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    end_with_parent(signal.SIGTERM)
    pipe.send_bytes(json.dumps(grade_job(job)).encode())


def graded(jobs, most):
    """The entries of the journal as they come, each from a process of its own: whatever a submission does to it is its own loss."""
    fork, waiting, running, signals = multiprocessing.get_context("fork"), jobs[::-1], {}, []
    # Noted and looked at here: an exception out of a handler may come where Python can but drop it.
    before = {s: signal.signal(s, lambda number, _: signals.append(number)) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        while waiting or running:
            if signals:
                raise KeyboardInterrupt
            while waiting and len(running) < most:
                here, there = fork.Pipe(duplex=False)
                process = fork.Process(target=work_on, args=(waiting[-1], there))
                process.start()
                running[here] = waiting.pop(), process
                there.close()
            for here in multiprocessing.connection.wait(list(running), timeout=0.5):
                job, process = running[here]
                try:
                    entry = json.loads(here.recv_bytes())
                except (EOFError, OSError, ValueError):
                    entry = not_graded(job, "the process that graded it was killed")
                process.join()
                del running[here]
                here.close()
                yield entry
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            process.join(timeout=10)
            process.kill()
            process.join()


def read_journal(path):
    """The seed of the run, and its entries by key. A last line cut off by the interruption is dropped."""
    seed, entries = None, {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry.get("again"):
            continue
        if "key" in entry:
            entries[entry["key"]] = entry
        elif "seed" in entry:
            seed = entry["seed"]
    return seed, entries


def grade_all(options):
    if not Path(options.folder).is_dir():
        raise Usage(f"there is no folder {options.folder}")
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    journal = out / "journal.jsonl"
    seed_before, done = read_journal(journal)
    seed, hidden = seeds_of(options)
    if not options.seed_file and options.seed is None and seed_before is not None:
        seed = seed_before # a run that goes on keeps its inputs
    need_driver(nvcc_command())
    students, submissions = find_submissions(options.folder)
    WORK.update(sandbox=shlex.split(options.sandbox), gpu=wanted_gpu(options), time_points=options.time_points)
    for name in {s[1] for s in submissions}:
        WORK[name] = (e := Exercise(name)), e.make_cases(seed, hidden)
    jobs = [(*s, key_of(*s, seed, hidden, options)) for s in submissions]
    left = [j for j in jobs if j[3] not in done]
    print(f"{len(jobs)} submissions of {len({j[0] for j in jobs})} students; {len(jobs) - len(left)} graded before, {len(left)} to do "
          f"(seed {'hidden' if options.seed_file else seed})", flush=True)
    start, ended, again = time.monotonic(), 0, 0
    with open(journal, "a+b") as log, own_temporary_folder():
        lock(log, out)
        end_partial_line(log)
        if seed != seed_before:
            log.write(json.dumps({"seed": seed}).encode() + b"\n")
        with contextlib.closing(graded(left, max(1, options.jobs))) as entries:
            for entry in entries:
                done[entry["key"]] = entry
                log.write(json.dumps(entry).encode() + b"\n")
                log.flush()
                os.fsync(log.fileno())
                ended += 1
                again += entry.get("again", False)
                r = entry["result"]
                print(f"  [{ended}/{len(left)}] {entry['student']}: {r['exercise']} {r['score']} of {r['most']}{' (not run)' if r['refused'] else ''}", flush=True)
        seconds = time.monotonic() - start
        write_class(out, students, [done[j[3]] for j in jobs])
    rate = f", {60 * ended / seconds:.0f} a minute" if ended else ""
    print(f"{ended} graded in {seconds:.0f} s{rate}; see {out}/class.csv, {out}/results.xml, {out}/students/*/results.json")
    if again:
        print(f"{again} could not be graded, and the same command tries them again; class.csv has 0 for them: grep '\"again\"' {journal}", file=sys.stderr)
    return 3 if again else 0


def key_of(student, name, path, seed, hidden, options):
    """What an entry of the journal depends on: when any of it changes, the submission is graded anew."""
    grader = digest_of(HERE / "grade.py", HERE / "spec_help.py", HERE / "driver.c", HERE / "link.txt")
    text = objection(path) or digest_of(path)
    return hashlib.sha256(f"{student}\0{name}\0{text}\0{WORK[name][0].digest()}\0{seed}\0{hidden}\0{options.time_points}\0{grader}".encode()).hexdigest()[:24]


def lock(log, out):
    try:
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Usage(f"another run writes to {out}; wait for it, or say another folder") from None


@contextlib.contextmanager
def own_temporary_folder():
    """What submissions leave in it goes when the run ends, even where a process of ours could not tidy up."""
    with tempfile.TemporaryDirectory(prefix="grade-all-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        before, tempfile.tempdir = tempfile.tempdir, folder
        try:
            yield
        finally:
            tempfile.tempdir = before


def end_partial_line(log):
    """An interrupted write may have left half a line."""
    size = log.seek(0, os.SEEK_END)
    if size:
        log.seek(size - 1)
        if log.read(1) != b"\n":
            log.write(b"\n")


def main():
    parser = argparse.ArgumentParser(description="Grades CUDA exercises on the emulator.")
    commands = parser.add_subparsers(dest="command", required=True)
    one, every = commands.add_parser("one", help="grade one file"), commands.add_parser("all", help="grade a class")
    commands.add_parser("list", help="the exercises")
    one.add_argument("exercise")
    one.add_argument("file", nargs="?", help="default: exercises/EXERCISE/reduce.cu")
    one.add_argument("--gradescope", metavar="FILE", help="write Gradescope's results.json")
    one.add_argument("--junit", metavar="FILE", help="write JUnit XML")
    one.add_argument("--json", metavar="FILE", help="write the result as JSON")
    every.add_argument("folder", help="FOLDER/STUDENT/EXERCISE.cu")
    every.add_argument("--out", default="graded", help="folder of the results and the journal (default graded)")
    every.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    for p in (one, every):
        p.add_argument("--seed", type=int, help="default: drawn, and printed")
        p.add_argument("--seed-file", metavar="FILE", help="a hidden seed and hidden sizes, as JSON")
        p.add_argument("--device", choices=["auto", "gpu", "emulator"], default="auto" if p is one else "emulator",
                       help="auto: on a GPU too, where there is one, and timed against the reference; gpu: there must be one (default %(default)s)")
        p.add_argument("--time-points", type=int, default=0, metavar="P", help=f"with a GPU: points for at most {SLOWER} times the reference's time")
        p.add_argument("--sandbox", default="", metavar="COMMAND", help="put before every submission's program")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr.reconfigure(errors="backslashreplace")
    if options.command == "list":
        print("\n".join(f"{n:<14} {Exercise(n).title}" for n in exercise_names()))
        return 0
    return grade_one(options) if options.command == "one" else grade_all(options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Usage as e:
        print(f"grade: {e}", file=sys.stderr)
        sys.exit(2)
    except Impossible as e:
        print(f"grade: {e}", file=sys.stderr)
        sys.exit(3)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on where it stopped", file=sys.stderr)
        sys.exit(130)
