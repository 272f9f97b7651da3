"""The programs of this folder, as their first lines declare them:

    // WHAT IS WRONG; check: race; says: WORDS OF THE REPORT; status: 0; env: NAME=VALUE; hangs a GPU

check is what EMULATOR_CHECK needs (always: nothing). The last three are optional: a fault that is only told ends with status 0.
Lines that the report must name end in a comment, here."""
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
FORMS = {"fault": [], "twin": ["-DCORRECT"]}


@dataclass
class Fault:
    name: str
    source: Path
    what: str
    check: str
    says: str
    status: int | None  # None: any but 0
    environment: dict
    hangs_gpu: bool
    lines: list


def read(source: Path) -> Fault:
    lines = source.read_text(encoding="utf-8").splitlines()
    what, *facts = lines[0].removeprefix("// ").split("; ")
    hangs = "hangs a GPU" in facts
    known = dict(fact.split(": ", 1) for fact in facts if fact != "hangs a GPU")
    status = known.pop("status", None)
    environment = dict([known.pop("env").split("=", 1)]) if "env" in known else {}
    here = [number for number, line in enumerate(lines, 1) if re.search(r"/\* here \*/", line)]
    fault = Fault(source.stem, source, what, known.pop("check"), known.pop("says"), None if status is None else int(status),
                  environment, hangs, here)
    if known:
        raise ValueError(f"{source.name}: its first line says what is not known: {', '.join(known)}")
    return fault


def all_of_them() -> list[Fault]:
    return [read(source) for source in sorted(FOLDER.glob("*.cu"))]
