"""The report: one page that needs nothing beside itself, and that a browser shows without a complaint, wide and narrow, light and dark."""
import html
import json
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, STEPS, run

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    for step in STEPS:
        assert run(ROOT / step / "run", "--n", "5000", "--device", "emulator", "--quiet", "--csv", folder / "run.csv").returncode == 0
    done = run(sys.executable, ROOT / "plots" / "report.py", "--csv", folder / "run.csv", "--out", folder / "report.html", "--n", "5000")
    assert done.returncode == 0, done.stderr
    return folder / "report.html"


def test_report_needs_nothing_beside_itself(report):
    text = report.read_text(encoding="utf-8")
    assert re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?!#|data:,)[^"')]+""", text) == []
    assert "<script" not in text and "@import" not in text


def test_report_holds_every_step_whole(report):
    text = report.read_text(encoding="utf-8")
    for step in STEPS:
        part = text[text.index(f'<section id="{step}">'):].partition("</section>")[0]
        shown = [html.unescape(line) for line in re.findall(r'<td class="source"[^>]*>(.*?)</td>', part)]
        assert [line.strip() for line in shown] == [line.strip() for line in (ROOT / step / "reduce.cu").read_text().splitlines()]
        assert part.count("<figure>") >= 1 and ("What changed from" in part) == (step != STEPS[0])


def test_report_without_a_run_says_so(tmp_path):
    done = run(sys.executable, ROOT / "plots" / "report.py", "--csv", tmp_path / "none.csv", "--out", tmp_path / "report.html")
    assert done.returncode == 2 and "none.csv" in done.stderr


MEASURE = """<body style="margin:0"><iframe id="f" style="border:0;width:%(width)dpx;height:1000px" src="%(page)s"></iframe><pre id="out"></pre><script>
const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
                     return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
document.getElementById("f").onload = e => {
    const d = e.target.contentDocument, w = e.target.contentWindow, paper = light(w.getComputedStyle(d.body).backgroundColor);
    const contrast = s => { const ink = light(w.getComputedStyle(d.querySelector(s)).color);
                            return (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05); };
    document.getElementById("out").textContent = JSON.stringify({wide: d.documentElement.scrollWidth, paper: paper,
        contrast: ["body", ".faint", "a", "h2"].map(contrast), size: parseFloat(w.getComputedStyle(d.body).fontSize)});
};
</script></body>"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_report_is_legible(report, tmp_path, width, dark):
    if not BROWSER:
        pytest.skip("no Chromium found; on Debian and Ubuntu: apt install chromium")
    wrapper = tmp_path / "wrapper.html"
    wrapper.write_text(MEASURE % {"width": width, "page": report.as_uri()})
    scheme = ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else ["--blink-settings=preferredColorScheme=1"]
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--enable-logging=stderr",
                           f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=10000", *scheme, "--dump-dom", wrapper.as_uri()],
                          capture_output=True, text=True, timeout=120)
    assert "CONSOLE" not in done.stderr, done.stderr
    seen = json.loads(html.unescape(re.search(r'<pre id="out">(\{.*?\})</pre>', done.stdout)[1]))
    assert seen["wide"] <= width, "the page itself scrolls sideways"
    assert (seen["paper"] < 0.1) == dark and min(seen["contrast"]) >= 4.5 and seen["size"] >= 16
