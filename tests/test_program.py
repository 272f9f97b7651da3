"""What programs see of the emulator: the symbols they ask for, and ./emulate."""
import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, STEPS, need, run

LIBRARY = BUILD / "emulator" / "libcudart.so.13"


def symbols(path, *options):
    done = subprocess.run([need("nm"), *options, path], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in done.stdout.splitlines() if line.strip()}


def exported():
    return {s.split("@")[0] for s in symbols(LIBRARY, "-D", "--defined-only")}


def wanted(path):
    return {s.split("@")[0] for s in symbols(path, "-D", "-u") if re.match(r"_*cuda", s)}


@pytest.mark.parametrize("name", STEPS)
def test_every_symbol_of_a_step_is_there(name):
    needed = wanted(ROOT / name / "run")
    assert needed and needed <= exported()


SOURCE = """#include <cstdio>
__device__ int counter = 40;
__constant__ int two[1] = {2};
__managed__ int managed = 7;
__global__ void add() { counter += two[0]; managed++; }
int main() {
    int got = 0;
    add<<<1, 1>>>();
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&got, counter, sizeof got);
    printf("%d %d %s\\n", got, managed, cudaGetErrorName(cudaGetLastError()));
}
"""


@pytest.mark.parametrize("options", [["-O0"], ["-O3"], ["-G"], ["-O3", "--default-stream", "per-thread"]], ids=" ".join)
def test_program_built_elsewhere_runs(tmp_path, options):
    source, program = tmp_path / "program.cu", tmp_path / "program"
    source.write_text(SOURCE)
    command = [os.environ.get("NVCC") or need("nvcc"), *options, "-cudart", "shared", "--compress-mode=none", "-gencode", "arch=compute_75,code=compute_75"]
    built = subprocess.run([*command, source, "-o", program], capture_output=True, text=True)
    if "cannot find -lcudart" in built.stderr:  # the wheels bring NVIDIA's runtime without its name for the linker
        built = subprocess.run([*[c for c in command if c not in ("-cudart", "shared")], "-cudart", "none", source, LIBRARY, "-o", program], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert wanted(program) <= exported()
    done = run(ROOT / "emulate", program)
    assert (done.returncode, done.stdout) == (0, "42 8 cudaSuccess\n"), done.stderr


ADDS = "__device__ int add(int a) { return a + 1; }\n"
USES = """#include <cstdio>
OTHER
__global__ void child(int *p) { *p = add(6); }
__global__ void parent(int *p) { KERNEL }
int main() {
    int *p, got = 0;
    cudaMalloc(&p, sizeof got);
    parent<<<1, 1>>>(p);
    cudaMemcpy(&got, p, sizeof got, cudaMemcpyDeviceToHost);
    printf("%d %s\\n", got, cudaGetErrorName(cudaGetLastError()));
}
"""
CALLS, LAUNCHES = "*p = add(6);", "child<<<1, 1>>>(p);"


def uses_built(folder, other, kernel, *options):
    (folder / "adds.cu").write_text(ADDS)
    (folder / "uses.cu").write_text(USES.replace("OTHER", other).replace("KERNEL", kernel))
    command = [os.environ.get("NVCC") or need("nvcc"), "-w", "-cudart", "shared", "--compress-mode=none", *options, "-o", "uses"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if "cannot find" in built.stderr:
        pytest.skip("this toolkit has no library to link with")
    assert built.returncode == 0, built.stderr
    return run(ROOT / "emulate", folder / "uses")


@pytest.mark.parametrize("target", ["arch=compute_80,code=sm_80", "arch=compute_80,code=compute_80"])
@pytest.mark.parametrize("kernel", [CALLS, LAUNCHES])
def test_program_linked_without_ptx_says_so(tmp_path, target, kernel):
    done = uses_built(tmp_path, "__device__ int add(int a);", kernel, "uses.cu", "adds.cu", "-rdc=true", "-lcudadevrt", "-gencode", target)
    assert done.stdout == "0 cudaErrorNoKernelImageForDevice\n"
    assert done.stderr.startswith("uses: the program was linked with nvcc -rdc=true") and done.stderr.count("\n") == 1
    assert "build it without" in done.stderr and "Kernels that launch kernels" in done.stderr and "are not emulated" in done.stderr


def test_what_the_message_of_linked_programs_advises_helps(tmp_path):
    done = uses_built(tmp_path, '#include "adds.cu"', CALLS, "uses.cu", "-gencode", "arch=compute_80,code=compute_80")
    assert (done.stdout, done.stderr) == ("7 cudaSuccess\n", "")


def test_every_symbol_of_nvidias_runtime_is_there():
    theirs = Path(os.environ.get("CUDART_DIR", "/nowhere")) / "libcudart.so.13"
    if not theirs.exists():
        pytest.skip("NVIDIA's libcudart.so.13 not found")
    names = {s.split("@")[0] for s in symbols(theirs, "-D", "--defined-only") if re.match(r"_*cuda", s)}
    assert len(names) > 300 and names - exported() == set()


def test_emulate_says_what_is_wrong(tmp_path):
    assert run(ROOT / "emulate").returncode == 2
    missing = run(ROOT / "emulate", "/no/such/program")
    assert missing.returncode == 2 and "there is no program" in missing.stderr
    text = tmp_path / "text"
    text.write_text("hello")
    assert "not an executable file" in run(ROOT / "emulate", text).stderr


def test_make_help_names_every_target_a_person_asks_for():
    said = run(need("make"), "help").stdout
    for target in "run test step3 diff3 diffs plot figures docs report notebook doctor sanitize lint bench-emulator test-gpu test-slow accept coverage clean".split():
        assert re.search(rf"^make {target}\b", said, re.M), target


def test_makefile_lists_the_steps_there_are():
    assert run("make", "-s", "print-steps").stdout.split() == STEPS
