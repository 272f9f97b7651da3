"""The pages prove themselves: commands are run, generated parts compared with fresh runs, figures in sentences marked, links followed."""
import re
import subprocess
import sys

import pytest
from conftest import ROOT, STEPS, run

sys.path.insert(0, str(ROOT / "plots"))
import docs  # noqa: E402
import evidence  # noqa: E402
import figures  # noqa: E402

PAGES = {str(page.relative_to(ROOT)): page for page in docs.pages()}
FENCE = re.compile(r"(<!-- not run: (?P<reason>.+?) -->\n)?^```(?P<language>\S*)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {"sh", "console", "text", "diff", "c", "cuda", "python", "json", "csv"}
# A count or a time: 430,080 or 12.5 µs. Sizes and exponents (2^25, 256) are what the reader chose and need no proof.
UNPROVED = re.compile(r"\b\d{1,3}(?:,\d{3})+\b|\b\d+(?:\.\d+)? (?:µs|GB/s|ms)\b|\b\d+(?:\.\d+)?(?:µs|GB/s)")
EXPLAINED = {"docs/emulator.md", "docs/teaching.md", "common/emulator/README.md"}  # about the tools themselves; their figures have tests of their own
WORKED_OUT = {"docs/roofline.md"}  # arithmetic in sentences, from tables that are generated; in English alone


def text(page):
    return PAGES[page].read_text(encoding="utf-8")


def fences(page):
    return [found for found in FENCE.finditer(text(page))]


def commands(page):
    return [found["text"] for found in fences(page) if found["language"] == "sh"]


def prose(words):
    """Without what is generated or stands in code, and without figures that are marked."""
    for part in (docs.TABLE, docs.BUG, docs.FIGURE, FENCE):
        words = part.sub("", words)
    return re.sub(r"`[^`]*`|<!--.*?-->", "", words, flags=re.DOTALL)


def skip_other_toolkit():
    if evidence.toolkit() != "13.0":
        pytest.skip(f"the pages quote what CUDA 13.0 makes of the steps; here is {evidence.toolkit()}")


def same(written, fresh):
    """The lines of the PTX in reports move with the compiler's patch level; nothing else may."""
    return re.sub(r"run\.ptx:\d+", "run.ptx:N", written) == re.sub(r"run\.ptx:\d+", "run.ptx:N", fresh)


@pytest.mark.parametrize("page", PAGES)
def test_generated_parts_equal_a_fresh_run(page):
    skip_other_toolkit()
    assert same(text(page), docs.filled(PAGES[page], text(page))), f"{page} is out of date; run: make docs"


@pytest.mark.parametrize("page", PAGES)
def test_every_fence_says_what_it_is(page):
    for found in fences(page):
        assert found["language"] in LANGUAGES, found[0][:80]


def blocks_to_run():
    return [pytest.param(page, found["text"], id=f"{page}:{text(page)[:found.start()].count(chr(10)) + 1}")
            for page in PAGES if not page.endswith(".zh.md")  # the same commands: test_languages_agree
            for found in fences(page) if found["language"] == "sh" and not found["reason"]]


@pytest.mark.parametrize("page, block", blocks_to_run())
def test_commands_run(page, block):
    done = run("sh", "-ec", block)
    assert done.returncode == 0, f"{block}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


@pytest.mark.parametrize("page", [page for page in PAGES if page not in EXPLAINED | WORKED_OUT])
def test_no_figure_stands_unproved(page):
    assert UNPROVED.findall(prose(text(page))) == []


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:\s]+)[^):]*\)", FENCE.sub("", text(page))):
        assert (PAGES[page].parent / target).exists(), target


def drawn():
    return [pytest.param(step, kind, id=f"{step}-{kind}") for step, kinds in figures.SHOWN.items() for kind in kinds.split()]


@pytest.mark.parametrize("step, kind", drawn())
def test_pictures_equal_a_fresh_trace(step, kind):
    skip_other_toolkit()
    picture = ROOT / "docs" / "pictures" / f"{step.partition('_')[0]}_{kind}.svg"
    assert picture.read_text(encoding="utf-8") == figures.draw(step, kind), "run: make figures"


def test_every_step_is_drawn_and_every_picture_shown():
    assert list(figures.SHOWN) == STEPS
    shown = {name for page in PAGES for name in re.findall(r"pictures/(step\d+_\w+)\.svg", text(page))}
    assert shown == {f"{step.partition('_')[0]}_{kind}" for step, kinds in figures.SHOWN.items() for kind in kinds.split()}


def english(page):
    return page.replace(".zh.md", ".md")


@pytest.mark.parametrize("page", [page for page in PAGES if page.endswith(".zh.md")])
def test_languages_agree(page):
    """The same commands, changes, generated parts, figures and pictures, in the same order; figures may move within a page."""
    ours, theirs = text(page), text(english(page))
    assert commands(page) == commands(english(page))
    assert [found[2:4] for found in (m.group(0, 1, 2, 3) for m in docs.TABLE.finditer(ours))] == \
        [found[2:4] for found in (m.group(0, 1, 2, 3) for m in docs.TABLE.finditer(theirs))]
    assert [m[2:4] for m in (m.group(0, 1, 2, 3) for m in docs.BUG.finditer(ours))] == \
        [m[2:4] for m in (m.group(0, 1, 2, 3) for m in docs.BUG.finditer(theirs))]
    assert sorted(m[2] for m in docs.FIGURE.finditer(ours)) == sorted(m[2] for m in docs.FIGURE.finditer(theirs))
    pictures = re.compile(r"!\[[^]]*\]\(([^)]*)\)")
    assert pictures.findall(ours) == pictures.findall(theirs)


def test_every_page_has_its_chinese_version():
    for page in PAGES:
        if not page.endswith(".zh.md") and page not in EXPLAINED | WORKED_OUT:
            assert page.replace(".md", ".zh.md") in PAGES, page


def test_every_step_has_a_lesson():
    assert [step for step in STEPS if f"{step}/README.md" not in PAGES] == []


# ---- the checks can fail: each of these changes a page by hand, in a copy ----

LESSON = "step3_nobank/README.md"


def changed_part(page, pattern, group):
    """The page with one digit of the first such part changed."""
    words = text(page)
    found = next(m for m in pattern.finditer(words) if re.search(r"\d", m[group]))
    digits = [m for m in re.finditer(r"\d", found[group])]
    at = found.start(group) + digits[-1].start()
    return words[:at] + str((int(words[at]) + 1) % 10) + words[at + 1:]


@pytest.mark.parametrize("part", ["TABLE", "BUG", "FIGURE"])
def test_a_changed_digit_is_found(part):
    skip_other_toolkit()
    pattern = getattr(docs, part)
    changed = changed_part(LESSON, pattern, {"TABLE": 4, "BUG": 4, "FIGURE": 3}[part])
    assert changed != text(LESSON) and not same(changed, docs.filled(PAGES[LESSON], changed))


def test_a_changed_line_of_a_diff_is_found():
    changed = text(LESSON).replace("stride /= 2", "stride /= 3", 1)
    assert changed != text(LESSON) and docs.filled(PAGES[LESSON], changed) != changed


def test_a_changed_command_is_found():
    block = next(block.values[1] for block in blocks_to_run() if "./step" in block.values[1])
    assert run("sh", "-ec", block.replace("./step", "./stop", 1)).returncode != 0


def test_a_figure_without_its_proof_is_found():
    bare = docs.FIGURE.sub(r"\3", text(LESSON))
    assert UNPROVED.findall(prose(bare))


def test_a_marker_that_is_not_closed_is_found():
    with pytest.raises(docs.Unusable):
        docs.filled(PAGES[LESSON], text(LESSON).replace("<!-- end of table -->", "", 1))


def test_the_script_says_which_page_is_out_of_date(tmp_path):
    page = ROOT / "build" / "changed.md"
    page.write_text("<!-- table: published -->\nnothing\n<!-- end of table -->\n", encoding="utf-8")
    try:
        done = subprocess.run([sys.executable, ROOT / "plots" / "docs.py", "--check", page], capture_output=True, text=True)
    finally:
        page.unlink()
    assert done.returncode == 1 and "changed.md is out of date" in done.stderr
