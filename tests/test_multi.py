"""Step 12 without GPUs: emulated devices and ranks, combined on the host; a NCCL of our own for the calls; and what happens when one dies."""
import csv
import itertools
import os
import re
import signal
import socket
import subprocess
import time

import pytest
from conftest import PROGRAMS, ROOT, run

TYPES = ["int", "float", "double"]
NUMBERS = itertools.count()
COMBINED = "combined: on the host: emulated devices have no NCCL"


def program(kind="int"):
    return PROGRAMS / "multi" / kind / "run"


def multi(*options, kind="int", devices=4, **environment):
    return run(program(kind), *options, "--device", "emulator", EMULATOR_DEVICES=devices, **environment)


def start_ranks(size, *options, local=None, kind="int", last=()):
    """What mpirun does, as far as the program can see."""
    job = f"test{os.getpid()}.{next(NUMBERS)}"
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("EMULATOR_", "OMPI_", "PMIX_"))}
    return [subprocess.Popen([program(kind), *options, *(last if rank == size - 1 else ()), "--device", "emulator"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
                             env=clean | {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(size), "OMPI_COMM_WORLD_LOCAL_RANK": str(rank % (local or size)),
                                          "OMPI_COMM_WORLD_LOCAL_SIZE": str(local or size), "PMIX_NAMESPACE": job, "EMULATOR_THREADS": "1"})
            for rank in range(size)]


def ends(ranks, within=30):
    """(status, stdout, stderr) of each; a rank that hangs fails the test."""
    end = time.monotonic() + within
    try:
        return [(r.wait(max(0.1, end - time.monotonic())), *r.communicate()) for r in ranks]
    finally:
        for r in ranks:
            r.kill()


# ---- one process ----
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("devices", range(1, 9))
def test_any_number_of_devices_and_elements(kind, devices):
    done = multi("--n", "0,1,3,7,1000003,2^20+7", kind=kind, devices=devices)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(re.findall(rf" on {devices} devices?, .*\nsum: .* verified: every shard's sum", done.stdout)) == 6
    assert (COMBINED if devices > 1 else "one emulated device, nothing to combine") in done.stdout


def test_the_sum_is_that_of_step_11():
    ours = multi("--n", "1000003", "--seed", "7").stdout
    step11 = run(ROOT / "step11_onepass" / "run", "--n", "1000003", "--seed", "7", "--device", "emulator").stdout
    assert re.search(r"sum: +(\d+)", ours)[1] == re.search(r"sum: +(\d+)", step11)[1]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("place", ["host", "overlap"])
def test_numbers_that_start_on_the_host(kind, place):
    """A chunk of 1 MiB is smaller than a shard, with an odd end; 2^20 ints on 2 devices are a whole number of chunks."""
    done = multi("--n", "0,1,5,2^20,1000003", "--from", place, "--chunk", "1", kind=kind, devices=2)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.count("verified") == 5


@pytest.mark.parametrize("schedule", ["ordered", "reversed", "random:3"])
def test_no_finding_in_any_order(schedule):
    done = multi("--n", "0-5,100003,300000", "--block", "32,1024", "--from", "overlap", "--chunk", "1", "--quiet", EMULATOR_CHECK="all", EMULATOR_SCHEDULE=schedule)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_csv_has_the_devices_and_no_time(tmp_path):
    assert multi("--n", "5,1000", "--quiet", "--csv", tmp_path / "out.csv").returncode == 0
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    assert [(r["step"], r["n"], r["devices"], r["verified"], r["median_us"], r["collective_us"]) for r in rows] == [("step12_multigpu", n, "4", "yes", "", "") for n in ("5", "1000")]


BAD = {
    "--devices 0": "whole number from 1 to 64", "--devices two": "whole number from 1 to 64", "--chunk=": "from 1 to 1024", "--from disk": "allowed are device, host and overlap",
    "--chunk 0": "from 1 to 1024", "--chunk 2000": "from 1 to 1024", "--wait -1": "from 1 to 86400", "--alloc managed": "for the steps of one device", "--frobnicate": "unknown option",
}


@pytest.mark.parametrize("options", BAD)
def test_bad_input_gets_one_sentence(options):
    done = multi(*options.split())
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1) and BAD[options] in done.stderr


def test_more_devices_than_there_are():
    done = multi("--devices", "5", "--n", "10")
    assert done.returncode == 3 and done.stderr == "step12_multigpu: --devices 5: there are 4; EMULATOR_DEVICES says how many are emulated, 1 to 16\n"
    assert " on 3 devices," in multi("--devices=3", "--n", "10").stdout


def test_memory_that_is_not_there():
    done = multi("--n", "2^39", "--quiet")
    assert done.returncode == 3 and re.fullmatch(r"step12_multigpu: the run needs .* GiB of memory on the .*\n", done.stderr)


# ---- ranks ----
@pytest.mark.parametrize("kind", TYPES)
def test_ranks_give_the_same_sum(kind):
    done = ends(start_ranks(3, "--n", "1,1000003", kind=kind))
    assert [(status, err) for status, _, err in done] == [(0, "")] * 3 and [out for _, out, _ in done[1:]] == ["", ""]
    sums = [re.findall(r"sum: +([\d.e+]+)", out) for out in (done[0][1], multi("--n", "1,1000003", kind=kind, devices=3).stdout)]
    assert sums[0] == sums[1] and len(sums[0]) == 2 and COMBINED in done[0][1]


def test_ranks_of_several_hosts_meet_by_tcp():
    assert "--meet HOST:PORT has to say where" in ends(start_ranks(2, "--n", "10", local=1))[0][2]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert [status for status, _, _ in ends(start_ranks(4, "--n", "10", "--meet", f"127.0.0.1:{port}", local=2))] == [0] * 4


@pytest.mark.parametrize("victim", [0, 1, 2])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_rank_that_dies_ends_all(victim, how):
    ranks = start_ranks(3, "--n", "2^24", "--wait", "2")
    ranks[0].stdout.readline(), ranks[0].stdout.readline()  # the second comes when all have joined
    ranks[victim].send_signal(how)
    others = ends([r for i, r in enumerate(ranks) if i != victim])
    ranks[victim].kill()
    ranks[victim].communicate()
    assert [status for status, _, _ in others] == [3, 3]
    said = f"rank {victim} has " + ("ended" if how == signal.SIGKILL else "said nothing for 2 seconds")
    assert any(said in err for _, _, err in others) and all("the run ends" in err for _, _, err in others)


def test_a_rank_that_never_comes():
    ranks = start_ranks(3, "--n", "10", "--wait", "1")
    ranks[2].kill()
    others = ends(ranks[:2])
    ranks[2].communicate()
    assert [status for status, _, _ in others] == [3, 3] and "the run ends" in others[0][2]


def test_one_rank_alone():
    assert ends(start_ranks(1, "--n", "10"))[0][0] == 0
    assert run(program(), "--n", "10", "--devices").stderr == "step12_multigpu: --devices needs a value; --help says which\n"


def test_ranks_that_disagree():
    done = ends(start_ranks(3, "--n", "10", "--wait", "2", last=("--seed", "2")))
    assert [status for status, _, _ in done] == [3, 3, 3] and "rank 2 has another type, device" in done[0][2]
    done = run(program(), "--n", "10", "--device", "emulator", OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="2")
    assert done.returncode == 2 and "mpirun sets ranks from 0" in done.stderr
    done = run(program(), "--devices", "2", "--device", "emulator", OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="0")
    assert done.returncode == 2 and "under mpirun the number of processes says how many" in done.stderr


# ---- NCCL's calls, with a NCCL of our own ----
def with_nccl(mode, *options, **more):
    return multi("--n", "1000003", *options, REDUCTION_NCCL=PROGRAMS / "fake_nccl.so", FAKE_NCCL=mode, **more)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("devices", [1, 3])
def test_nccl_combines_and_multicast_is_off(kind, devices):
    done = with_nccl("", kind=kind, devices=devices, NCCL_NVLS_ENABLE="1")
    assert (done.returncode, done.stderr) == (0, "") and "combined: by NCCL 2.99.1" in done.stdout


def test_a_wrong_collective_is_refused():
    done = with_nccl("wrong")
    assert done.returncode == 1 and len(re.findall(r"the whole sum on device \d is wrong: got 498977220, want 498977219", done.stderr)) == 4


def test_the_collective_alone():
    for kind in ("int", "float"):
        done = with_nccl("", "--n", "0,1,1000", "--collective", kind=kind)
        assert (done.returncode, done.stderr) == (0, "") and re.findall(r"all-reduce of (\d+) numbers, (\d+) bytes, on 4 devices: verified\n", done.stdout) == [("0", "0"), ("1", "8"), ("1000", "8000")]
    assert with_nccl("wrong", "--n", "10", "--collective").returncode == 1
    done = multi("--n", "10", "--collective")
    assert done.returncode == 3 and "--collective needs NCCL" in done.stderr


def test_an_error_behind_our_back_aborts_and_ends():
    done = with_nccl("error")
    assert done.returncode == 3 and done.stderr.count("aborted") == 4 and "the collective: remote process exited" in done.stderr


def test_a_start_that_hangs_ends():
    done = with_nccl("hang", "--wait", "1")
    assert done.returncode == 3 and done.stderr == "rank 0: NCCL's start took more than 1 seconds (--wait allows more); the run ends\n"


def test_a_rank_that_dies_while_the_others_wait_in_nccl():
    os.environ["REDUCTION_NCCL"] = str(PROGRAMS / "fake_nccl.so")
    try:
        ranks = start_ranks(3, "--n", "1000", "--wait", "20")
    finally:
        del os.environ["REDUCTION_NCCL"]
    ranks[0].stdout.readline(), ranks[0].stdout.readline()
    time.sleep(0.3)
    ranks[1].kill()
    others = ends([ranks[0], ranks[2]], within=5)
    ranks[1].communicate()
    assert [status for status, _, _ in others] == [3, 3]
    assert others[0][2] == "rank 0: rank 1 has ended during NCCL's start; the run ends\n"


def test_without_nccl_it_says_so_and_how_to_get_it():
    done = multi("--n", "1000003", REDUCTION_NCCL="/nowhere/libnccl.so")
    assert (done.returncode, done.stderr) == (0, "") and " on 1 device, " in done.stdout
    assert "combined: NCCL is missing (libnccl.so.2 was not found; `make nccl` installs it from PyPI), so the step runs on one device\n" in done.stdout


# ---- the lesson ----
def test_commands_of_the_lesson():
    lines = re.search(r"```sh\n(.*?)```", (ROOT / "step12_multigpu/README.md").read_text(encoding="utf-8"), re.DOTALL)[1].splitlines()
    ours = [line.replace("./step12/run", str(program())) for line in lines if "step12/run" in line]
    assert len(ours) == 2
    for line in ours:
        done = run("sh", "-c", line)
        assert (done.returncode, done.stderr) == (0, "") and "verified" in done.stdout and COMBINED in done.stdout


def test_figures_of_the_lesson():
    """The model's figures follow from its formulas, and the time of one GPU is the recorded one."""
    alpha, rate, page = 2.0, 4e5, (ROOT / "step12_multigpu/README.md").read_text(encoding="utf-8")
    shown = {"8 bytes (this step)": 8, "1 MiB": 1 << 20, "16 MiB": 1 << 24, "1 GiB (a model's gradients)": 1 << 30}
    for name, n in shown.items():
        times = [t for p, steps in ((2, 1), (8, 3)) for t in (2 * (p - 1) * alpha + 2 * (p - 1) / p * n / rate, 2 * steps * (alpha + n / rate))]
        assert f"| {name} | " + " | ".join(f"{t:.1f} µs" if t < 1000 else f"{t / 1000:.2f} ms" for t in times) + " |\n" in page
    recorded = next(line for line in (ROOT / "bench/h200.csv").open() if line.startswith(f"step11_onepass,int,{1 << 28},256,dirty,"))
    one = float(recorded.split(",")[7])
    assert f"takes {one:.1f} µs" in page and f"{one / 2:.1f} + 4 = {one / 2 + 4:.1f} µs, {one / (one / 2 + 4):.2f} times" in page and f"{one + 4:.1f} µs for twice" in page
