import json
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "tutorials"
FOUND = {
    "ddl": lambda names: names["mcc"] > 0.95 and names["mcc"] > names["pca_mcc"] + 0.1,
    "regcl": lambda names: (
        names["model"].score(names["neurons"][9000:], names["labels"][9000:]) > 0.9
        and names["mean_aucs"]["RegCL"] > 0.8
    ),
    "sparling": lambda names: names["errors"] < 0.05 and names["right"] > 0.8 * names["total"],
    "sparse_vae": lambda names: sum(names["agree"]) >= 2,
    "tbr": lambda names: names["models"][names["best"]].rows_["value"][0] < 0.05,
}
"""Conditions on the variables of each tutorial at its end, what its text says in round numbers."""


def test_every_tutorial_has_a_condition():
    assert {file.stem for file in FOLDER.glob("*.py")} == set(FOUND)


@pytest.mark.parametrize("name", FOUND)
def test_a_tutorial_finds_what_it_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = runpy.run_path(str(FOLDER / f"{name}.py"))
    assert FOUND[name](names)


@pytest.mark.parametrize("name", FOUND)
def test_a_notebook_has_the_cells_of_its_script_and_their_output(name):
    script = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    cells = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]).strip() for cell in cells]
    assert sources == [source_of(cell) for cell in script.split("# %%")[1:]]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output["output_type"] == "error" for output in outputs)


def source_of(cell: str) -> str:
    """Source of a cell of a notebook, given its lines in a script."""
    head, _, body = cell.partition("\n")
    if head.strip() != "[markdown]":
        return body.strip()
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.strip().split("\n"))
