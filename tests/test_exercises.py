"""The exercises: solutions earn all points, wrong submissions lose exactly the points that their first line says, attempts to cheat
gain nothing, and the grader's outputs are what others read."""
import csv
import fcntl
import io
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tarfile
import textwrap
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import class_of_200
import pytest
from conftest import BUILD, ROOT, run

sys.path.insert(0, str(ROOT / "exercises"))
import grade  # noqa: E402

NAMES = grade.exercise_names()
SOLUTIONS = ROOT / "exercises" / "solutions"
WRONG = [(n, f) for n in NAMES for f in sorted((SOLUTIONS / n / "wrong").glob("*.cu"))]
CHEATS = sorted((ROOT / "exercises" / "cheats").glob("*.cu"))
SEED = 1
EXERCISES = {n: grade.Exercise(n) for n in NAMES}


def judge(job):
    name, path = job
    grade.CPU_SECONDS = 2 if path in CHEATS else 60
    return grade.judge(EXERCISES[name], EXERCISES[name].make_cases(SEED, {}), path)


def selected(items, kind):
    """The values of a parameter in the tests that will run."""
    return {item.callspec.params[kind] for item in items if hasattr(item, "callspec") and kind in item.callspec.params}


@pytest.fixture(scope="module")
def results(request):
    """All files of the selected tests (-k max) graded once, on all processors; programs are cached in build/exercises."""
    os.environ.setdefault("NVCC", "nvcc")
    grade.need_driver(grade.nvcc_command())
    jobs = [(n, SOLUTIONS / n / "reduce.cu") for n in NAMES] + [(n, ROOT / "exercises" / n / "reduce.cu") for n in NAMES]
    jobs += WRONG + [("any_n", f) for f in CHEATS]
    names, paths = selected(request.session.items, "name"), selected(request.session.items, "path")
    jobs = [(n, path) for n, path in jobs if path in paths or (n in names and path not in CHEATS)]
    with multiprocessing.get_context("fork").Pool() as pool:
        return dict(zip([path for _, path in jobs], pool.map(judge, jobs, chunksize=1)))


def lost(result):
    return {r["name"]: r["points"] for r in result["requirements"] if not r["passed"]}


def said(result):
    return " ".join([result["refused"]["why"] if result["refused"] else "", *(r["measured"] for r in result["requirements"])])


@pytest.mark.parametrize("name", NAMES)
def test_solution_earns_all_points(results, name):
    result = results[SOLUTIONS / name / "reduce.cu"]
    assert lost(result) == {} and result["score"] == result["most"] == 10, said(result)


@pytest.mark.parametrize("name", NAMES)
def test_skeleton_compiles_and_fails_politely(results, name):
    result = results[ROOT / "exercises" / name / "reduce.cu"]
    assert result["refused"] is None and 0 <= result["score"] < result["most"]
    assert all(r["hint"] for r in result["requirements"] if not r["passed"])
    assert "crash" not in said(result)


@pytest.mark.parametrize("name, path", WRONG, ids=[f"{n}-{f.stem}" for n, f in WRONG])
def test_wrong_submission_loses_exactly(results, name, path):
    stated = re.match(r"// loses: (.*?);", path.read_text())[1]
    want = {part.rsplit(" ", 1)[0]: int(part.rsplit(" ", 1)[1]) for part in stated.split(", ")}
    result = results[path]
    assert result["refused"] is None, said(result)
    assert lost(result) == want, said(result)
    assert result["score"] == 10 - sum(want.values())


@pytest.mark.parametrize("name", NAMES)
def test_every_exercise_has_three_wrong_submissions(name):
    assert len([f for n, f in WRONG if n == name]) >= 3
    losses = {p.rsplit(" ", 1)[0] for n, f in WRONG if n == name for p in re.match(r"// loses: (.*?);", f.read_text())[1].split(", ")}
    assert losses == {r.name for r in EXERCISES[name].requirements}, "each requirement is missed by some wrong submission"


@pytest.mark.parametrize("path", CHEATS, ids=[f.stem for f in CHEATS])
def test_cheat_gains_nothing(results, path):
    score, words = re.match(r"// score (\d+); says: (.*)", path.read_text()).groups()
    result = results[path]
    assert result["score"] == int(score), said(result)
    assert words in said(result)


@pytest.mark.parametrize("name", NAMES)
def test_readme_states_the_points(name):
    text = (ROOT / "exercises" / name / "README.md").read_text()
    points = [int(p) for p in re.findall(r"^\| (\d+) \|", text, flags=re.M)]
    assert points == [r.points for r in EXERCISES[name].requirements]
    prototype = re.search(r"void solve\([^)]*\);", (ROOT / "exercises" / name / "exercise.h").read_text())[0]
    assert prototype in text


def test_another_seed_changes_the_inputs_but_no_verdict(results):
    exercise = EXERCISES["any_n"]
    one, two = (exercise.make_cases(seed, {}) for seed in (1, 2))
    assert [c.want for c in one] != [c.want for c in two]
    assert grade.judge(exercise, two, SOLUTIONS / "any_n" / "reduce.cu")["score"] == 10


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_neither_constant_nor_symmetric_nor_first_at_zero(name):
    for case in EXERCISES[name].make_cases(SEED, {}):
        for data in case.data:
            if case.elements > 30 and case.sizes.kind != "all nan":
                assert len(set(data[i:i + 4] for i in range(0, len(data), 4))) > 2
                assert data[:4] != b"\0\0\0\0" or case.sizes.kind
                words = [data[i:i + 4] for i in range(0, len(data), 4)]
                assert words != words[::-1]


def command(*arguments, **environment):
    return run(sys.executable, ROOT / "exercises" / "grade.py", *arguments, NVCC=os.environ.get("NVCC", "nvcc"), **environment)


def test_one_prints_a_table_and_writes_reports(results, tmp_path):
    json_, xml = tmp_path / "results.json", tmp_path / "results.xml"
    done = command("one", "max", SOLUTIONS / "max" / "wrong" / "identity_zero.cu", "--seed", 1, "--gradescope", json_, "--junit", xml)
    assert done.returncode == 1
    assert re.search(r"FAILED +0/3 .*n = 1: output\[0\] is 0, should be -", done.stdout) and "hint:" in done.stdout
    assert "score: 4 of 10" in done.stdout
    report = json.loads(json_.read_text())
    assert report["score"] == 4 and sum(t["max_score"] for t in report["tests"]) == 10
    suite = ElementTree.parse(xml).getroot().find("testsuite")
    assert suite.get("tests") == "5" and suite.get("failures") == "3" and len(suite.findall("testcase/failure")) == 3


def test_statuses(results, tmp_path):
    assert command("one", "max", SOLUTIONS / "max" / "reduce.cu").returncode == 0
    unknown = command("one", "maximum")
    assert unknown.returncode == 2 and "there is no exercise 'maximum'" in unknown.stderr
    assert command("one", "max", tmp_path / "nothing.cu").returncode == 2
    (tmp_path / "seeds.json").write_text("42")
    assert command("one", "max", "--seed-file", tmp_path / "seeds.json").returncode == 2


@pytest.mark.parametrize("sizes", [{"maximum": [{"n": 3}]}, {"max": [{"m": 3}]}, {"max": [{"n": "3"}]}, {"max": {"n": 3}}, {"max": [3]}, [3]])
def test_a_slip_in_the_seed_file_is_said(tmp_path, sizes):
    (tmp_path / "seeds.json").write_text(json.dumps({"seed": 1, "sizes": sizes}))
    done = command("one", "max", "--seed-file", tmp_path / "seeds.json")
    assert done.returncode == 2 and done.stderr.startswith("grade: ") and "Traceback" not in done.stderr


def on_gpu(name, file, gpu, size=None, time_points=2):
    exercise = grade.Exercise(name)
    exercise.time_size = size or exercise.time_size
    return grade.judge(exercise, exercise.make_cases(SEED, {}), file, gpu=gpu, time_points=time_points)


def reported(result):
    text = io.StringIO()
    grade.report(result, "mine.cu", SEED, text)
    return text.getvalue()


def test_times_beside_the_reference(results):
    """The path for GPUs, with the emulator in a GPU's place: what it runs and says, not how fast."""
    small, emulator = ({"n": 1000}, "n", 3), str(grade.EMULATOR)
    result = on_gpu("memory_limit", SOLUTIONS / "memory_limit/reduce.cu", emulator, small)
    assert result["gpu"]["wrong"] is None and result["gpu"]["size"] == "n = 3000" and result["most"] == 12
    assert result["gpu"]["submission"][0] >= result["gpu"]["submission"][1] > 0 and result["gpu"]["reference"][0] > 0
    assert re.match("step([0-9]|1[01])_", result["gpu"]["beside"][0])
    said = reported(result)
    assert "on Emulated H200 the results are right in every case, too; n = 3000, median of 20" in said
    assert re.search(r"reference solution +\d+\.\d us .* this file takes \d+\.\d\d times as long", said)


def test_what_is_wrong_on_a_gpu_is_not_timed(results):
    result = on_gpu("max", SOLUTIONS / "max/wrong/identity_zero.cu", str(grade.EMULATOR), ({"n": 1000}, "n", 3))
    assert result["gpu"]["submission"] is None and lost(result)["time"] == 2
    assert "on this GPU it fails: n = 1: output[0] is 0" in reported(result)


def test_without_the_emulator_nobody_is_blamed(monkeypatch, tmp_path):
    monkeypatch.setattr(grade, "EMULATOR", tmp_path)
    with pytest.raises(grade.Impossible, match="make emulator"):
        grade.judge(EXERCISES["any_n"], [], SOLUTIONS / "any_n/reduce.cu")


def test_a_gpu_that_is_wanted_has_to_be_there(monkeypatch, tmp_path):
    monkeypatch.setattr(grade.os.path, "exists", lambda path: False)
    assert grade.gpu_runtime("auto") is None and grade.gpu_runtime("emulator") is None
    with pytest.raises(grade.Impossible, match="no NVIDIA GPU"):
        grade.gpu_runtime("gpu")
    done = command("one", "max", "--device", "emulator", "--time-points", 2)
    assert done.returncode == 3 and "--time-points needs a GPU" in done.stderr


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_solution_is_right_on_a_gpu(name):
    result = on_gpu(name, SOLUTIONS / name / "reduce.cu", grade.gpu_runtime("gpu"))
    assert result["gpu"]["wrong"] is None and result["gpu"]["submission"] and result["gpu"]["reference"], result["gpu"]


def test_what_does_not_compile_is_said(tmp_path):
    (tmp_path / "mine.cu").write_text('#include "exercise.h"\nvoid solve(const float *input, size_t n, float *output) { output = 0 }\n')
    done = command("one", "max", tmp_path / "mine.cu")
    assert done.returncode == 1 and "it does not compile" in done.stdout and "mine.cu" not in done.stderr
    assert 'expected a ";"' in done.stdout and "score: 0 of 10" in done.stdout


def test_another_signature_is_said(tmp_path):
    (tmp_path / "mine.cu").write_text('#include "exercise.h"\nvoid solve(const float *input, unsigned n, float *output) { }\n')
    assert "it defines no solve() with the parameters that exercise.h declares" in command("one", "max", tmp_path / "mine.cu").stdout


def test_hidden_seed_and_sizes(results, tmp_path):
    seeds = tmp_path / "seeds.json"
    seeds.write_text(json.dumps({"seed": 90210, "sizes": {"any_n": [{"n": 4097}, {"n": 8191}]}}))
    done = command("one", "any_n", SOLUTIONS / "any_n" / "reduce.cu", "--seed-file", seeds)
    assert done.returncode == 0 and "seed hidden" in done.stdout and "90210" not in done.stdout
    assert re.search(r"any other n +11 cases", done.stdout)


def make_class(folder):
    for student, files in {"ada": {"max": "reduce.cu", "any_n": "reduce.cu"}, "bob": {"max": "wrong/nan_wins.cu"}, "=eve": {"any_n": "wrong/runs.cu"}}.items():
        (folder / student).mkdir(parents=True)
        for name, file in files.items():
            (folder / student / f"{name}.cu").write_text((SOLUTIONS / name / file).read_text())
    (folder / "mallory").mkdir()
    (folder / "mallory" / "any_n.cu").write_text((ROOT / "exercises/cheats/exit_early.cu").read_text())
    (folder / "mallory" / "max.cu").symlink_to("/etc/hostname")


def test_class_and_its_files(results, tmp_path):
    make_class(tmp_path / "handed_in")
    done = command("all", tmp_path / "handed_in", "--out", tmp_path / "out", "--seed", 1, "--jobs", 2)
    assert done.returncode == 0, done.stderr
    rows = {r["student"]: r for r in csv.DictReader(open(tmp_path / "out/class.csv"))}
    assert (rows["ada"]["total"], rows["bob"]["max"], rows["bob"]["any_n"], rows["'=eve"]["any_n"]) == ("20", "8", "", "7")
    assert rows["mallory"]["total"] == "0"
    assert len(ElementTree.parse(tmp_path / "out/results.xml").getroot().findall("testsuite")) == 6
    assert json.loads((tmp_path / "out/students/ada/results.json").read_text())["score"] == 20


def test_an_interrupted_run_goes_on(results, tmp_path):
    files = [("max", SOLUTIONS / "max" / f) for f in ("reduce.cu", "wrong/nan_wins.cu", "wrong/block_tail.cu", "wrong/identity_zero.cu")]
    files += [("any_n", SOLUTIONS / "any_n" / f) for f in ("reduce.cu", "wrong/runs.cu", "wrong/int_wraps.cu", "wrong/empty_grid.cu", "wrong/not_cleared.cu")]
    assert class_of_200.compare(tmp_path, files, jobs=1, token="") == []


def test_a_journal_cut_off_in_a_line_goes_on(results, tmp_path):
    make_class(tmp_path / "handed_in")
    out = tmp_path / "out"
    everything = ["all", tmp_path / "handed_in", "--out", out]
    assert command(*everything).returncode == 0
    whole = (out / "class.csv").read_text()
    lines = (out / "journal.jsonl").read_text().splitlines(keepends=True)
    (out / "journal.jsonl").write_text("".join(lines[:3]) + lines[3][:40]) # the fourth line was being written
    again = command(*everything)
    assert "6 submissions of 4 students; 2 graded before, 4 to do" in again.stdout
    assert (out / "class.csv").read_text() == whole
    (tmp_path / "handed_in/bob/max.cu").write_text((SOLUTIONS / "max/reduce.cu").read_text())
    assert "5 graded before, 1 to do" in command(*everything).stdout # a file handed in anew is graded anew


STRANGE_NAMES = [b"--seed", b"-o", b"a b  c", b"caf\xe9", b"new\nline", b"o'hara $HOME `id` \"q\"", "\u00fcn\u00efcode".encode()]


def test_names_and_bytes_of_any_kind(results, tmp_path):
    right = (SOLUTIONS / "any_n/reduce.cu").read_bytes()
    for name in STRANGE_NAMES:
        student = os.path.join(os.fsencode(tmp_path / "in"), name)
        os.makedirs(student)
        Path(os.fsdecode(student), "any_n.cu").write_bytes(right)
    for student, file, text in (("bytes", "any_n.cu", right + b"// caf\xe9 \xff\xfe\0\n"), ("capitals", "any_n.CU", right), ("other", "Any_N.cu", right), ("notes", "notes.txt", b"")):
        (tmp_path / "in" / student).mkdir()
        (tmp_path / "in" / student / file).write_bytes(text)
    done = command("all", tmp_path / "in", "--out", tmp_path / "out", "--jobs", 2, LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert "there is no exercise 'Any_N'" in done.stderr and "nothing to grade: " in done.stderr
    rows = {r["student"]: r["any_n"] for r in csv.DictReader(open(tmp_path / "out/class.csv")) if r["student"] != "(most)"}
    assert rows.pop("other") == rows.pop("notes") == ""
    assert len(rows) == len(STRANGE_NAMES) + 2 and set(rows.values()) == {"10"}
    assert "caf\\xe9" in rows and "new\\x0aline" in rows


def test_what_is_not_a_file_of_its_own_is_not_opened(tmp_path):
    folders = {n: tmp_path / "in" / n for n in ("device", "pipe", "folder", "dangling", "borrowed", "large")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    (folders["device"] / "max.cu").symlink_to("/dev/zero")
    os.mkfifo(folders["pipe"] / "max.cu")
    (folders["folder"] / "max.cu").mkdir()
    (folders["dangling"] / "max.cu").symlink_to(tmp_path / "nowhere")
    (folders["borrowed"] / "max").symlink_to(SOLUTIONS / "max")
    (folders["large"] / "max.cu").write_text("//" + " " * (1 << 20))
    (tmp_path / "in/friend").symlink_to(folders["large"])
    done = command("all", tmp_path / "in", "--out", tmp_path / "out", "--jobs", 2)
    assert done.returncode == 0, done.stderr
    rows = {r["student"]: r["max"] for r in csv.DictReader(open(tmp_path / "out/class.csv"))}
    assert {n: rows[n] for n in folders} == dict.fromkeys(folders, "0") and "friend" not in rows


def test_a_killed_grader_process_costs_one_submission_and_is_tried_again(monkeypatch):
    def judge_or_die(exercise, cases, path, *rest):
        if path.name == "dies.cu":
            os.kill(os.getpid(), signal.SIGKILL)
        return grade.not_run(exercise, "so that this is quick", "")
    monkeypatch.setattr(grade, "judge", judge_or_die)
    monkeypatch.setattr(grade, "objection", lambda path: None)
    monkeypatch.setattr(grade, "WORK", {"max": (EXERCISES["max"], []), "sandbox": [], "gpu": None, "time_points": 0})
    entries = {e["student"]: e for e in grade.graded([(f, "max", Path(f"{f}.cu"), f) for f in ("lives", "dies", "lives_too")], 2)}
    assert set(entries) == {"lives", "dies", "lives_too"}
    assert entries["dies"]["again"] and "again" not in entries["lives"]
    assert "was killed" in entries["dies"]["result"]["refused"]["why"]


def test_two_runs_do_not_share_a_folder(results, tmp_path):
    make_class(tmp_path / "handed_in")
    (tmp_path / "out").mkdir()
    with open(tmp_path / "out/journal.jsonl", "a") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        second = command("all", tmp_path / "handed_in", "--out", tmp_path / "out")
    assert second.returncode == 2 and "another run writes to" in second.stderr


def test_instructions_are_limited_for_all_cases_together(monkeypatch, results):
    monkeypatch.setattr(grade, "ALL_INSTRUCTIONS", 10000)
    result = grade.judge(EXERCISES["any_n"], EXERCISES["any_n"].make_cases(SEED, {}), SOLUTIONS / "any_n" / "reduce.cu")
    assert "10000 are allowed for all together" in said(result) and lost(result) == {"any n": 3, "none and one": 2, "reads": 3}


def test_newer_cpp_compiles_too(tmp_path):
    source = (SOLUTIONS / "any_n/reduce.cu").read_text().replace("void solve(", "template <bool b> int pick() { if constexpr (b) return 1; else return 0; }\n\nvoid solve(")
    (tmp_path / "mine.cu").write_text(source)
    assert command("one", "any_n", tmp_path / "mine.cu").returncode == 0


def test_an_exercise_made_from_the_teachers_page(tmp_path):
    """What docs/teaching.md says of a new exercise, done in a copy: its commands, its spec.py, a solution, the wrong one that it names."""
    page = (ROOT / "docs/teaching.md").read_text()
    command_, spec = (re.search(rf"```{kind}\n(.*?)```", page[page.index("An exercise made in ten minutes"):], flags=re.S)[1] for kind in ("sh", "python"))
    shutil.copytree(ROOT / "exercises", tmp_path / "exercises", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "build").mkdir()
    (tmp_path / "build/emulator").symlink_to(BUILD / "emulator")
    (tmp_path / "common").symlink_to(ROOT / "common")
    assert run("sh", "-c", command_, cwd=tmp_path).returncode == 0
    folder, solutions = tmp_path / "exercises/above", tmp_path / "exercises/solutions/above"
    prototype = re.search(r"void solve\(const int \*input, size_t n, size_t limit, [^`]*;", page)[0]
    header = folder / "exercise.h"
    header.write_text(re.sub(r"^void solve.*;$", prototype, header.read_text(), flags=re.M))
    (folder / "spec.py").write_text(textwrap.dedent(spec))
    kernel = """#include "exercise.h"

__global__ void above(const int *input, size_t n, size_t limit, unsigned long long *count)
{
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;

    if (i < n && input[i] > (int)limit)
        atomicAdd(count, 1);
}

void solve(const int *input, size_t n, size_t limit, unsigned long long *count)
{
    cudaMemset(count, 0, sizeof *count);
    if (n > 0)
        above<<<(unsigned)((n + 255) / 256), 256>>>(input, n, limit, count);
}
"""
    (solutions / "reduce.cu").write_text(kernel)
    (solutions / "wrong/dropped.cu").write_text(kernel.replace("(n + 255) / 256", "n / 256"))

    def graded(file):
        run(sys.executable, tmp_path / "exercises/grade.py", "one", "above", file, "--json", tmp_path / "result.json", NVCC=os.environ.get("NVCC", "nvcc"))
        return json.loads((tmp_path / "result.json").read_text())

    assert lost(graded(solutions / "reduce.cu")) == {}
    assert "// loses: any n 6, reads 2; the last block is dropped" in page
    assert lost(graded(solutions / "wrong/dropped.cu")) == {"any n": 6, "reads": 2}


def test_handout_holds_no_solutions(tmp_path):
    done = run("sh", ROOT / "exercises" / "handout.sh", tmp_path / "handout.tar.gz")
    assert done.returncode == 0, done.stderr
    with tarfile.open(tmp_path / "handout.tar.gz") as tar:
        names = tar.getnames()
        lessons = [tar.extractfile(n).read().decode() for n in names if n.endswith(".md")]
    for name in NAMES:
        assert any(n.endswith(f"/exercises/{name}/reduce.cu") for n in names)
    assert not [n for n in names if "/solutions/" in n or "/cheats/" in n or "wrong" in n.split("/")]
    assert not [text for text in lessons if "<details" in text or "Answer</summary>" in text or "docs/teaching.md" in text]
    assert not any(n.endswith(("teaching.md", "test_exercises.py", "class_of_200.py")) for n in names)
