import dataclasses
import json
import re
import runpy
import shlex
from pathlib import Path

import pytest

from sparseid.config.compose import compose

FOLDER = Path(__file__).parents[1] / "docs" / "tutorials"
FOUND = {
    "ddl": lambda names: names["mcc"] > 0.95 and names["mcc"] > names["pca_mcc"] + 0.1,
    "regcl": lambda names: (
        names["model"].score(names["neurons"][9000:], names["labels"][9000:]) > 0.9
        and names["mean_aucs"]["RegCL"] > 0.8
    ),
    "sparling": lambda names: names["errors"] < 0.05 and names["right"] > 0.8 * names["total"],
    "sparse_vae": lambda names: sum(names["agree"]) >= 2,
    "tbr": lambda names: (
        all(model.rows_["value"][0] < 0.05 for model in names["models"])
        and all(change.loc[["cortex", "cerebellum"]].abs().max(axis=None) < 0.05 for change in names["changes"])
        and all(change.loc[["heart", "lung"]].abs().max(axis=1).min() > 0.3 for change in names["changes"])
    ),
}
"""Conditions on the variables of each tutorial at its end, what its text says in round numbers."""
SHOWN = {
    "ddl": r"MCC (\S+), of PCA (\S+)",
    "regcl": r"held-out end: RegCL (\S+), linear regression (\S+)",
    "sparling": r"on new images: (\S+), with the most frequent label for all: (\S+)",
    "sparse_vae": r" sparse_vae +mse +(\S+)",
    "tbr": r" tbr +2 +mse +(\S+)",
}
"""Numbers in the output of each tutorial that its notebook and a run on another processor have in common."""
COMMAND = re.compile(r"^python -m sparseid ((?:.*\\\n)*.*)$", re.M)
"""The command in a tutorial that repeats its fit, in one or more lines."""


def test_every_tutorial_has_a_condition():
    assert {file.stem for file in FOLDER.glob("*.py")} == set(FOUND)


@pytest.mark.parametrize("name", FOUND)
def test_a_tutorial_finds_what_it_says(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = runpy.run_path(str(FOLDER / f"{name}.py"))
    assert FOUND[name](names)
    in_notebook = "".join("".join(output.get("text", "")) for cell in cells(name) for output in cell.get("outputs", []))
    assert numbers(name, capsys.readouterr().out) == pytest.approx(numbers(name, in_notebook), abs=0.02)
    fitted = names["models"][0] if name == "tbr" else names["model"]
    assert settings(compose(command(name))) == settings(fitted.model_.run.config)


@pytest.mark.parametrize("name", FOUND)
def test_a_notebook_has_the_cells_of_its_script_and_their_output(name):
    script = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    sources = ["".join(cell["source"]).strip() for cell in cells(name)]
    assert sources == [source_of(cell) for cell in script.split("# %%")[1:]]
    outputs = [output for cell in cells(name) for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output["output_type"] == "error" for output in outputs)


def source_of(cell: str) -> str:
    """Source of a cell of a notebook, given its lines in a script."""
    head, _, body = cell.partition("\n")
    if head.strip() != "[markdown]":
        return body.strip()
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.strip().split("\n"))


def cells(name: str) -> list[dict]:
    """Return the cells of a notebook."""
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


def numbers(name: str, output: str) -> list[float]:
    """Return the numbers of `SHOWN` in the output of a tutorial."""
    found = re.search(SHOWN[name], output)
    assert found, f"{SHOWN[name]} is not in: {output}"
    return [float(number.rstrip("%")) / (100 if "%" in number else 1) for number in found.groups()]


def command(name: str) -> list[str]:
    """Return the overrides of the command that repeats a tutorial's fit; of a sweep over seeds, those of seed 0."""
    [text] = COMMAND.findall("\n".join("".join(cell["source"]) for cell in cells(name)))
    return ["seed=0" if word.startswith("seed=") else word for word in shlex.split(text.replace("\\\n", ""))]


def settings(config) -> dict:
    """Return a configuration without the places of files and the names of their columns."""
    found = dataclasses.asdict(config) | {"outputs": None}
    places = ("path", "tree", "environment", "label", "labels")
    return found | {"data": {key: value for key, value in found["data"].items() if key not in places}}
