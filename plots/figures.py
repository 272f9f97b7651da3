#!/usr/bin/env python3
"""Draws what a block does, from traces of the steps on the emulator (EMULATOR_TRACE): nothing here knows the algorithm.

    python3 plots/figures.py [--out docs/pictures]        run `make steps` first; the same traces give the same bytes

lanes: who works in each round, warp by warp.  banks: how many different words each bank must give in a round's worst access.
tree: what is added to what.  sectors: which 32-byte sectors a warp's global loads fetch, and how much of them it uses.
Colours are Okabe and Ito's; a hatch or a number says the same without colour.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import evidence
from results import ROOT, Unusable

BLUE, SKY, ORANGE, VERMILION, YELLOW, GREY = "#0072B2", "#56B4E9", "#E69F00", "#D55E00", "#F0E442", "#767676"
BLOCKS = {"lanes": 128, "banks": 256, "tree": 32, "sectors": 128}  # threads, so that a picture is legible
WARP = 32
LAST = {"step11_onepass"}  # of 16 blocks the last one to finish is drawn


# ---- the trace ----

@dataclass
class Access:
    kind: str       # load, store or shuffle
    space: str
    bytes: int
    addresses: dict[int, int]
    wavefronts: int = 0
    sectors: int = 0


@dataclass
class Round:
    """What one warp does from one addition's first load to its store."""
    warp: int
    key: tuple[int, int]            # block barriers passed, stores since
    accesses: list[Access] = field(default_factory=list)

    def of(self, kind: str) -> list[Access]:
        return [access for access in self.accesses if access.kind == kind]


def trace(step: str, block: int) -> list[dict]:
    """One block of the step, over whole tiles: the first, or the last where the last does more."""
    tiles, traced = 16, 15 if step in LAST else 0
    program = ROOT / step / "run"
    if not program.exists():
        raise Unusable(f"{step}/run is not built; run: make steps")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        done = subprocess.run([program, "--n", str(tiles * 16 * block), "--block", str(block), "--device", "emulator", "--quiet"], capture_output=True,
                              text=True, timeout=60, env=evidence.environment() | {"EMULATOR_TRACE": f"block={traced},json:{file}"})
        if done.returncode != 0:
            raise Unusable(f"{step}: {done.stderr.strip()}")
        return json.loads(file.read_text())["events"]


def access_of(event: dict) -> Access | None:
    if event["event"] == "access":
        return Access(event["kind"], event["space"], event["bytes"], {int(lane): at for lane, at in event["addresses"].items()},
                      event.get("wavefronts", 0), event.get("sectors", 0))
    if event["opcode"].startswith("shfl"):
        mask = int(event["lanes"], 16)
        return Access("shuffle", "lanes", 4, {lane: lane for lane in range(WARP) if mask >> lane & 1})
    return None


def additions(events: list[dict]) -> list[Round]:
    """The rounds of the tree: each ends with a store to the tile, or is one shuffle. What only fills the tile is no round."""
    rounds, barriers, stores, pending = [], {}, {}, {}

    def end_round(warp: int) -> None:
        done = pending.pop(warp)
        done.key = (barriers.get(warp, 0), stores.get(warp, 0))
        stores[warp] = done.key[1] + 1
        rounds.append(done)

    in_place = not any(event["event"] == "access" and event["space"] == "shared" for event in events)
    for event in events:
        warp = event["warp"]
        if event["event"] == "issue" and event["opcode"].startswith(("bar.sync", "barrier.sync", "bar.cta", "barrier.cta")):
            barriers[warp], stores[warp] = barriers.get(warp, 0) + 1, 0
            pending.pop(warp, None)
        if event["event"] == "issue" and event["opcode"].startswith("add") and warp in pending and pending[warp].of("shuffle"):
            end_round(warp)  # a 64-bit sum takes two shuffles
        access = access_of(event)
        if access is None or (access.space == "global" and (not in_place or access.bytes == 8)):
            continue
        current = pending.setdefault(warp, Round(warp, (0, 0)))
        current.accesses.append(access)
        if access.kind != "store":
            continue
        if current.of("load"):
            end_round(warp)
        pending.pop(warp, None)
    return [each for each in rounds if each.of("load") or each.of("shuffle")]


def numbered(rounds: list[Round]) -> list[list[Round]]:
    keys = sorted({each.key for each in rounds})
    return [sorted((each for each in rounds if each.key == key), key=lambda each: each.warp) for key in keys]


@dataclass
class Add:
    lane: int
    partner: int        # the address, or for a shuffle the lane, whose value is added
    target: int
    needed: bool = True  # does the block's result depend on it?


def adds_of(each: Round) -> list[Add]:
    """Every lane that adds loads its partner last. A lane that stores what it loaded adds nothing."""
    if each.of("shuffle"):
        return [Add(lane, lane, lane) for lane in each.accesses[-1].addresses]
    loaded, stored = each.of("load")[-1].addresses, each.of("store")[-1].addresses
    return [Add(lane, at, stored[lane]) for lane, at in loaded.items() if lane in stored and stored[lane] != at]


def tree_of(events: list[dict]) -> list[dict[int, list[Add]]]:
    """Round by round, what each warp adds; and, from the last round back, what the first element of the tile needs."""
    found = [{each.warp: adds for each in one if (adds := adds_of(each))} for one in numbered(additions(events))]
    rounds = [one for one in found if one]
    needed = {min((add.target for one in rounds for adds in one.values() for add in adds), default=0)}
    if not any(access.kind == "shuffle" for event in events if (access := access_of(event))):
        for one in reversed(rounds):
            wanted = set(needed)
            for add in (add for adds in one.values() for add in adds):
                add.needed = add.target in wanted
                needed |= {add.partner} if add.needed else set()
    return rounds


# ---- SVG ----

class Drawing:
    def __init__(self, width: int, height: int, title: str):
        self.width, self.height, self.title = width, height, title
        self.boxes: dict[str, list[str]] = {}
        self.parts: list[str] = []

    def box(self, style: str, x: float, y: float, width: float, height: float) -> None:
        self.boxes.setdefault(style, []).append(f"M{x:g} {y:g}h{width:g}v{height:g}h-{width:g}z")

    def line(self, style: str, x1: float, y1: float, x2: float, y2: float) -> None:
        self.boxes.setdefault(style, []).append(f"M{x1:g} {y1:g}L{x2:g} {y2:g}")

    def text(self, x: float, y: float, words: str, size: int = 20, anchor: str = "start", colour: str = "#000", weight: str = "") -> None:
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        bold = f' font-weight="{weight}"' if weight else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"{bold}>{words}</text>')

    def svg(self) -> str:
        drawn = [f'<path class="{style}" d="{"".join(shapes)}"/>' for style, shapes in self.boxes.items()]
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" '
            f'font-family="DejaVu Sans, Verdana, Arial, sans-serif" role="img">', f"<title>{self.title}</title>", STYLE,
            f'<rect width="{self.width}" height="{self.height}" fill="#fff"/>', *drawn, *self.parts, "</svg>", ""])


STYLE = f"""<defs>
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="#fff"/><rect width="2" height="6" fill="#9a9a9a"/></pattern>
<pattern id="dense" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="5" height="5" fill="{VERMILION}"/><rect width="1.5" height="5" fill="#fff"/></pattern>
</defs>
<style>
.work{{fill:{BLUE};stroke:#fff;stroke-width:1}} .idle{{fill:url(#hatch);stroke:#9a9a9a;stroke-width:.5}} .waste{{fill:{ORANGE};stroke:#fff;stroke-width:1}} .off{{fill:#fff;stroke:#c8c8c8;stroke-width:1}}
.w1{{fill:{SKY};stroke:#fff}} .w2{{fill:{YELLOW};stroke:#555}} .w4{{fill:{ORANGE};stroke:#555}} .w8{{fill:url(#dense);stroke:#555}}
.keep{{stroke:#9a9a9a;stroke-width:1.5;fill:none}} .add{{stroke:{BLUE};stroke-width:2.5;fill:none}} .lost{{stroke:{ORANGE};stroke-width:1.5;stroke-dasharray:5 4;fill:none}} .node{{fill:{BLUE}}} .dead{{fill:#fff;stroke:{ORANGE};stroke-width:2}}
.fetched{{fill:url(#hatch);stroke:#767676;stroke-width:1}} .used{{fill:{BLUE};stroke:#fff;stroke-width:1}} .unfetched{{fill:#fff;stroke:#d8d8d8;stroke-width:1}}
</style>"""


def legend(drawing: Drawing, x: float, y: float, entries: list[tuple[str, str]]) -> None:
    for style, words in entries:
        drawing.box(style, x, y - 16, 20, 20)
        drawing.text(x + 28, y, words, 18)
        x += 28 + 10.3 * len(words) + 34


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


# ---- the four pictures ----

def lanes(step: str, events: list[dict], block: int) -> Drawing:
    rounds = tree_of(events)
    warps = 1 + max(event["warp"] for event in events)
    cell, gap, left, row, top = 6, 12, 100, 36, 78
    right = left + warps * (WARP * cell + gap)
    drawing = Drawing(max(right, 560) + 210, top + row * len(rounds) + 56, f"{step}: lanes at work in each round of one block of {warps * WARP} threads")
    drawing.text(8, 28, f"{step}: who adds, round by round ({warps * WARP} threads{', the last block' if step in LAST else ''})", 22, weight="bold")
    for warp in range(warps):
        drawing.text(left + warp * (WARP * cell + gap) + WARP * cell / 2, 62, f"warp {warp}", 18, "middle", GREY)
    for number, working in enumerate(rounds):
        y = top + number * row
        drawing.text(8, y + 22, f"round {number + 1}", 18)
        for warp in range(warps):
            x = left + warp * (WARP * cell + gap)
            styles = {add.lane: "work" if add.needed else "waste" for add in working.get(warp, [])}
            if not styles:
                drawing.box("off", x, y, WARP * cell, 28)
            for lane in range(WARP if styles else 0):
                drawing.box(styles.get(lane, "idle"), x + lane * cell, y, cell, 28)
        drawing.text(right, y + 22, f"{plural(sum(map(len, working.values())), 'lane')}, {plural(len(working), 'warp')}", 18)
    waste = any(not add.needed for working in rounds for adds in working.values() for add in adds)
    entries = [("work", "adds"), *([("waste", "adds what nobody needs")] if waste else []), ("idle", "idle, its warp works"), ("off", "whole warp idle")]
    legend(drawing, left if warps > 2 else 8, top + row * len(rounds) + 34, entries)
    return drawing


def words_a_bank(access: Access) -> dict[int, int]:
    words = {at // 4 for start in access.addresses.values() for at in range(start, start + access.bytes, 4)}
    return {bank: sum(word % 32 == bank for word in words) for bank in range(32)}


def degree(count: int) -> str:
    return "w8" if count >= 8 else "w4" if count >= 4 else "w2" if count >= 2 else "w1"


def banks(step: str, events: list[dict], block: int) -> Drawing | None:
    rounds = numbered([each for each in additions(events) if each.of("load") and each.accesses[0].space == "shared"])
    if not rounds:
        return None
    cell, left, row, top = 26, 100, 36, 78
    drawing = Drawing(left + 32 * cell + 210, top + row * len(rounds) + 56, f"{step}: words each bank must give in the worst access of each round")
    drawing.text(8, 28, f"{step}: words asked of each bank, warp 0's worst access ({block} threads)", 22, weight="bold")
    for bank in range(0, 32):
        drawing.text(left + bank * cell + cell / 2, 66, str(bank), 14, "middle", GREY)
    for number, each in enumerate(rounds):
        y = top + number * row
        worst = max(each[0].of("load"), key=lambda access: access.wavefronts)
        drawing.text(8, y + 22, f"round {number + 1}", 18)
        for bank, count in words_a_bank(worst).items():
            x = left + bank * cell
            drawing.box(degree(count) if count else "off", x, y, cell, 28)
            if count:
                drawing.text(x + cell / 2, y + 21, str(count), 18, "middle", weight="bold" if count > 1 else "")
        drawing.text(left + 32 * cell + 12, y + 22, plural(worst.wavefronts, "wavefront"), 18)
    legend(drawing, left, top + row * len(rounds) + 34, [("w1", "no conflict"), ("w2", "2 words: 2 passes"), ("w4", "4"), ("w8", "8 or more"), ("off", "not asked")])
    return drawing


def tree(step: str, events: list[dict], block: int) -> Drawing | None:
    rounds = [adds for one in tree_of(events) if (adds := one.get(0))]
    if not rounds:
        return None
    base = min(min(add.partner, add.target) for adds in rounds for add in adds)
    cell, left, row, top = 28, 100, 64, 84
    columns = 1 + max((max(add.partner, add.target) - base) // 4 for adds in rounds for add in adds)
    drawing = Drawing(left + columns * cell + 20, top + row * len(rounds) + 56, f"{step}: the tree as its accesses draw it, one warp")
    drawing.text(8, 28, f"{step}: what is added to what (one warp, {plural(columns, 'element')})", 22, weight="bold")
    place = lambda address: left + (address - base) // 4 * cell + cell / 2
    for column in range(columns):
        drawing.text(left + column * cell + cell / 2, 62, str(column), 14, "middle", GREY)
        drawing.box("node", left + column * cell + cell / 2 - 5, top - 5, 10, 10)
    for number, adds in enumerate(rounds):
        y = top + number * row
        drawing.text(8, y + row / 2 + 8, f"round {number + 1}", 18)
        for add in sorted(adds, key=lambda add: add.needed):
            drawing.line("keep" if add.needed else "lost", place(add.target), y, place(add.target), y + row)
            drawing.line("add" if add.needed else "lost", place(add.partner), y, place(add.target), y + row)
            drawing.box("node" if add.needed else "dead", place(add.target) - 5, y + row - 5, 10, 10)
    waste = any(not add.needed for adds in rounds for add in adds)
    legend(drawing, left, top + row * len(rounds) + 38, [("node", "a sum"), *([("dead", "a sum that nobody needs")] if waste else [])])
    return drawing


def sectors(step: str, events: list[dict], block: int) -> Drawing | None:
    loads = [access_of(event) for event in events
             if event["event"] == "access" and event["warp"] == 0 and event["kind"] == "load" and event["space"] == "global"]
    if not loads:
        return None
    loads = loads[:14]
    begin = [min(load.addresses.values()) // 128 * 128 for load in loads]
    end = [max(load.addresses.values()) + load.bytes for load in loads]
    far = max(end) - min(begin) > 1024  # then each row starts where its load does
    base = begin if far else [min(begin)] * len(loads)
    columns = max(-(-(last - first) // 128) * 32 for first, last in zip(base, end))
    cell, left, row, top = max(5, min(24, 800 // columns)), 100, 34, 78
    drawing = Drawing(left + columns * cell + 300, top + row * len(loads) + 56, f"{step}: sectors that one warp's global loads fetch")
    drawing.text(8, 28, f"{step}: 32-byte sectors fetched by warp 0's loads ({block} threads)", 22, weight="bold")
    drawing.text(left, 64, f"{columns} elements, a box a sector of 8{'; each row begins where its load does' if far else ''}", 16, colour=GREY)
    for number, load in enumerate(loads):
        y = top + number * row
        used = {(at - base[number]) // 4 for start in load.addresses.values() for at in range(start, start + load.bytes, 4)}
        fetched = {element // 8 for element in used}
        drawing.text(8, y + 20, f"load {number + 1}", 18)
        for sector in range(columns // 8):
            drawing.box("fetched" if sector in fetched else "unfetched", left + sector * 8 * cell, y, 8 * cell, 26)
        for element in sorted(used):
            drawing.box("used", left + element * cell, y + 3, cell, 20)
        drawing.text(left + columns * cell + 14, y + 20, f"{plural(load.sectors, 'sector')}, {100 * len(used) * 4 / (32 * load.sectors):g} % used", 18)
    legend(drawing, left, top + row * len(loads) + 34, [("used", "asked for"), ("fetched", "fetched all the same")])
    return drawing


PICTURES = {"lanes": lanes, "banks": banks, "tree": tree, "sectors": sectors}
SHOWN = {  # a step's lesson shows these; a new step adds its row
    "step0_naive": "lanes tree sectors", "step1_shared": "lanes sectors", "step2_nodiverge": "lanes banks", "step3_nobank": "lanes banks tree",
    "step4_halfblocks": "lanes sectors", "step5_halfthreads": "lanes", "step6_warpunroll": "lanes tree", "step7_fullunroll": "lanes",
    "step8_gridstride": "lanes", "step9_shuffle": "lanes", "step10_vectorload": "sectors", "step11_onepass": "lanes",
}


def draw(step: str, kind: str) -> str | None:
    drawing = PICTURES[kind](step, trace(step, BLOCKS[kind]), BLOCKS[kind])
    return drawing.svg() if drawing else None


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws what a block does, from traces of the steps.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        for step, kinds in SHOWN.items():
            for kind in kinds.split():
                svg = draw(step, kind)
                if svg is None:
                    raise Unusable(f"{step} has nothing to show as {kind}")
                (options.out / f"{step.partition('_')[0]}_{kind}.svg").write_text(svg, encoding="utf-8")
    except Unusable as error:
        print(f"figures.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
