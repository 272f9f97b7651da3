#!/usr/bin/env python3
"""Builds and runs programs from outside on the emulator and prints a table, as `make outside SAMPLES=FOLDER` does. FOLDER is a checkout of
NVIDIA's cuda-samples, of which nothing is in this repository but the names below; every sample must stand under one of them. Without
SAMPLES it runs the programs of tests/outside alone: our own calls to CUB, Thrust and cooperative groups, which come with the toolkit.

Status 0: every program did what is expected of it, those that cannot run included, which have to say why. Else 1."""
import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("0_Introduction", "1_Utilities", "2_Concepts_and_Techniques", "3_CUDA_Features", "5_Domain_Specific", "6_Performance")

# Those that use the runtime API and nothing that is left out: name, options that make it shorter (the sample's own).
SAMPLES = """
asyncAPI clock cudaOpenMP fp16ScalarProduct simpleAWBarrier simpleAssert simpleAtomicIntrinsics simpleAttributes
simpleCallback simpleCooperativeGroups simpleHyperQ simpleMultiCopy simpleMultiGPU simpleOccupancy simplePrintf simpleStreams
simpleTemplates simpleVoteIntrinsics simpleZeroCopy systemWideAtomics template vectorAdd mergeSort
deviceQuery topologyQuery
MC_EstimatePiInlineP MC_SingleAsianOptionP convolutionSeparable histogram inlinePTX interval radixSortThrust reduction scalarProd scan
segmentationTreeThrust shfl_scan sortingNetworks streamOrderedAllocation threadFenceReduction
StreamPriorities binaryPartitionCG newdelete warpAggregatedAtomicsCG
BlackScholes binomialOptions dwtHaar1D dxtc fastWalshTransform p2pBandwidthLatencyTest quasirandomGenerator
LargeKernelParameter alignedTypes
""".split()
SHORTER = {
    "matrixMul": "-wA=128 -hA=128 -wB=128 -hB=128",
    "globalToShmemAsyncCopy": "-wA=128 -hA=128 -wB=128 -hB=128",
    "eigenvalues": "--iters-timing=1",
    "reductionMultiBlockCG": "--n=1048576",
    "FDTD3d": "--dimx=96 --dimy=96 --dimz=96 --timesteps=3",
    "SobolQRNG": "--vectors=10000 --dimensions=20",
    "transpose": "--dimX=256 --dimY=256",
}
DEVICES = {"simpleP2P": 2, "streamOrderedAllocationP2P": 2, "simpleMultiGPU": 2, "topologyQuery": 2, "cudaOpenMP": 2, "p2pBandwidthLatencyTest": 2}

# Those that use the runtime API and need what the emulator lacks: what they or it have to say then.
GRAPHS = "The emulator has no cuda"
LINKED = "leaves no PTX"
WAITS = "the kernel never ends"
TOO_LONG = ["simpleAttributes"]  # 65535 blocks that read at random all over 240 MB: not done in 600 s on a loaded machine
WAIVES = "p2p capable|Peer to Peer access is not available"
LACKING = {"CUDA graphs": (GRAPHS, "graphConditionalNodes graphMemoryFootprint graphMemoryNodes jacobiCudaGraphs simpleCudaGraphs cudaGraphsPerfScaling".split()),
           "kernels launched by kernels (dynamic parallelism)":
           (LINKED, "cdpAdvancedQuicksort cdpBezierTessellation cdpQuadtree cdpSimplePrint cdpSimpleQuicksort".split()),
           "a kernel that waits for what the host does after the launch": (WAITS, ["UnifiedMemoryPerf"]),
           "access of one GPU to another's memory, which emulated devices say they have not": (WAIVES, ["simpleP2P", "streamOrderedAllocationP2P"])}
FAILS = {"simpleAssert": "assertion failed"}
SETTINGS = {"UnifiedMemoryPerf": {"EMULATOR_TIMEOUT": "10000000"}}

# Those that are not for a runtime API alone, each under the first reason that holds.
EXCLUDED = {
    "the driver API (cu...)": """matrixMulDrv matrixMulDynlinkJIT simpleDrvRuntime simpleTextureDrv vectorAddDrv vectorAddMMAP deviceQueryDrv
        EGLStream_CUDA_CrossGPU EGLStream_CUDA_Interop threadMigration cudaCompressibleMemory memMapIPCDrv ptxjit simpleVulkanMMAP
        streamOrderedAllocationIPC""",
    "NVRTC": """clock_nvrtc matrixMul_nvrtc simpleAssert_nvrtc simpleAtomicIntrinsics_nvrtc vectorAdd_nvrtc inlinePTX_nvrtc BlackScholes_nvrtc
        binomialOptions_nvrtc quasirandomGenerator_nvrtc""",
    "OpenGL, Vulkan or Direct3D": """simpleCUDA2GL simpleTexture3D FunctionPointers boxFilter imageDenoising particles bindlessTexture Mandelbrot
        SobelFilter bicubicTexture bilateralFilter fluidsGL marchingCubes nbody postProcessGL recursiveGaussian simpleD3D11 simpleD3D11Texture
        simpleD3D12 simpleGL simpleVulkan smokeParticles volumeFiltering volumeRender vulkanImageCUDA""",
    "textures or surfaces": """simpleCubemapTexture simpleLayeredTexture simplePitchLinearTexture simpleSurfaceWrite simpleTexture
        convolutionTexture dct8x8 HSOpticalFlow NV12toBGRandResize stereoDisparity convolutionFFT2D""",
    "tensor cores": "bf16TensorCoreGemm cudaTensorCoreGemm dmmaTensorCoreGemm immaTensorCoreGemm tf32TensorCoreGemm",
    "cuBLAS or the cuRAND library": "UnifiedMemoryStreams MC_EstimatePiP MC_EstimatePiQ MC_EstimatePiInlineQ MonteCarloMultiGPU",
    "several processes": "simpleIPC simpleMPI",
}

SAID = re.compile(r"PASS|[Tt]est [Pp]assed|Test [Ss]ucce|Success|returned OK|: 0 Failures|CheckSum: 2073600, \(expect|OK$", re.MULTILINE)
WRONG = re.compile(r"FAIL|[Tt]est failed|NOT OK|error!|MISMATCH", re.MULTILINE)
NOT_HAD = re.compile(r"The emulator has no \w+|^fault: |unknown instruction|no form '|no PTX", re.MULTILINE)


def samples(folder):
    """{name: its folder} of every sample in the folders that are looked at."""
    return {path.name: path for part in FOLDERS for path in sorted((folder / "Samples" / part).glob("*/")) if path.is_dir()}


def sort_out(found):
    """What is wrong with the lists above for this checkout: a sample nobody has looked at, or one listed twice."""
    listed = [*SAMPLES, *SHORTER, *(n for _, names in LACKING.values() for n in names), *(n for names in EXCLUDED.values() for n in names.split())]
    return [f"{n} is listed twice" for n in sorted({n for n in listed if listed.count(n) > 1})] + \
           [f"{n} is not listed in tests/outside.py" for n in sorted(found.keys() - set(listed))] + \
           [f"{n} is listed and not there" for n in sorted(set(listed) - found.keys())]


def flags(arch):
    return ["-O2", "-std=c++17", "-lineinfo", "--extended-lambda", "-w", "-gencode", f"arch=compute_{arch},code=compute_{arch}", "-cudart", "shared", "--compress-mode=none"]


def build_sample(nvcc, arch, source, to, common):
    """Builds a copy, so that what the sample writes beside itself stays out of the checkout. Returns what nvcc said if it failed."""
    program = to / "program"
    if not program.exists():
        shutil.copytree(source, to, dirs_exist_ok=True)
        files = re.search(r"add_executable\(\s*" + re.escape(source.name) + r"\s([^)]*)\)", (to / "CMakeLists.txt").read_text()).group(1).split()
        extra = ["-Xcompiler", "-fopenmp"] if source.name == "cudaOpenMP" else ["-rdc=true", "-lcudadevrt"] if source.name.startswith("cdp") else []
        done = subprocess.run([nvcc, *flags(arch), *extra, "-I", common, "-I", ".", "-I", "inc", *(f for f in files if f.endswith((".cu", ".cpp", ".c"))),
                               "-o", "program"], cwd=to, capture_output=True, text=True)
        if done.returncode:
            return (done.stdout + done.stderr).strip().splitlines()[-1]
    return None


def run(program, arguments, limit, **environment):
    """Status ("time" when it took too long), stdout and stderr, seconds."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("EMULATOR_")}
    start = time.monotonic()
    try:
        done = subprocess.run([ROOT / "emulate", program, *arguments], cwd=program.parent, env=clean | environment, capture_output=True, timeout=limit)
        status, texts = done.returncode, (done.stdout, done.stderr)
    except subprocess.TimeoutExpired as expired:
        status, texts = "time", (expired.stdout or b"", expired.stderr or b"")
    return status, *(text.decode(errors="replace") for text in texts), time.monotonic() - start


def judge(status, out, err, fails=""):
    """(did it run right, what to write in the table). `fails`: what has to fail in it, as it is there to show that."""
    lacking = NOT_HAD.search(err)
    if lacking and fails and fails in err:
        lacking = None
    if lacking:
        return False, err[lacking.start():].splitlines()[0][:160]
    if status == "time":
        return False, "did not end in time"
    if status:
        return False, f"status {status}: {((err or out).strip().splitlines() or ['nothing said'])[-1][:120]}"
    if WRONG.search(out):
        return False, f"it says {WRONG.search(out).group(0)}"
    return True, "it says that it passed" if SAID.search(out) else "status 0"


class Table:
    def __init__(self):
        self.unexpected = []
        self.right = self.lacking = 0
        print("| program | | seconds |\n|---|---|---:|", flush=True)

    def row(self, name, right, text, seconds, expected=True):
        print(f"| {name} | {text} | {seconds:.1f} |", flush=True)
        self.right += right
        if right != expected:
            self.unexpected.append(name)


def run_samples(options, table, wanted):
    found = samples(options.samples)
    problems = sort_out(found)
    if not found or problems:
        sys.exit("\n".join(problems) or f"{options.samples} is no checkout of cuda-samples: there are no Samples in it")
    lacking = {name: (why, said) for why, (said, names) in LACKING.items() for name in names}
    for name, path in found.items():
        if name not in wanted(SAMPLES) + wanted(SHORTER) + wanted(lacking):
            continue
        to = options.build / name
        problem = build_sample(options.nvcc, options.arch, path, to, options.samples / "Common")
        if problem:
            table.row(name, False, f"does not build: {problem}", 0)
            continue
        arguments = SHORTER.get(name, "").split()
        status, out, err, seconds = run(to / "program", arguments, options.limit, EMULATOR_DEVICES=str(DEVICES.get(name, 1)), **SETTINGS.get(name, {}))
        right, text = judge(status, out, err, FAILS.get(name, ""))
        label = " ".join([name, *arguments]) + (f" ({DEVICES[name]} devices)" if name in DEVICES else "")
        if name in lacking:
            why, said = lacking[name]
            says = re.search(said, out + err) is not None
            table.lacking += not right and says
            table.row(label, right, f"does not: {why}" if says else text, seconds, expected=False)
            if not right and not says:
                table.unexpected.append(name)
        else:
            table.row(label, right, text, seconds, expected=right if name in TOO_LONG and status == "time" else True)


def run_own(options, table, wanted):
    """Our programs that call the toolkit's headers, for three targets, with the usual check and with all."""
    for source in sorted((ROOT / "tests" / "outside").glob("*.cu")):
        for arch in options.archs if wanted([source.stem]) else []:
            program = options.build / f"{source.stem}.{arch}"
            if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
                done = subprocess.run([options.nvcc, *flags(arch), source, "-o", program], capture_output=True, text=True)
                if done.returncode:
                    table.row(f"{source.stem}, compute_{arch}", False, "does not build: " + (done.stdout + done.stderr).splitlines()[0], 0)
                    continue
            for check in ("sync", "all"):
                status, out, err, seconds = run(program, [], options.limit, EMULATOR_CHECK=check)
                right = status == 0 and out.splitlines()[-1:] == ["got=ok"] and not err
                text = "right" if right else judge(status, out, err)[1] if status else f"printed {(out + err).splitlines()[-1:]}"
                table.row(f"{source.stem}, compute_{arch}, EMULATOR_CHECK={check}", right, text, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=Path, help="a checkout of NVIDIA's cuda-samples")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "outside")
    parser.add_argument("--arch", default="80", help="the target of the samples, 80 for compute_80")
    parser.add_argument("--archs", type=lambda text: text.split(","), default=["75", "80", "90"], help="the targets of our own programs")
    parser.add_argument("--limit", type=float, default=600, help="seconds that one program may take")
    parser.add_argument("--only", type=lambda text: text.split(","), help="these programs alone, by name, with commas")
    options = parser.parse_args()
    options.build.mkdir(parents=True, exist_ok=True)
    if options.samples:
        options.samples = options.samples.resolve()

    def wanted(names):
        return [n for n in names if not options.only or n in options.only]

    table = Table()
    if options.samples:
        run_samples(options, table, wanted)
    run_own(options, table, wanted)
    excluded = ", ".join(f"{len(names.split())} for {why}" for why, names in EXCLUDED.items())
    print(f"\n{datetime.date.today()}: {table.right} right, {table.lacking} lack what they need and say so."
          + (f" Left out: {excluded}." if options.samples else ""))
    if table.unexpected:
        sys.exit(f"not as expected: {', '.join(table.unexpected)}")


if __name__ == "__main__":
    main()
