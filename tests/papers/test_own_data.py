"""The examples of the papers' READMEs on data of one's own run as they stand there."""

import json
import re
import shlex
import subprocess
import sys
import warnings
from contextlib import chdir
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


def section(paper):
    return (PAPERS / paper / "README.md").read_text().split("\n## Your own data\n")[1].split("\n## ")[0]


def example(paper):
    """The files of an example by name, and the arguments of its command."""
    text = section(paper)
    names = re.findall(r"`([\w.]+\.(?:csv|nwk))`", text.split("```")[0])
    blocks = re.findall(r"```(?:csv|newick)\n(.*?)```", text, re.DOTALL)
    command, *_ = re.findall(r"```\n(python run.py .*?)\n```", text, re.DOTALL)  # Sparse VAE: then that of ratings
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


def test_the_folder_of_images_is_written_and_run_as_it_stands(tmp_path, monkeypatch, torch_settings):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    write, *_ = re.findall(r"```python\n(.*?)```", section("sparling"), re.DOTALL)
    [command] = re.findall(r"```\n(python run.py .*?)\n```", section("sparling"), re.DOTALL)
    exec(write, {})
    folder = execute(compose([*shlex.split(command)[2:], "scale=smoke", "trainer.accelerator=cpu", "outputs=out"]))
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        assert arrays["token_names"].tolist() == ["bar", "cross"]
        assert arrays["example_maps"].shape[1] == len(arrays["channel_kinds"])
    with (folder / "result.json").open() as file:
        assert {"fpe", "e2ee"} <= {row["metric"] for row in json.load(file)["rows"]}


def test_the_scripts_fit_and_a_fresh_process_loads_and_transforms_to_the_same_values(tmp_path, capsys, torch_settings):
    shown, later = {}, ["import os, pandas as pd, sparseid"]
    for paper in (*NAMES, "sparling"):
        *prepare, fit, load = re.findall(r"```python\n(.*?)```", section(paper), re.DOTALL)
        assert len([line for line in (fit + load).splitlines() if line]) <= 15
        (tmp_path / paper).mkdir()
        with chdir(tmp_path / paper), warnings.catch_warnings():
            for name, text in (example(paper)[0] if paper in NAMES else {}).items():
                Path(name).write_text(text)
            for code in prepare:
                exec(code, {})
            warnings.simplefilter("ignore")  # smoke is not better than baselines
            exec(re.sub(r"(sparseid\.\w+)\(", r'\1(preset="smoke", ', fit), {})
        shown[paper] = capsys.readouterr().out
        later += [f"os.chdir({str(tmp_path / paper)!r})", load, f"print({paper!r})"]
    done = subprocess.run([sys.executable, "-c", "\n".join(later)], capture_output=True, text=True, check=True)
    printed = re.split("|".join(f"{paper}\n" for paper in shown), done.stdout)
    for (paper, text), again in zip(shown.items(), printed, strict=False):
        assert len(again.splitlines()) >= 4, paper
        assert text.endswith(again), paper
    expected = {"sparse_vae": ["pca"], "ddl": ["pca"], "tbr": ["ridge", "environment_means"], "sparling": ["most_freq"]}
    expected["regcl"] = ["label_ridge"]
    for paper, baselines in expected.items():
        assert all(name in shown[paper] for name in baselines)
