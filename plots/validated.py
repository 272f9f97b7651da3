"""Our exact counters beside an H200's, as `make validate` wrote them to tests/validate/h200.csv: a table for plots/docs.py."""
import csv

from results import ROOT, step_number

RECORDED = ROOT / "tests" / "validate" / "h200.csv"
SHOWN = ["global_loads", "global_load_sectors", "global_stores", "global_store_sectors", "shared_loads", "shared_load_wavefronts",
         "shared_stores", "shared_store_wavefronts", "barriers"]


def table(n: str, block: str, kind: str) -> tuple[list[str], list[list[str]], str]:
    """Heads, a line a step (the hardware's count, which is ours; both where they differ), and how many of all pairs are equal."""
    with open(RECORDED, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {(row["step"], row["counter"]): row for row in rows if (row["n"], row["block"], row["type"]) == (n, block, kind)}
    steps = sorted({step for step, _ in found}, key=step_number)

    def cell(row: dict[str, str]) -> str:
        return f"{int(row['hardware']):,}" if row["difference"] == "0" else f"{int(row['hardware']):,} (ours {int(row['ours']):,})"
    equal = sum(row["difference"] == "0" for row in rows)
    return ["step", *(f"`{name}`" for name in SHOWN)], [[step, *(cell(found[step, name]) for name in SHOWN)] for step in steps], \
        f"{equal:,} of {len(rows):,} counts equal the hardware's"
