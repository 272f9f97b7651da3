"""The steps' kernels and those of tests/hardware/kernels.cu, whose counters Nsight Compute recorded on an H200, are the same machine
code to the byte. So what it recorded for r0 … r7 is what it counts for steps 0 … 7 (a counter depends on the code, the launch and
n, not on the data)."""
import os
import struct
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import ROOT, STEPS, run

SECTION = struct.Struct("<IIQQQQIIQQ")  # an ELF64 section header


def kernels(cubin):
    """{mangled name: machine code} of a cubin, an ELF file with one .text section a kernel."""
    data = cubin.read_bytes()
    at, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [SECTION.unpack_from(data, at + i * size) for i in range(count)]
    start = headers[names][4]
    found = {data[start + h[0]:data.index(b"\0", start + h[0])].decode(): data[h[4]:h[4] + h[5]] for h in headers}
    return {name[len(".text."):]: code for name, code in found.items() if name.startswith(".text.")}


def compiled(source, out):
    done = run(os.environ.get("NVCC", "nvcc"), "-O3", "-lineinfo", "-arch=sm_90", "-DTYPE_int", "-Icommon", "-cubin", "-o", out, source)
    assert done.returncode == 0, done.stderr
    return kernels(out)


@pytest.mark.slow
def test_steps_are_the_recorded_kernels(tmp_path):
    sources = [ROOT / "tests/hardware/kernels.cu"] + [ROOT / step / "reduce.cu" for step in STEPS[:8]]
    with ThreadPoolExecutor(2) as pool:
        recorded, *steps = pool.map(compiled, sources, [tmp_path / f"{i}.cubin" for i in range(len(sources))])
    for number, step in enumerate(steps):
        assert len(step) == (6 if number == 7 else 1)
        for name, code in step.items():
            twin = name.replace("6reduce", f"2r{number}")
            assert len(code) > 500 and code == recorded[twin], f"step {number}: {name} is not the code of {twin}"
