"""The notebook that walks the ladder runs from its first cell to its last, and is committed without outputs."""
import json

import pytest
from conftest import ROOT, STEPS

NOTEBOOK = ROOT / "notebooks" / "ladder.ipynb"


def source():
    return [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]]


def test_notebook_walks_every_step_and_holds_no_outputs():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells)
    walked = [text.split('"')[1] for kind, text in source() if kind == "code" and text.startswith("lesson(")]
    assert walked == [step.partition("_")[0] for step in STEPS]


def test_notebook_runs():
    reason = "make notebook installs it into .venv and runs this"
    nbformat = pytest.importorskip("nbformat", reason=reason)
    nbclient = pytest.importorskip("nbclient", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    outputs = {cell["source"]: cell["outputs"] for cell in notebook.cells if cell["cell_type"] == "code"}
    pictures = sum("image/svg+xml" in output.get("data", {}) for each in outputs.values() for output in each)
    assert pictures >= len(STEPS)
    said = " ".join("".join(output.get("text", "") for output in list(outputs.values())[-1]).split())  # it is folded
    assert "race on shared memory" in said and said.endswith("exit status 3")
