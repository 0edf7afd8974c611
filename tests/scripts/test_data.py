"""``make data``: what to place where, and whether it is right."""

import os
import subprocess
import sys
from pathlib import Path

import anndata
import numpy as np
import pandas as pd

from sparseid.data.gtex.genes import HOUSEKEEPING

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


def test_a_release_of_movielens_that_is_there_is_read_and_not_downloaded(tmp_path):
    folder = tmp_path / "movielens" / "ml-latest-small"
    folder.mkdir(parents=True)
    (folder / "ratings.csv").write_text("userId,movieId,rating,timestamp\n1,7,4.5,9\n2,7,3,9\n1,8,1,9\n")
    (folder / "movies.csv").write_text('movieId,title,genres\n7,"A, The (1990)",Drama\n8,B,Drama\n')
    (folder / "README.txt").touch()
    done = run("movielens", SPARSEID_DATA=str(tmp_path), MOVIELENS="ml-latest-small")
    assert done.returncode == 0, done.stderr
    assert "3 ratings by 2 users, 2 films" in done.stdout
    assert "NOT the paper's release" in done.stdout
    wrong = run("movielens", MOVIELENS="ml-1b")
    assert wrong.returncode == 2
    assert "write ml-25m or ml-latest-small or ml-1m or ml-100k" in wrong.stderr


def test_a_checkout_of_peerread_is_looked_at(tmp_path):
    for section in ("ai", "cl", "lg"):
        folder = tmp_path / "PeerRead" / "data" / f"arxiv.cs.{section}_2007-2017" / "train" / "reviews"
        folder.mkdir(parents=True)
        (folder / "1.json").write_text('{"abstract": "Some words"}')
    done = run("peerread", SPARSEID_DATA=str(tmp_path / "data"), PEERREAD=str(tmp_path / "PeerRead"))
    assert done.returncode == 0, done.stderr
    assert "3 papers (11,778 in the paper's), 0 of them without an abstract" in done.stdout
    assert f"data.corpus.path={tmp_path}/PeerRead" in done.stdout
    absent = run("peerread", SPARSEID_DATA=str(tmp_path / "data"), PEERREAD="")
    assert absent.returncode == 2
    assert "git clone" in absent.stderr
    assert "make data DATASETS=peerread PEERREAD=/path/to/PeerRead" in absent.stderr


def test_the_cells_of_zeisel_that_are_there_are_read(tmp_path):
    place = tmp_path / "zeisel" / "expression_mRNA_17-Aug-2014.txt"
    place.parent.mkdir()
    kinds = ["microglia"] * 5 + ["interneurons"] * 6
    lines = [["", "level1class", *kinds], [""] * 13, ["Gene1", "1", *"50123040567"], ["Gene2", "1", *"27000310245"]]
    place.write_text("".join("\t".join(line) + "\n" for line in lines))
    done = run("zeisel", SPARSEID_DATA=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "2 genes, 11 cells: interneurons 6, microglia 5" in done.stdout
    place.write_text("not it")
    assert run("zeisel", SPARSEID_DATA=str(tmp_path)).returncode == 2


def test_without_audiomnist_it_says_how_to_get_it(tmp_path):
    done = run("audiomnist", SPARSEID_DATA=str(tmp_path))
    assert done.returncode == 2
    for word in ("git clone https://github.com/soerenab/AudioMNIST", str(tmp_path / "AudioMNIST"), "data.source=fsdd"):
        assert word in done.stderr
    missing = run("audiomnist", SPARSEID_DATA=str(tmp_path), AUDIOMNIST=str(tmp_path))
    assert missing.returncode == 2
    assert "AudioMNIST has no folder of speaker" in missing.stderr
