"""``make data``: what to place where, and whether it is right."""

import os
import subprocess
import sys
from pathlib import Path

import anndata
import numpy as np
import pandas as pd

from sparseid.data.gtex.sources import HOUSEKEEPING

PROJECT = Path(__file__).resolve().parents[2]


def run(*arguments, **environment):
    command = [sys.executable, str(PROJECT / "scripts" / "data.py"), *arguments]
    left = {name: value for name, value in os.environ.items() if name not in ("GTEX_H5AD", "TF_TARGETS", "TF_LAYOUT")}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=left | environment)


def test_without_the_atlas_it_says_how_to_get_it(tmp_path):
    done = run("gtex", SPARSEID_DATA=str(tmp_path))
    assert done.returncode == 2
    for word in ("gtexportal.org", "GTEX_H5AD=/path/to/it", "TF-Target-information.txt", "data.source=semi_synthetic"):
        assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_no_atlas_is_refused_with_the_reason(tmp_path):
    path = tmp_path / "atlas.h5ad"
    path.write_text("no")
    done = run("gtex", GTEX_H5AD=str(path))
    assert done.returncode == 2
    assert "cannot be read as an .h5ad file" in done.stderr


def test_a_file_of_other_cells_is_said_not_to_be_the_papers(tmp_path):
    genes = (*HOUSEKEEPING, "TF0")
    expression = np.random.default_rng(0).uniform(0.1, 3, (20, len(genes))).astype(np.float32)
    obs = pd.DataFrame({"Broad cell type": pd.Categorical(["A", "B"] * 10)}, index=[f"c{n}" for n in range(20)])
    anndata.AnnData(expression, obs, pd.DataFrame(index=list(genes))).write_h5ad(tmp_path / "my cells.h5ad")
    (tmp_path / "table").write_text("tf\ttarget\n" + "".join(f"TF0\t{gene}\n" for gene in HOUSEKEEPING))
    files = {"GTEX_H5AD": str(tmp_path / "my cells.h5ad"), "TF_TARGETS": str(tmp_path / "table")}
    done = run("gtex", **files, TF_LAYOUT="dorothea")
    assert done.returncode == 0, done.stderr
    assert "2 types with 20 cells, where the paper has 43 with 15256" in done.stdout
    assert "NOT the paper's cells" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert f"GTEX_H5AD='{tmp_path}/my cells.h5ad'" in last
    assert last.endswith("experiment=tbr/fig5a scale=paper data.tf_layout=dorothea")
    wrong = run("gtex", **files, TF_LAYOUT="trrust")
    assert wrong.returncode == 2
    assert "write htftarget or dorothea" in wrong.stderr


def test_the_help_tells_of_the_layout_of_the_table():
    assert "TF_LAYOUT" in run("--help").stdout


def test_an_unknown_data_set_is_answered_with_those_there_are():
    done = run("imagenet")
    assert done.returncode == 2
    assert "gtex" in done.stderr
