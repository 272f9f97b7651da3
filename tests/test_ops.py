"""tests/ops.test, an instruction a case: on the code for any processor and on that for AVX2, on whole warps and under guards."""
import itertools
import lzma
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from conftest import BUILD, PROGRAMS, ROOT, run

OPS = ROOT / "tests" / "ops.test"
LIBRARY = BUILD / "emulator" / "libcudart.so.13"


@cache
def lines_of(path):
    return path.read_text().splitlines()


@cache
def cases(path):
    """{instruction: [number of its first line, ...]}"""
    found, lines = {}, lines_of(path)
    at = 0
    while at < len(lines):
        if lines[at] and not lines[at].startswith("#"):
            found.setdefault(lines[at], []).append(at + 1)
            at += 2
        at += 1
    return found


@cache
def plain_library(folder):
    """A folder with the emulator for any processor alone: beside it there is one for AVX2, which the loader would take."""
    (Path(folder) / LIBRARY.name).symlink_to(LIBRARY)
    return folder


@cache
def results(path, library=None):
    done = run(PROGRAMS / "ops_run", path, **({"LD_LIBRARY_PATH": library} if library else {}))
    assert done.returncode in (0, 1), done.stderr
    return {int(number): text for number, text in (line.split(" ", 1) for line in done.stdout.splitlines())}


def wrong(path, library=None):
    lines = lines_of(path)
    return [f"{path.name}:{n}: {lines[n - 1]}: {lines[n]}: {text}, expected {lines[n + 1]}" for n, text in results(path, library).items() if text != "ok"]


@pytest.mark.parametrize("instruction", cases(OPS))
def test_instruction(instruction):
    lines, verdicts = lines_of(OPS), results(OPS)
    bad = [f"ops.test:{n}: {lines[n]}: {verdicts.get(n, 'did not run')}, expected {lines[n + 1]}" for n in cases(OPS)[instruction] if verdicts.get(n) != "ok"]
    assert not bad, "\n".join(bad[:5])


def test_any_processor(tmp_path_factory):
    folder = plain_library(str(tmp_path_factory.mktemp("plain")))
    assert wrong(OPS, folder) == []
    assert len(results(OPS, folder)) == sum(map(len, cases(OPS).values()))


def test_random_inputs(tmp_path):
    written = subprocess.run([sys.executable, ROOT / "tests" / "ops_reference.py", "--random", "24", "--seed", "7"], capture_output=True, text=True, check=True)
    path = tmp_path / "random.test"
    path.write_text(written.stdout)
    assert wrong(path)[:5] == []
    assert len(results(path)) > 3 * len(results(OPS))


def test_file_is_what_the_reference_says():
    written = subprocess.run([sys.executable, ROOT / "tests" / "ops_reference.py"], capture_output=True, text=True, check=True)
    assert written.stdout == OPS.read_text(), "run: python3 tests/ops_reference.py > tests/ops.test"


GOLDEN = ROOT / "tests" / "hardware" / "ops.test.xz"

# Under a guard that is off, these write all the same on a GPU, which PTX rules out: ptxas 13.0 (sm_90) compares under the guard, but
# then converts what the register holds, old or new, to the destination's type with no guard (set), or forgets the guard (testp).
# The emulator guards them as the manual says. Every other instruction is replayed with its guards.
GUARD_LOST = re.compile(r"set\.\w+(\.(and|or|xor))?(\.ftz)?\.(f32\.\w+|f16\.f16|bf16\.bf16|[us]32\.([usb]|f|bf)16) |testp\.")


@pytest.fixture(scope="module")
def hardware(tmp_path_factory):
    path = tmp_path_factory.mktemp("hardware") / "hardware.test"
    path.write_bytes(lzma.decompress(GOLDEN.read_bytes()))
    assert path.read_text().startswith("# Recorded on NVIDIA ")
    return path


def test_as_the_hardware_says(hardware, tmp_path_factory):
    """What a GPU gave for every instruction with edge values and random ones (make golden), bit for bit or within the stated bound."""
    assert wrong(hardware)[:5] == []
    assert wrong(hardware, plain_library(str(tmp_path_factory.mktemp("plain"))))[:5] == []
    assert len(results(hardware)) == sum(map(len, cases(hardware).values())) > 3 * len(results(OPS))
    assert cases(hardware).keys() == cases(OPS).keys(), "new instructions: make golden records them on a GPU"


def test_guards_that_the_hardware_ignores(hardware):
    """They are the named ones, all of them and no others. It shows where the result is not what the register held: for testp, false.
    (A case whose result was not as expected is recorded for that alone.)"""
    told = re.findall(r"^# (.*): (\d+) of \d+ cases under a guard: written though guarded", hardware.read_text(), re.MULTILINE)
    lost = {instruction: int(count) for instruction, count in told}
    assert lost.keys() == {i for i in cases(hardware) if GUARD_LOST.match(i)}
    lines = lines_of(hardware)
    for instruction, count in lost.items():
        changed = [n for n in cases(hardware)[instruction] if lines[n + 1] != "p=0" and not lines[n + 2].startswith("# the reference says")]
        assert count == len(changed), instruction
    assert (len(lost), sum(lost.values())) == (244, 17001)


def useless_conversions():
    """Integers into a type that holds them all, with .sat; from one float type to the other, to an integer."""
    bits = {f"{sign}{n}": range(-(1 << n - 1), 1 << n - 1) if sign == "s" else range(1 << n) for sign in "us" for n in (8, 16, 32, 64)}
    for target, source in itertools.product(bits, bits):
        if bits[target].start <= bits[source].start and bits[source].stop <= bits[target].stop:
            yield f"cvt.sat.{target}.{source} d, a", int(target[1:]), int(source[1:])
    for mode, (target, source) in itertools.product(["rzi", "rmi", "rpi", "rni"], [("f64", "f32"), ("f32", "f64")]):
        yield f"cvt.{mode}.{target}.{source} d, a", int(target[1:]), int(source[1:])


def test_what_the_hardware_does_not_take(tmp_path):
    """ptxas 13.0 (sm_90) refused these 34 when a GPU was asked; the emulator does so too, and names them."""
    refused = list(useless_conversions())
    path = tmp_path / "refused.test"
    path.write_text("".join(f"{instruction}\na=0x{'1' * (source // 4)}\nd=0x{'1' * max(target // 4, 8)}\n\n" for instruction, target, source in refused))
    done = run(PROGRAMS / "ops_run", path)
    assert done.stdout.count(" not accepted: ") == len(done.stdout.splitlines()) == len(refused) == 34
    assert [i for i, *_ in refused if f"error: no form '{i.split()[0]}' of 'cvt'" not in done.stderr] == []


# What ptxas 13.0 refuses for sm_90, and an assembler of ours must not let pass: a modifier that does not go with the type, two that
# exclude each other, one that is missing.
REFUSED = {
    "cvt.rna.relu.tf32.f32 %r1, %f1": "no form", "cvt.rm.tf32.f32 %r1, %f1": "no form", "cvt.tf32.f32 %r1, %f1": "no form",
    "cvt.sat.f32.bf16 %f1, %h1": "no form", "cvt.sat.f64.bf16 %d1, %h1": "no form", "cvt.rn.sat.bf16.f32 %h1, %f1": "no form",
    "cvt.rzi.s16.bf16 %r1, %h1": "takes a register of 16 bits", "cvt.rn.bf16.u8 %h1, %h2": "takes a register of 8 bits",
    "cvt.f32.f64 %f1, %d1": "no form", "cvt.rn.f64.f32 %d1, %f1": "no form", "cvt.bf16.f32 %h1, %f1": "no form",
    "cvt.rzi.ftz.s32.f64 %r1, %d1": "no form", "fma.f32 %f1, %f2, %f3, %f4": "no form", "div.f64 %d1, %d2, %d3": "no form",
    "sqrt.f32 %f1, %f2": "no form", "rcp.f32 %f1, %f2": "no form", "add.rn.rz.f32 %f1, %f2, %f3": "no form",
    "add.ftz.f64 %d1, %d2, %d3": "no form", "add.sat.f64 %d1, %d2, %d3": "no form", "setp.lt.ftz.s32 %p1, %r1, %r2": "no form",
    "set.lt.ftz.f32.s32 %f1, %r1, %r2": "no form", "set.lt.and.or.u32.s32 %r1, %r2, %r3, %p1": "no form",
    "set.lt.and.u32.s32 %r1, %r2, %r3": "takes 4 operands", "selp.b128 %q1, %q2, %q3, %p1": "no form",
    "atom.shared.add.v2.f32 {%f1, %f2}, [%a1], {%f3, %f4}": "in global memory alone", "atom.global.add.v2.f64 {%d1, %d2}, [%a1], {%d3, %d4}": "no form",
    "red.global.add.v8.f32 [%a1], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}": "no form",
    "red.global.add.v2.f32 [%a1], {%f1, %f2, %f3, %f4}": "takes a vector of 2", "atom.global.add.volatile.u32 %r1, [%a1], %r2": "no form",
    "ld.global.v2.b128 {%q1, %q2}, [%a1]": "at most 16 bytes", "st.global.b128 [%a1], {%d1, %d2}": "takes a .b128 register",
    "mapa.u64 %a1, %a2, %r1": "unknown instruction", "barrier.cluster.arrive": "no form",
}
# The last two the emulator lacks: clusters.
ACCEPTED_BY_PTXAS = {"mapa.u64 %a1, %a2, %r1", "barrier.cluster.arrive"}


def lone(instruction):
    registers = "".join(f".reg .{kind} %{name}<9>; " for kind, name in [("b16", "h"), ("b32", "r"), ("f32", "f"), ("b64", "a"), ("f64", "d"), ("b128", "q"), ("pred", "p")])
    return f"//: launch k block 32\n.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n{registers}\n{instruction};\nret;\n}}\n"


@pytest.mark.parametrize("instruction", REFUSED)
def test_refused_by_name(instruction, tmp_path):
    path = tmp_path / "refused.ptx"
    path.write_text(lone(instruction))
    done = run(PROGRAMS / "ptx_run", path)
    assert done.returncode and REFUSED[instruction] in done.stderr and instruction.split()[0].split(".")[0] in done.stderr, done.stderr


def test_ptxas_refuses_them_too(tmp_path):
    ptxas = Path(os.environ.get("NVCC") or "nvcc").parent / "ptxas"
    ptxas = ptxas if ptxas.exists() else shutil.which("ptxas")
    if not ptxas or "release 13.0" not in subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout:
        pytest.skip("no ptxas of CUDA 13.0")
    accepted = set()
    for instruction in REFUSED:
        path = tmp_path / "refused.ptx"
        path.write_text(lone(instruction))
        if subprocess.run([ptxas, "-arch=sm_90", path, "-o", "/dev/null"], capture_output=True).returncode == 0:
            accepted.add(instruction)
    assert accepted == ACCEPTED_BY_PTXAS


def test_recording_keeps_what_was_expected_and_tells_what_was_not(tmp_path):
    path = tmp_path / "wrong.test"
    path.write_text("add.u32 d, a, b\na=0x00000001 b=0x00000002\nd=0x00000004\n\nsqrt.approx.f32 d, a\na=0x40800000\nd=0x3fffffff..0x40000001\n\n"
                    "frob.u32 d, a\na=0x00000001\nd=0x00000001\n\nst.global.b8 [m], a\nm=0x0000000000000000000000000000ffff a=0x01\n"
                    "m=0x0000000000000000000000000000ff02\n")
    done = run(PROGRAMS / "ops_run", "--record", path)
    assert done.returncode == 0 and "3 instructions, 3 cases, 2 differ from the reference" in done.stderr and "1 instructions not accepted" in done.stderr
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith("#")]
    assert lines[2] == "d=0x00000003" and lines[5] == "d=0x3fffffff..0x40000001" and lines[8] == "m=0x0000000000000000000000000000ff01" and len(lines) == 9
    path.write_text(done.stdout)
    assert wrong(path) == []


def opcodes():
    """Every opcode that a test executes."""
    found = set()
    for instruction in cases(OPS):
        found |= {part.split()[0] for part in instruction.split(";") if part.strip()}
    for path in [*(ROOT / "tests" / "kernels").glob("*.ptx"), *(ROOT / "tests" / "errors").glob("*.ptx")]:
        for line in path.read_text().splitlines():
            match = re.match(r"\s+(?:@!?\S+\s+)?([a-z][\w.:]*)[\s;]", line)
            if match and not line.strip().startswith("."):
                found.add(match[1])
    return found


def rows_without(tested):
    return subprocess.run([PROGRAMS / "rows"], input="\n".join(sorted(tested)) + "\n", capture_output=True, text=True, env=os.environ).stdout.splitlines()


def test_every_row_has_a_case():
    assert rows_without(opcodes()) == [], "rows of common/emulator/ops.def that no test reaches"


def test_a_row_without_a_case_is_found():
    assert rows_without(opcodes() - {"shl.b16", "trap"}) == ["row shl.b16", "row trap"]


def test_a_wrong_expectation_fails(tmp_path):
    """The runner can say no: to a value, to a predicate, to memory, to a write under a guard."""
    path = tmp_path / "wrong.test"
    path.write_text("add.u32 d, a, b\na=0x00000001 b=0x00000002\nd=0x00000004\n\nsetp.lt.u32 p, a, b\na=0x00000001 b=0x00000002\np=0\n\n"
                    "st.global.u32 [m], a\nm=0x00000001 a=0x00000002\nm=0x00000001\n\nfrob.u32 d, a\na=0x00000001\nd=0x00000001\n\n"
                    "sqrt.rn.f32 d, a\na=0x40800000\nd=0x3f800000..0x3fffffff\n")
    assert len(wrong(path)) == 5


@pytest.mark.gpu
def test_on_a_gpu():
    done = run(PROGRAMS / "ops_run", OPS, LD_LIBRARY_PATH=os.environ.get("CUDART_DIR", ""), timeout=900)
    verdicts = [line.split(" ", 1) for line in done.stdout.splitlines()]
    lines = lines_of(OPS)
    bad = [f"{lines[int(n) - 1]}: {lines[int(n)]}: {text}" for n, text in verdicts
           if text != "ok" and not (text.startswith("written though guarded") and GUARD_LOST.match(lines[int(n) - 1]))]
    assert verdicts and bad == []
