"""The source with its costs (--annotate) and the trace of a block (--trace), against the counters of the same run."""
import json

import pytest
from conftest import ROOT, run

STEP = ROOT / "step3_nobank" / "run"
SOURCE = (ROOT / "step3_nobank" / "reduce.cu").read_text().splitlines()


def step(*options, program=STEP, **environment):
    return run(program, "--n", "2000", "--device", "emulator", "--quiet", *options, **environment)


def observed(tmp_path, option, what="", *more):
    """What a run of the step writes for the option, and the counters of that run."""
    out, counters = tmp_path / "out.json", tmp_path / "counters.json"
    done = step(option, f"{what}json:{out}", *more, EMULATOR_COUNTERS=f"json:{counters}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return json.loads(out.read_text()), json.loads(counters.read_text())["total"]


def test_lines_add_up_to_the_counters(tmp_path):
    annotated, total = observed(tmp_path, "--annotate")
    (kernel,) = annotated["kernels"]
    lines = kernel["lines"]
    assert kernel["launches"] == total["launches"] == 1
    for figure in "warp_instructions", "active_lanes", "divergent_branches", "bank_conflicts":
        assert sum(line[figure] for line in lines) == total[figure], figure
    assert sum(line["global_sectors"] for line in lines) == total["global_load_sectors"] + total["global_store_sectors"]
    assert sum(line["shared_wavefronts"] for line in lines) == total["shared_load_wavefronts"] + total["shared_store_wavefronts"]
    assert [(line["file"], line["line"]) for line in lines] == sorted((line["file"], line["line"]) for line in lines)
    barriers = [line["line"] for line in lines if "__syncthreads" in SOURCE[line["line"] - 1]]
    assert len(barriers) == sum("__syncthreads();" in text for text in SOURCE)


def test_text_shows_the_source_beside_its_costs():
    done = step("--annotate", "text")
    assert done.returncode == 0 and done.stdout == ""
    shown = done.stderr.splitlines()
    assert shown[0].startswith("kernel ") and "1 launch:" in shown[0]
    for text in SOURCE:
        if "__syncthreads();" in text:
            assert any(line.endswith(text) and line[0] == " " for line in shown), text


@pytest.mark.parametrize("what, warps", [("", range(8)), ("block=3,", range(8)), ("block=1,warp=2,", [2])])
def test_trace_of_a_block(tmp_path, what, warps):
    traced, total = observed(tmp_path, "--trace", what)
    events = traced["events"]
    assert {e["warp"] for e in events} == set(warps)
    assert {e["block"] for e in events} == {int(what[6]) if what else 0}
    issues, accesses = ([e for e in events if e["event"] == kind] for kind in ("issue", "access"))
    assert len(issues) + len(accesses) == len(events)
    assert issues[0]["pc"] == 0 and issues[0]["lanes"] == "0xffffffff"
    if not what:
        others = [observed(tmp_path, "--trace", f"block={block},")[0]["events"] for block in range(1, 8)]
        assert len(issues) + sum(e["event"] == "issue" for events in others for e in events) == total["warp_instructions"]
    for e in accesses:
        assert len(e["addresses"]) == bin(int(e["lanes"], 16)).count("1")
        assert ("wavefronts" in e) == (e["space"] == "shared") and ("sectors" in e) == (e["space"] == "global")
    loads = [e for e in accesses if e["space"] == "global" and e["kind"] == "load"]
    assert len(loads) == len(warps) and all(e["sectors"] == 4 and e["bytes"] == 4 for e in loads)


def test_observers_change_nothing(tmp_path):
    with_trace = run(STEP, "--n", "2000", "--device", "emulator", "--trace", f"json:{tmp_path / 'trace.json'}", "--annotate", f"json:{tmp_path / 'lines.json'}")
    assert with_trace.stdout == run(STEP, "--n", "2000", "--device", "emulator").stdout and with_trace.returncode == 0


@pytest.mark.parametrize("option, value", [("--annotate", "html"), ("--trace", "text"), ("--trace", "block=x,json:f"), ("--trace", "warp=32,json:f"), ("--counters", "xml"),
                                           ("--check", "races"), ("--threads", "0"), ("--schedule", "random"), ("--timeout", "soon")])
def test_what_is_not_known_is_refused(option, value):
    done = step(option, value)
    assert done.returncode == 2 and value.split(",")[0] in done.stderr and done.stdout == ""


@pytest.mark.parametrize("option", ["--annotate", "--trace", "--counters"])
def test_a_file_that_cannot_be_written_is_named(tmp_path, option):
    done = step(option, f"json:{tmp_path}/nowhere/out.json")
    assert f"{tmp_path}/nowhere/out.json" in done.stderr


def test_text_counters_name_every_counter():
    done = step("--counters", "text")
    assert done.returncode == 0
    for name in "warp_instructions", "global_load_sectors", "bank_conflicts", "occupancy":
        assert f"  {name} " in done.stderr


def test_time_is_reported():
    done = step(EMULATOR_TIME="on", EMULATOR_COUNTERS="off")
    assert done.returncode == 0 and "warp instructions in" in done.stderr
