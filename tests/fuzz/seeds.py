"""What the fuzzers begin with: seeds.py OUT [NVCC [OPS_RUN]] writes OUT/ptx, OUT/fatbin and OUT/dictionary.

The PTX is that of the other tests (of ops.test, given the program that makes kernels of it) and, given a compiler, of the steps and
of seeds.cu; fatbinaries are put together here. The dictionary is every name that ops.def, ptx.h and the parser spell."""
import io
import os
import re
import struct
import subprocess
import sys
import tarfile
from multiprocessing.pool import ThreadPool
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EMULATOR = ROOT / "common" / "emulator"
PTX, ELF = 1, 2
LZ4, ZSTD = 0x2000, 0x8000


def words():
    """Words of PTX as the emulator's own tables have them."""
    table = (EMULATOR / "ops.def").read_text()
    found = set(re.findall(r'^[A-Z0-9]+\(\w+,\s*"=?([a-z0-9_.:]+)"', table, re.M))
    found |= {"." + t for t in re.findall(r"X\((\w+), \d+\)", (EMULATOR / "ptx.h").read_text())}
    found |= set(re.findall(r'"(%[a-z0-9_.]+)"', (EMULATOR / "ptx.h").read_text()))
    found |= set(re.findall(r'"(\.[a-z_]\w*|%\w+|sm_|WARP_SZ|generic)"', (EMULATOR / "ptx_parse.c").read_text()))
    found |= {"." + m for m in re.findall(r'\{"([a-z0-9_:]+)", ALLOW_', (EMULATOR / "ops.c").read_text())}
    found |= {"0f3F800000", "0d3FF0000000000000", "18446744073709551615", "-9223372036854775808", "1099511627776", "%r<5>;", "@!%p1 ",
              "\nret;\n", "$L1:\n", "[%rd1+4]", "{%r1, %r2}", "\n}\n", ".entry k()\n{\n"}
    return sorted(found)


def quoted(word):
    return "".join(c if c.isalnum() or c in " .%_:$<>;@![]{}(),+-" else f"\\x{ord(c):02x}" for c in word)


def entry(kind, payload, target=75, flags=0, header=64):
    head = struct.pack("<HHIQ", kind, 0x101, header, len(payload)).ljust(28, b"\0") + struct.pack("<I", target)
    return (head.ljust(40, b"\0") + struct.pack("<Q", flags)).ljust(header, b"\0") + payload


def container(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def fatbinaries():
    text = b".version 9.0\n.target sm_75\n.address_size 64\n\0\0\0"
    return {
        "one": container(entry(PTX, text)),
        "padding_only": container(entry(PTX, b"\0" * 8)),
        "machine_code": container(entry(ELF, b"\x7fELF" + b"\0" * 12)),
        "both": container(entry(ELF, b"\x7fELF" + b"\0" * 12, 90), entry(PTX, text, 80), entry(PTX, text, 75)),
        "compressed": container(entry(PTX, text, 75, LZ4), entry(PTX, text, 80, ZSTD)),
        "too_new": container(entry(PTX, text, 100)),
        "long_header": container(entry(PTX, text, 75, 0, 72)),
        "two_containers": container(entry(ELF, b"\0" * 8)) + container(entry(PTX, text)),
        "none_inside": container(),
        "cut": container(entry(PTX, text))[:70],
        "sizes_lie": struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 2**64 - 8) + entry(PTX, text),
        "payload_lies": container(entry(PTX, text))[:24] + struct.pack("<Q", 2**64 - 64) + entry(PTX, text)[16:],
    }


def instructions(ops_run):
    """A kernel for each instruction of ops.test, a few in a module."""
    text = subprocess.run([ops_run, "--ptx", ROOT / "tests" / "ops.test"], check=True, stdout=subprocess.PIPE, text=True).stdout
    head, *kernels = re.split(r"(?=^\.visible \.entry )", text, flags=re.M)
    kernels = [k for k in kernels if k.startswith(".visible .entry full")]
    return {f"ops_{i}.ptx": head + "".join(kernels[i:i + 8]) for i in range(0, len(kernels), 8)}


def compiled(nvcc, path, options):
    command = [nvcc, "-std=c++17", "-I", ROOT / "common", "-DTYPE_int", '-DSTEP_NAME="s"', '-DSTEP_BEFORE=""', '-DSTEP_WATCH=""', *options]
    subprocess.run([str(c) for c in [*command, "-o", path]], check=True)


def main():
    out, nvcc, ops_run = Path(sys.argv[1]), *(sys.argv[2:4] + ["", ""])[:2]
    for folder in ("ptx", "fatbin"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    (out / "dictionary").write_text("".join(f'"{quoted(w)}"\n' for w in words()))
    for name, data in fatbinaries().items():
        (out / "fatbin" / name).write_bytes(data)
    for path in [*ROOT.glob("tests/kernels/*.ptx"), *ROOT.glob("tests/errors/*.ptx")]:
        (out / "ptx" / f"{path.parent.name}_{path.name}").write_bytes(path.read_bytes())
    for name, text in (instructions(ops_run) if ops_run else {}).items():
        (out / "ptx" / name).write_text(text)
    for kind in ("ptx", "fatbin"): # what earlier runs found worth keeping
        archive = HERE / f"{kind}.tar.xz"
        if archive.exists():
            with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as tar:
                for member in tar.getmembers():
                    (out / kind / Path(member.name).name).write_bytes(tar.extractfile(member).read())
    if not nvcc:
        return
    jobs = {out / "ptx" / f"seeds_{name}.ptx": ["-ptx", *options, HERE / "seeds.cu"]
            for name, options in {"plain": ["-arch=compute_75"], "hopper": ["-arch=compute_90"], "lines": ["-arch=compute_75", "-lineinfo"],
                                  "debug": ["-arch=compute_75", "-G"]}.items()}
    jobs |= {out / "ptx" / f"{step.parent.name}.ptx": ["-ptx", "-arch=compute_75", "-lineinfo", step] for step in ROOT.glob("step*_*/reduce.cu")}
    jobs |= {out / "fatbin" / f"seeds_{mode}": ["-fatbin", f"--compress-mode={mode}", "-gencode", "arch=compute_75,code=compute_75",
                                                HERE / "seeds.cu"] for mode in ("none", "size")}
    with ThreadPool(os.cpu_count() or 2) as pool:
        pool.starmap(compiled, [(nvcc, path, options) for path, options in jobs.items()])


if __name__ == "__main__":
    main()
