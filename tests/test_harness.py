"""The harness's side of the bargain: wrong kernels are refused, bad input gets one sentence, CSV files keep their columns."""
import csv
import io
import re

import pytest
from conftest import PROGRAMS, ROOT, STEPS, run, steps_of_type

STEP = ROOT / "step3_nobank" / "run"


def step(*options, program=STEP, **environment):
    return run(program, *options, "--device", "emulator", **environment)


# ---- kernels that are wrong in one way each ----
MUST_FAIL = {
    "no_write": (1, r"1 of 3907 partial sums are wrong; the first is sums\[3906\]: got -1 \(as before the launch: nothing was written there\)"),
    "off_by_one": (1, r"3907 of 3907 partial sums are wrong; the first is sums\[0\]: got 128818, want 128817"),
    "wrong_tail": (1, r"1 of 3907 partial sums are wrong; the first is sums\[3906\]: got 0, want"),
    "first_only": (1, r"1 of 3907 partial sums are wrong; the first is sums\[0\]"),
    "beyond_the_end": (1, r"the kernel wrote to 1 of the 1024 sums after its last"),
    "swapped": (1, r"2 of 3907 partial sums are wrong; the first is sums\[0\]"),
    "wrong_launch": (3, r"the launch with n = 1000003, block 256 failed: .*\(cudaErrorInvalidValue\)"),
    "never_ends": (3, r"fault: .* the kernel never ends(.|\n)*failed: .*\(cudaErrorLaunchTimeout\)"),
    "wild_store": (3, r"fault: .*wild_store\.cu:19\): out-of-bounds global store of 8 bytes(.|\n)*failed: .*\(cudaErrorIllegalAddress\)"),
}


@pytest.mark.parametrize("kernel", MUST_FAIL)
def test_wrong_kernel_is_refused(kernel):
    status, sentence = MUST_FAIL[kernel]
    done = step("--n", "1000003", "--quiet", "--timeout", "1000000", program=PROGRAMS / "mustfail" / "int" / kernel)
    assert done.returncode == status and re.search(sentence, done.stderr), done.stdout + done.stderr
    assert "verified" not in done.stdout


def test_nan_is_refused():
    done = step("--n", "1000", "--quiet", program=PROGRAMS / "mustfail" / "float" / "not_a_number")
    assert done.returncode == 1 and re.search(r"4 of 4 partial sums are wrong; the first is sums\[0\]: got -?nan", done.stderr)


def test_right_kernel_is_accepted():
    done = step("--n", "0-300,1000003", "--quiet", program=PROGRAMS / "mustfail" / "int" / "right")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_one_wrong_size_of_many_is_enough():
    done = step("--n", "256,512,300", "--quiet", program=PROGRAMS / "mustfail" / "int" / "wrong_tail")
    assert done.returncode == 1 and "n = 300" in done.stderr and "n = 512" not in done.stderr


# ---- options ----
BAD = {
    "--n abc": "allowed are", "--n -1": "allowed are", "--n 1e30": "allowed are", "--n ": "allowed are", "--n 5-3": "allowed are", "--n 1,,2": "allowed are",
    "--n 2^64": "allowed are", "--n 18446744073709551616": "allowed are", "--n": "needs a value", "--block 96": "allowed are", "--block 2048": "allowed are",
    "--block 0": "allowed are", "--block 16": "allowed are", "--block ": "allowed are", "--frobnicate": "unknown option", "stray": "unknown option",
    "--csv /nowhere/at/all.csv": "cannot be written", "--csv /": "cannot be written", "--seed minus": "takes a whole number", "--repeat many": "takes a whole number",
    "--device tpu": "allowed are", "--alloc heap": "allowed are", "--threads 0": "allowed is", "--schedule sideways": "allowed is", "--check everything": "allowed is", "--timeout -5": "allowed is",
}


@pytest.mark.parametrize("options", BAD)
def test_bad_input_gets_one_sentence(options):
    name, _, value = options.partition(" ")
    done = step(*([name, value] if " " in options else [name])) if name != "--n" or " " in options else run(STEP, "--n")
    assert done.returncode == 2 and BAD[options] in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "verified" not in done.stdout


@pytest.mark.parametrize("setting", ["EMULATOR_THREADS=none", "EMULATOR_SCHEDULE=random:", "EMULATOR_TIMEOUT=1h", "EMULATOR_COUNTERS=xml", "EMULATOR_CHECK=ra", "EMULATOR_DEVICES=17"])
def test_bad_setting_gets_one_sentence(setting):
    name, value = setting.split("=")
    done = run(PROGRAMS / "ptx_run", ROOT / "tests" / "kernels" / "guards.ptx", **{name: value})
    assert done.returncode == 2 and done.stderr.startswith(f'{name}="{value}" is not understood: allowed is ') and done.stderr.count("\n") == 1


def test_more_memory_than_there_is_gets_one_sentence():
    done = step("--n", "2^37", "--quiet")
    assert done.returncode == 3 and done.stderr.count("\n") == 1, done.stderr


def test_help_names_every_option():
    done = run(STEP, "--help")
    assert done.returncode == 0
    for option in "--n --block --repeat --seed --device --alloc --csv --quiet --help --check --counters --annotate --trace --threads --schedule --timeout".split():
        assert f"  {option} " in done.stdout


@pytest.mark.parametrize("alloc", ["device", "managed", "prefetch"])
@pytest.mark.parametrize("name", ["step0_naive", "step4_halfblocks"])
def test_memory_of_each_kind_gives_the_same_sums_and_counts(name, alloc):
    done = [step("--n", "100003", "--check", "all", "--alloc", kind, program=ROOT / name / "run") for kind in ("device", alloc)]
    assert [each.returncode for each in done] == [0, 0], done[1].stderr
    assert ("memory: managed" in done[1].stdout) == (alloc != "device")
    assert [line for line in done[1].stdout.splitlines() if not line.startswith("memory:")] == done[0].stdout.splitlines()
    assert step("--n", "0-70,1000", "--alloc", alloc, "--quiet", program=ROOT / name / "run").returncode == 0


def test_lists_and_ranges_run_in_one_process():
    done = step("--n", "0-3,31,2^10", "--block", "32,64")
    assert done.returncode == 0
    assert re.findall(r"n = (\d+)", done.stdout) == ["0", "1", "2", "3", "31", "1024"] * 2 or len(re.findall(r"verified", done.stdout)) == 12


@pytest.mark.parametrize("name", STEPS)
def test_step_is_right(name):
    program = ROOT / name / "run"
    for options in (["--n", "0-300,1000003"], ["--n", "0,1,31,33,100003", "--block", "32,64,128,512,1024"]):
        done = step(*options, "--quiet", program=program)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


SCHEDULES = ["ordered", "reversed", "random:1", "random:2", "random:3"]


def silent_under_all_checks(program, sizes, blocks, schedules):
    for block in blocks:
        for schedule in schedules:
            done = step("--n", sizes, "--block", block, "--quiet", program=program, EMULATOR_CHECK="all", EMULATOR_SCHEDULE=schedule)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (block, schedule)


@pytest.mark.parametrize("name", STEPS)
def test_no_check_speaks_up_over_a_step(name):
    silent_under_all_checks(ROOT / name / "run", "0-500", ["64"], SCHEDULES[:3])
    silent_under_all_checks(ROOT / name / "run", "0-2000", ["256"], SCHEDULES[3:4])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["int", "float", "double"])
@pytest.mark.parametrize("name", STEPS)
def test_no_check_speaks_up_over_any_step(name, kind):
    silent_under_all_checks(steps_of_type(kind) / name / "run", "0-2000", ["32", "64", "256", "1024"], SCHEDULES)


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_step_is_right_for_large_n(name):
    done = step("--n", "33554433,2147483648" if name == "step7_fullunroll" else "33554433", "--quiet", program=ROOT / name / "run", )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_same_seed_same_sum_and_another_seed_another():
    sums = [re.search(r"sum: +(\d+)", step("--n", "5000", "--seed", seed, program=program).stdout)[1]
            for seed, program in (("7", STEP), ("7", ROOT / "step6_warpunroll" / "run"), ("8", STEP))]
    assert sums[0] == sums[1] != sums[2]


# ---- CSV ----
def test_csv_has_one_header_and_a_row_a_measurement(tmp_path):
    path = tmp_path / "out.csv"
    for options in (["--n", "1000,2000"], ["--n", "3000", "--block", "64"]):
        assert step(*options, "--quiet", "--csv", path).returncode == 0
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [(r["step"], r["type"], r["n"], r["block"], r["verified"], r["source"]) for r in rows] == [
        ("step3_nobank", "int", n, b, "yes", "emulated") for n, b in (("1000", "256"), ("2000", "256"), ("3000", "64"))]
    assert all(r["median_us"] == "" and r["min_us"] == "" for r in rows), "the emulator measures no time"
    assert rows[0]["bank_conflicts"] == "0" and int(rows[0]["global_loads"]) == 32  # ceil(1000 / 32) requests


def test_csv_with_other_columns_is_left_alone(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    done = step("--n", "10", "--quiet", "--csv", path)
    assert done.returncode == 2 and path.read_text() == "a,b\n1,2\n" and done.stderr.count("\n") == 1


def test_wrong_result_is_in_the_csv_too(tmp_path):
    path = tmp_path / "out.csv"
    step("--n", "300", "--quiet", "--csv", path, program=PROGRAMS / "mustfail" / "int" / "off_by_one")
    assert [r["verified"] for r in csv.DictReader(io.StringIO(path.read_text()))] == ["no"]


# ---- the same bytes and counts, whoever runs what when ----
def counts(**environment):
    done = step("--n", "100003", program=ROOT / "step0_naive" / "run", **environment)
    assert done.returncode == 0
    return [line for line in done.stdout.splitlines() if not line.startswith("device:")]


@pytest.mark.parametrize("environment", [{"EMULATOR_THREADS": "2"}, {"EMULATOR_THREADS": "7"}, {"EMULATOR_SCHEDULE": "reversed"}, {"EMULATOR_SCHEDULE": "random:3"}], ids=str)
def test_counts_do_not_depend_on_threads_or_order(environment):
    reference = counts(EMULATOR_THREADS="1")
    assert any("global_load_sectors" in line for line in reference)
    assert counts(**environment) == reference


def test_counting_changes_no_result():
    sums = [[line for line in step("--n", "100003", program=ROOT / name / "run", EMULATOR_COUNTERS=how).stdout.splitlines() if line.startswith("sum:")]
            for name in ("step0_naive", "step6_warpunroll") for how in ("on", "off")]
    assert sums[0] == sums[1] and sums[2] == sums[3] and len(sums[0]) == 1
