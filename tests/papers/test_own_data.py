"""The examples of the papers' READMEs on data of one's own run as they stand there."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import sparseid.papers
from sparseid.config.compose import compose
from sparseid.training.run import execute

PAPERS = Path(sparseid.papers.__file__).parent
NAMES = {
    "sparse_vae": {"feature_names": "selector", "row_ids": "codes"},
    "ddl": {"feature_names": "dependence", "row_ids": "codes"},
    "tbr": {"environment_names": "weights", "arc_names": "deltas", "row_ids": "test_latents"},
    "regcl": {"label_names": "map_jf_plus"},
}
"""Names in the arrays of a run, and the array whose first axis after that of seeds, if any, they name."""


def example(paper):
    """The files of an example by name, and the arguments of its command."""
    text = (PAPERS / paper / "README.md").read_text().split("\n## Your own data\n")[1].split("\n## ")[0]
    names = re.findall(r"`([\w.]+\.(?:csv|nwk))`", text.split("```")[0])
    blocks = re.findall(r"```(?:csv|newick)\n(.*?)```", text, re.DOTALL)
    [command] = re.findall(r"```\n(python run.py .*?)\n```", text, re.DOTALL)
    return dict(zip(names, blocks, strict=True)), shlex.split(command)[2:]


@pytest.mark.parametrize("paper", NAMES)
def test_the_example_runs_as_it_stands_and_keeps_its_names(paper, tmp_path, monkeypatch, torch_settings):
    files, arguments = example(paper)
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        Path(name).write_text(text)
        assert text.count("\n") <= 13
    folder = execute(compose([*arguments, "scale=smoke", "trainer.accelerator=cpu", "outputs=out"]))
    header = next(iter(files.values())).partition("\n")[0].split(",")
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        assert set(arrays["feature_names"].tolist()) < set(header)
        for names, of in NAMES[paper].items():
            assert arrays[names].dtype.kind == "U"
            assert len(arrays[names]) in arrays[of].shape[:2]
