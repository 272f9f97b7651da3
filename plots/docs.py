#!/usr/bin/env python3
"""Writes the generated parts of the pages: README.md, each step's lesson, docs/, and their Chinese versions (NAME.zh.md).

    python3 plots/docs.py              writes what is out of date (twice gives the same bytes); run `make steps` first
    python3 plots/docs.py --check      writes nothing; exit status 1 if a page differs from what would be written

A generated part stands between two comments, which a reader does not see:

    <!-- table: NAME ARGUMENTS -->  …  <!-- end of table -->        TABLES below lists the names
    <!-- diff: [step2] step3 -->    …  <!-- end of diff -->         what changed in the kernel and the launch
    <!-- output: COMMAND -->        …  <!-- end of output -->       the command and what it prints
    <!-- figure: WORDS -->430,080<!-- end -->                       one number in a sentence; figure() below reads the words
    <!-- bug: OPTIONS -->, a ```diff fence, <!-- report -->  …  <!-- end of report -->
                                    what the step says under OPTIONS, once the diff is applied to its reduce.cu

Numbers come from fresh runs on the emulator and from plots/recorded and tests/hardware. tests/test_docs.py compares them.
"""
import argparse
import difflib
import re
import subprocess
import sys
from pathlib import Path

import comparison
import evidence
import fault_kinds
import limits
import results
import validated
from results import ROOT, Row, Unusable, number, ratio, show, show_counter

TABLE = re.compile(r"(<!-- (table|diff|output): (.*?) -->\n)(.*?)(<!-- end of \2 -->)", re.DOTALL)
BUG = re.compile(r"(<!-- bug: (.*?) -->\n```diff\n(.*?)```\n<!-- report -->\n)(.*?)(<!-- end of report -->)", re.DOTALL)
FIGURE = re.compile(r"(<!-- figure: ([^>]*?) -->)(.*?)(<!-- end -->)")
OPENERS = re.compile(r"<!-- (?:table: |diff: |output: |figure: |report -->)")

CHINESE = {  # the words of table heads and of the sentences around them
    "step": "步骤", "idea": "思路", "what to watch": "看什么", "verified": "已验证", "yes": "是", "median µs": "中位数 µs", "min µs": "最小 µs",
    "% of peak": "占峰值 %", "× step before": "× 上一步", "× step 0": "× 步骤 0", "watched counter": "关注的计数器",
    "in the step before": "上一步", "in this step": "这一步", "counter": "计数器", "what it counts": "含义", "kind": "种类", "exact": "精确",
    "PTX-level": "PTX 级", "GPU": "GPU", "source": "来源", "before, µs": "之前 µs", "now, µs": "现在 µs", "times as fast": "快几倍",
    "measured here": "本仓库实测", "published": "他人发表", "kernel": "核函数", "warp instructions": "warp 指令", "lanes on": "有效通道",
    "bank conflicts": "bank 冲突", "Not recorded yet.": "尚未记录。",
    "Measured": "实测", "Emulated counts, no time is measured": "模拟器计数，不测时间", "Emulated now": "模拟器现场计数",
}


def in_language(chinese: bool):
    return (lambda words: CHINESE.get(words, words)) if chinese else (lambda words: words)


def pages() -> list[Path]:
    """Every page that has generated parts or commands."""
    found = [ROOT / "README.md", ROOT / "README.zh.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "common" / "emulator" / "README.md"]
    for step in evidence.ladder():
        found += [ROOT / step / "README.md", ROOT / step / "README.zh.md"]
    return [page for page in found if page.exists()]


# ---- tables ----

def markdown(heads: list[str], lines: list[list[str]], words: int) -> str:
    """A table whose first `words` columns hold words; the others hold numbers and stand at the right."""
    rule = ["---" if i < words else "---:" for i in range(len(heads))]
    return "".join(f"| {' | '.join(line)} |\n" for line in (heads, rule, *lines))


def provenance(rows: list[Row]) -> str:
    row = rows[-1]
    facts = [f"{row['device']}", f"driver {row['driver']}" if row.get("driver") else "",
             f"CUDA {row['toolkit']}" if row.get("toolkit") else "", results.day(row),
             f"n = {results.size(row['n'])} {row['type']}", f"block {row['block']}"]
    return ", ".join(fact for fact in facts if fact)


def lesson(step: str, chinese: bool) -> str:
    page = "README.zh.md" if chinese else "README.md"
    return f"[{step}]({step}/{page if (ROOT / step / page).exists() else 'reduce.cu'})"


def ladder(say, chinese: bool) -> str:
    names = results.counters()
    lines = []
    for step in evidence.ladder():
        idea, watch = (words.replace("|", "\\|") for words in results.header(step))
        watch = re.sub(r"\w+", lambda word: f"`{word[0]}`" if word[0] in names else word[0], watch)
        if chinese:  # the headers are English: the lesson's title, and the counters alone
            title = (ROOT / step / "README.zh.md").read_text(encoding="utf-8").partition("\n")[0]
            idea, watch = title.partition("：")[2], "、".join(f"`{name}`" for name in results.watched(step))
        lines.append([lesson(step, chinese), idea, watch])
    return markdown([say("step"), say("idea"), say("what to watch")], lines, words=3)


def times(rows: list[Row], say, chinese: bool) -> str:
    found = results.latest(rows)
    medians = {step: number(row, "median_us") if results.verified(row) else None for step, row in found.items()}
    lines, before = [], None
    for step, row in found.items():
        lines.append([lesson(step, chinese), say("yes") if results.verified(row) else "**wrong**", show(medians[step], "{:,.1f}"),
                      show(number(row, "min_us"), "{:,.1f}"), show(results.gbps(row)), show(number(row, "percent_peak"), "{:.1f}"),
                      show(ratio(before, medians[step]), "{:.2f}"), show(ratio(next(iter(medians.values())), medians[step]), "{:.2f}")])
        before = medians[step]
    heads = ["step", "verified", "median µs", "min µs", "GB/s", "% of peak", "× step before", "× step 0"]
    return f"{say('Measured')}: {provenance(rows)}.\n\n" + markdown([say(head) for head in heads], lines, words=2)


def watched_counts(rows: list[Row], say, chinese: bool) -> str:
    lines, before = [], None
    for step, row in results.latest(rows).items():
        for i, name in enumerate(results.watched(step) or [""]):
            lines.append([lesson(step, chinese) if i == 0 else "", f"`{name}`" if name else "–",
                          show_counter(number(before, name)), show_counter(number(row, name))])
        before = row
    heads = ["step", "watched counter", "in the step before", "in this step"]
    return (f"{say('Emulated counts, no time is measured')}: {provenance(rows)}.\n\n"
            + markdown([say(head) for head in heads], lines, words=2))


def published(rows: list[Row], say, chinese: bool) -> str:
    devices = list(dict.fromkeys(row["device"] for row in rows))
    steps = sorted({row["step"] for row in rows}, key=results.step_number)
    found = {(row["step"], row["device"]): number(row, "median_us") for row in rows}
    lines = [[str(results.step_number(step)), *(show(found.get((step, device)), "{:g}") for device in devices)] for step in steps]
    return markdown([say("step"), *(f"{device}, µs" for device in devices)], lines, words=1)


def recorded(maker):
    def make(arguments: list[str], say, chinese: bool, name: str) -> str:
        rows = list(evidence.recorded(name))
        return maker(rows, say, chinese) if rows else say("Not recorded yet.") + "\n"
    return make


def meanings() -> dict[str, tuple[str, str]]:
    """Each counter's meaning, and whether it is exact, as counters.def declares it."""
    text = (ROOT / "common" / "emulator" / "counters.def").read_text(encoding="utf-8")
    found = {}
    for name, rest in re.findall(r"^(?:COUNTER|RATIO)\((\w+),(.*?)\)$", text, re.MULTILINE | re.DOTALL):
        metric, meaning = re.findall(r'"((?:[^"\\]|\\.)*)"', rest)[:2]
        found[name] = (meaning, "exact" if metric or name == "bank_conflicts" else "PTX-level")  # conflicts: wavefronts less accesses
    return found


def evidence_table(arguments: list[str], say, chinese: bool, name: str) -> str:
    """evidence step3 [counter …]: the step before and this one, freshly counted; first what the step's `Watch:` line names."""
    step = evidence.named(arguments[0])
    counters = list(dict.fromkeys([*results.watched(step), *arguments[1:]]))
    old = evidence.before(step)
    rows = ([evidence.counts(old)] if old else []) + [evidence.counts(step)]
    known = meanings()
    lines = [[f"`{counter}`", *([] if chinese else [known[counter][0]]), say(known[counter][1]),
              *(show_counter(number(row, counter)) for row in rows)] for counter in counters]
    heads = ["counter", *([] if chinese else ["what it counts"]), "kind"]
    steps = [row["step"].partition("_")[0] for row in rows]
    return (f"{say('Emulated now')}: n = {evidence.N} int, block {evidence.BLOCK}, CUDA {rows[-1]['toolkit']}.\n\n"
            + markdown([*(say(head) for head in heads), *steps], lines, words=2 if chinese else 3))


def gpus(arguments: list[str], say, chinese: bool, name: str) -> str:
    """gpus step3: on each GPU the step before, this step, and how many times as fast; n = 2^25 int, block 256."""
    step = evidence.named(arguments[0])
    old = evidence.before(step)
    lines = []
    for device, file, source in (("H200", "h200", "measured here"), ("H100", "published", "published"), ("RTX 4090", "published", "published")):
        then, now = (evidence.recorded_time(file, each, device) if each else None for each in (old, step))
        form = "{:.1f}" if file == "h200" else "{:g}"  # others' as they were published
        if now is not None:
            lines.append([f"NVIDIA {device}", say(source), show(then, form), show(now, form), show(ratio(then, now), "{:.2f}")])
    if not lines:
        return say("Not recorded yet.") + "\n"
    return markdown([say(head) for head in ("GPU", "source", "before, µs", "now, µs", "times as fast")], lines, words=2)


def ncu(arguments: list[str], say, chinese: bool, name: str) -> str:
    """ncu r1 r2 …: what Nsight Compute counted on an H200 in the kernels of tests/hardware."""
    lines = []
    for kernel in arguments:
        row = evidence.hardware(kernel)
        conflicts = sum(number(row, f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum")
                        - number(row, f"smsp__sass_inst_executed_op_shared_{op}.sum") for op in ("ld", "st"))
        lines.append([f"`{kernel}`", show(number(row, "gpu__time_duration.sum") / 1e3, "{:.1f}"), show(number(row, "smsp__inst_executed.sum")),
                      show(number(row, "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"), "{:.1f}"), show(conflicts)])
    return markdown([say("kernel"), "µs", say("warp instructions"), say("lanes on"), say("bank conflicts")], lines, words=1)


def against_cub(arguments: list[str], say, chinese: bool, name: str) -> str:
    """bench int 1024 dirty 10 12 …: step 11 beside CUB at these powers of two, from bench/h200.csv."""
    kind, block, l2, *exponents = arguments
    heads, lines = comparison.against_cub(kind, block, l2, [int(e) for e in exponents])
    return f"{say('Measured')}: {comparison.read()[0]}; {kind}, block {block}, L2 {l2}.\n\n" + markdown(heads, lines, words=1)


def contenders(arguments: list[str], say, chinese: bool, name: str) -> str:
    """contenders int dirty 25: everybody at n = 2^25, from bench/h200.csv."""
    kind, l2, exponent = arguments
    heads, lines = comparison.contenders(kind, l2, 1 << int(exponent))
    return f"{say('Measured')}: {comparison.read()[0]}; n = 2^{exponent} {kind}, L2 {l2}.\n\n" + markdown(heads, lines, words=1)


def limits_of(arguments: list[str], say, chinese: bool, name: str) -> str:
    """limits 25: where each step's time goes at n = 2^25, block 256, from tests/hardware/h200_limits.csv."""
    return markdown(*limits.limits_table(1 << int(arguments[0])), words=1)


def times_of_blocks(arguments: list[str], say, chinese: bool, name: str) -> str:
    return markdown(*limits.blocks_table(), words=1)


def validated_counts(arguments: list[str], say, chinese: bool, name: str) -> str:
    """validated 33554432 256 int: what the hardware counted and we did too, from tests/validate/h200.csv."""
    heads, lines, summary = validated.table(*arguments)
    return f"{summary}. Of them, at n = {results.size(arguments[0])} {arguments[2]}, block {arguments[1]}:\n\n" + markdown(heads, lines, words=1)


def faults(arguments: list[str], say, chinese: bool, name: str) -> str:
    """faults: each kind in tests/faults, what the emulator says of it, and compute-sanitizer."""
    heads, lines, source = fault_kinds.table()
    return (f"{source}\n\n" if source else "") + markdown(heads, lines, words=len(heads))


TABLES = {
    "validated": validated_counts,
    "limits": limits_of, "blocks": times_of_blocks,
    "bench": against_cub, "contenders": contenders,
    "ladder": lambda arguments, say, chinese, name: ladder(say, chinese),
    "h200": recorded(times), "emulated": recorded(watched_counts), "published": recorded(published),
    "evidence": evidence_table, "gpus": gpus, "ncu": ncu, "faults": faults,
}


def table(words: str, chinese: bool) -> str:
    name, *arguments = words.split()
    if name not in TABLES:
        raise Unusable(f"unknown table '{name}'; known are {', '.join(TABLES)}")
    return "\n" + TABLES[name](arguments, in_language(chinese), chinese, name) + "\n"


# ---- diffs, outputs, figures, reports ----

def diff(words: str) -> str:
    """Without file names and line numbers; the two header lines of the file aside."""
    *given, step = (evidence.named(word) for word in words.split())
    old = given[0] if given else evidence.before(step)
    if not old:
        raise Unusable(f"{step} has no step before it")
    texts = [re.sub(r"\A/\*.*?\*/\n", "", (ROOT / each / "reduce.cu").read_text(encoding="utf-8"), flags=re.DOTALL) for each in (old, step)]
    lines = list(difflib.unified_diff(*(text.splitlines() for text in texts), lineterm="", n=1))[2:]
    return "```diff\n" + "".join(("@@" if line.startswith("@@") else line) + "\n" for line in lines) + "```\n"


def output(command: str) -> str:
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, env=evidence.environment(), timeout=300)
    return f"```console\n$ {command}\n{(done.stdout + done.stderr).rstrip()}\n```\n"


def figure(words: str) -> str:
    """One number: A, or "A / B" for a ratio, or "A - B".
    emulated step2 bank_conflicts | h200 step3 median_us | published H100 step3 | ncu r1 METRIC [millions|us] (ncu64: block 64)"""
    parts = re.split(r" ([/-]) ", words)
    if len(parts) == 3:
        left, right = (value(part) for part in (parts[0], parts[2]))
        return show(left / right, "{:.2f}" if left / right < 10 else "{:.0f}") if parts[1] == "/" else show_counter(left - right)
    found = value(words)
    return f"{found:,.1f}" if words.startswith(("h200", "ncu")) and found != int(found) else show_counter(found)


def value(words: str) -> float:
    source, *rest = words.split()
    found = None
    if source == "emulated":
        found = number(evidence.counts(evidence.named(rest[0])), rest[1])
    elif source == "h200":
        found = number(results.latest(list(evidence.recorded("h200"))).get(evidence.named(rest[0])), rest[1])
    elif source == "published":
        found = evidence.recorded_time("published", evidence.named(rest[-1]), " ".join(rest[:-1]))
    elif re.fullmatch(r"ncu\d*", source):
        found = number(evidence.hardware(rest[0], block=source[3:] or "256"), rest[1])
        found = found / {"millions": 1e6, "us": 1e3}[rest[2]] if found is not None and rest[2:] else found
    if found is None:
        raise Unusable(f"the figure '{words}' is not known")
    return found


def reported(page: Path, options: str, change: str) -> str:
    return f"```text\n{evidence.report(page.parent.name, change, options)}\n```\n"


def filled(page: Path, text: str) -> str:
    """`text`, which stands in `page`, with every generated part as it should be."""
    chinese = page.name.endswith(".zh.md")
    makers = {"table": lambda words: table(words, chinese), "diff": diff, "output": output}
    expected = len(TABLE.findall(text)) + len(BUG.findall(text)) + len(FIGURE.findall(text))
    if len(OPENERS.findall(text)) != expected:
        raise Unusable("a generated part is opened and not closed, or closed and not opened")
    text = TABLE.sub(lambda found: found[1] + makers[found[2]](found[3]) + found[5], text)
    text = BUG.sub(lambda found: found[1] + reported(page, found[2], found[3]) + found[5], text)
    return FIGURE.sub(lambda found: found[1] + figure(found[2]) + found[4], text)


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the generated parts of the pages.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is out of date")
    parser.add_argument("pages", nargs="*", type=Path, help="default: all")
    options = parser.parse_args()
    status = 0
    for page in [each.resolve() for each in options.pages] or pages():
        try:
            old = page.read_text(encoding="utf-8")
            new = filled(page, old)
        except (OSError, Unusable) as error:
            print(f"docs.py: {page.relative_to(ROOT)}: {error}", file=sys.stderr)
            status = 2
            continue
        if new != old and options.check:
            print(f"{page.relative_to(ROOT)} is out of date; run: make docs", file=sys.stderr)
            status = status or 1
        elif new != old:
            page.write_text(new, encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
