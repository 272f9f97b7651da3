"""Results as the harness writes them: CSV rows, read by column name.

read() gives the rows of one file, latest() the last row of each step under one setup, number() a value or None.
Columns that are missing or empty are None, never zero: a time that was not measured stays absent.
"""
import csv
import math
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ELEMENT_BYTES = {"int": 4, "float": 4, "double": 8}
SETUP = ("source", "device", "type", "n", "block")  # rows can be compared when all of these agree
SUMS = {  # counters that people read as one number
    "global_sectors": ("global_load_sectors", "global_store_sectors"),
    "shared_accesses": ("shared_loads", "shared_stores"),
    "shared_wavefronts": ("shared_load_wavefronts", "shared_store_wavefronts"),
}

Row = dict[str, str]


class Unusable(Exception):
    """One sentence that says what is wrong with the input."""


def read(path: Path) -> list[Row]:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            lines = (line for line in file if not line.startswith("#"))
            rows = [{k: (v or "").strip() for k, v in row.items() if k} for row in csv.DictReader(lines)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Unusable(f"{path}: cannot be read: {error}") from None
    missing = [column for column in ("step", *SETUP, "verified") if rows and column not in rows[0]]
    if missing:
        raise Unusable(f"{path}: no column named {', '.join(missing)}")
    for line, row in enumerate(rows, 1):
        if not row["n"].isdecimal() or row["type"] not in ELEMENT_BYTES:
            raise Unusable(f"{path}: row {line}: n is '{row['n']}', type is '{row['type']}'; "
                           f"allowed are a whole number and {', '.join(ELEMENT_BYTES)}")
    return rows


def setup(row: Row) -> tuple[str, ...]:
    return tuple(row[column] for column in SETUP)


def step_number(step: str) -> int:
    found = re.match(r"step(\d+)", step)
    return int(found[1]) if found else 1 << 30


def latest(rows: list[Row], wanted: tuple[str, ...] | None = None) -> dict[str, Row]:
    """The last row of each step, in ladder order, among the rows that have the wanted setup (default: the last row's)."""
    wanted = wanted or setup(rows[-1])
    last = {row["step"]: row for row in rows if setup(row) == wanted}
    return dict(sorted(last.items(), key=lambda item: step_number(item[0])))


def number(row: Row | None, name: str) -> float | None:
    if row is None:
        return None
    if name in SUMS:
        parts = [number(row, part) for part in SUMS[name]]
        return None if None in parts else sum(parts)
    try:
        value = float(row.get(name, ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None  # a ratio of nothing to nothing


def ratio(over: float | None, under: float | None) -> float | None:
    return None if over is None or not under else over / under


def verified(row: Row) -> bool:
    """Checked by the harness; a published figure stands on its publisher's word."""
    return row["source"] == "published" or row["verified"].lower() in ("yes", "1", "true")


def gbps(row: Row) -> float | None:
    """As recorded, or n times the size of an element over the median time."""
    written, time = number(row, "gbps"), number(row, "median_us")
    if written is not None or not time:
        return written
    return float(row["n"]) * ELEMENT_BYTES[row["type"]] / time / 1e3


def day(row: Row) -> str:
    return row.get("date", "")[:10]


def size(n: str) -> str:
    """2^25 for 33554432; other sizes as they are."""
    value = int(n)
    return f"2^{value.bit_length() - 1}" if value >= 1024 and value & (value - 1) == 0 else n


def counters() -> set[str]:
    """The names in counters.def, which declares each counter once, and ours for sums of two of them."""
    text = (ROOT / "common" / "emulator" / "counters.def").read_text(encoding="utf-8")
    return set(re.findall(r"^(?:COUNTER|RATIO)\((\w+)", text, re.MULTILINE)) | set(SUMS)


def watched(step: str) -> list[str]:
    """The counters that the step's `Watch:` line names, in its order. The line in reduce.cu is the only place that says so."""
    names = counters()
    return list(dict.fromkeys(word for word in re.findall(r"\w+", header(step)[1]) if word in names))


def header(step: str) -> tuple[str, str]:
    """The idea and the `Watch:` sentence from the comment that opens the step's reduce.cu; empty if there is none."""
    try:
        text = (ROOT / step / "reduce.cu").read_text(encoding="utf-8")
    except OSError:
        return "", ""
    comment = re.match(r"\s*/\*(.*?)\*/", text, re.DOTALL)
    words = " ".join(line.strip(" *") for line in comment[1].splitlines()) if comment else ""
    idea, _, watch = words.partition("Watch:")
    return re.sub(r"^\s*Step \d+:\s*", "", idea).strip(), watch.strip()


def show(value: float | None, form: str = "{:,.0f}") -> str:
    return "–" if value is None else form.format(value)


def show_counter(value: float | None) -> str:
    """Counts in full, ratios with their fraction."""
    return show(value, "{:,.0f}" if value is None or value == int(value) else "{:,.2f}")
