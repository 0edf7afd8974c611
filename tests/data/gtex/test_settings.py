"""Settings that cannot be are found without reading cells."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sparseid.data.gtex import prepare
from sparseid.data.gtex.prepare import prepared
from sparseid.settings import settings_errors

RUN = SimpleNamespace(method=SimpleNamespace(estimator="joint"))

IMPOSSIBLE = [
    ({"source": "web"}, "data.source must be semi_synthetic or atlas or pbmc68k or celltypist_sample"),
    ({"tf_layout": "trrust"}, "data.tf_layout must be htftarget or dorothea"),
    ({"dendrogram": "never"}, "after_cap or before_cap"),
    ({"standardise": "test"}, "train or none"),
    ({"held_out": {"train_on": "none"}}, "all or closest"),
    ({"held_out": {"train_on": "closest"}}, "requires a held-out type: set data.held_out.index=0"),
    ({"cap": 3}, "data.cap must be at least 4"),
    ({"S": 6}, "data.S must be between 0 and 5"),
    ({"S": -1}, "data.S must be between 0 and 5"),
    ({"latents": 10}, "10 of 9 genes can be chosen in 0 ways"),
    ({"z_choice": 126}, "5 of 9 genes can be chosen in 126 ways"),
    ({"z_genes": ["VCP", "VCP", "A", "B", "C", "D"]}, "contains a gene twice"),
    ({"held_out": {"min_population": -1}}, "data.held_out.min_population must be at least 0"),
    ({"held_out": {"min_neighbour": -5}}, "data.held_out.min_neighbour must be at least 0"),
    ({"noise_std_y": float("nan")}, "data.noise_std_y must be at least 0"),
    ({"magic": {"decay": 0.0}}, "data.magic.decay must be above 0"),
    ({"magic": {"knn": 0}}, "data.magic.knn must be at least 1"),
    ({"tf_targets": "/nowhere.tsv"}, "the table of transcription factors /nowhere.tsv does not exist"),
    ({"path": "/x.h5ad"}, "set data.source=atlas"),
    ({"layer": "counts"}, "data.layer is a matrix of the atlas: set data.source=atlas"),
]


@pytest.mark.parametrize(("changes", "message"), IMPOSSIBLE, ids=lambda value: str(value)[:30])
def test_impossible_settings_are_named(settings, changes, message):
    found = list(settings_errors(settings(**({"source": "pbmc68k", "tf_targets": ""} | changes)), "data.", RUN))
    assert len(found) == 1
    keys, text = found[0]
    assert message in text
    assert keys
    assert all(key.startswith("data.") for key in keys)


@pytest.mark.parametrize("source", ["semi_synthetic", "pbmc68k", "celltypist_sample"])
def test_what_can_be_has_no_fault(settings, source):
    assert list(settings_errors(settings(source=source, tf_targets=""), "data.", RUN)) == []


def test_absent_files_of_the_user_are_no_fault_and_named(settings, adata, write, table, monkeypatch):
    wanted = settings(source="atlas", tf_targets="")
    assert list(settings_errors(wanted, "data.", RUN)) == []
    [(keys, text)] = wanted.missing_files()
    assert "the atlas does not exist" in text
    assert "data.source" in keys
    monkeypatch.setenv("GTEX_H5AD", str(write(adata)))
    [(keys, text)] = wanted.missing_files()
    assert "needs a table" in text
    assert "TF_TARGETS=/path/to/it" in text
    assert "data.tf_targets" in keys
    monkeypatch.setenv("TF_TARGETS", str(table))
    assert list(wanted.missing_files()) == []
    assert list(settings(source="pbmc68k", tf_targets="").missing_files()) == []


def faults_of_files(config):
    return [text for _, text in config.missing_files()]


@pytest.mark.filterwarnings("ignore:4 types with 75 cells")
def test_a_missing_x_is_found_before_anything_runs_and_a_layer_can_be_chosen(settings, adata, write):
    expected = prepared(settings(path=str(write(adata))))
    adata.layers["counts"], adata.layers["logs"] = np.rint(adata.X), adata.X.copy()
    adata.X = None
    path = str(write(adata))
    [(keys, text)] = settings(path=path).missing_files()
    assert "has no X; its layers: counts, logs. Choose one with data.layer=NAME" in text
    assert "data.layer" in keys
    assert "Set data.counts=true" in faults_of_files(settings(path=path, layer="counts"))[0]
    chosen = settings(path=path, layer="logs")
    assert faults_of_files(chosen) == []
    np.testing.assert_array_equal(prepared(chosen).expression, expected.expression)
    counted = prepared(settings(path=path, layer="counts", counts=True))
    assert not np.array_equal(counted.expression, expected.expression)


def test_what_columns_genes_and_table_show_is_found_before_anything_runs(settings, adata, write, table):
    wanted = settings(path=str(write(adata)))
    assert faults_of_files(wanted) == []
    for changes, message in (
        ({"groupby": "Broad"}, "has no column 'Broad'"),
        ({"exclude": ["a"]}, "'a' is not a type"),
        ({"include_regex": "^A$"}, "needs two"),
        ({"z_genes": ["VCP", "VCPX"]}, "has no gene VCPX; did you mean VCP"),
        ({"z_genes": ["VCP", "TF0"]}, "no regulator, among the genes expressed, of TF0"),
        ({"tf_layout": "dorothea"}, "data.tf_layout=htftarget: set that"),
    ):
        [text] = faults_of_files(replace(wanted, **changes))
        assert message in text
    (text,) = faults_of_files(settings(path=str(write(adata[:, 1:].copy(), "fewer.h5ad"))))
    assert "has no gene C1orf43" in text
    (text,) = faults_of_files(settings(path=str(table)))
    assert "it is not an HDF5 file" in text


def test_other_settings_of_the_small_sources_are_checked_too(settings):
    assert "has no column 'cell'" in faults_of_files(settings(source="pbmc68k", tf_targets="", groupby="cell"))[0]
    assert "no gene X1" in faults_of_files(settings(source="celltypist_sample", tf_targets="", z_genes=["X1"]))[0]


def test_files_are_looked_at_once_for_all_runs_of_a_sweep(settings, adata, write, monkeypatch):
    path = str(write(adata))
    looked = []
    original = prepare.check_header
    monkeypatch.setattr(prepare, "check_header", lambda config: looked.append(1) or original(config))
    for choice in range(3):
        assert faults_of_files(settings(path=path, z_choice=choice, S=choice)) == []
    assert len(looked) == 1
    write(adata[:, 1:].copy())
    assert len(faults_of_files(settings(path=path))) == 1


@pytest.mark.parametrize("named", ["path", "tf_targets"])
def test_a_file_in_a_folder_that_may_not_be_searched_is_named(settings, adata, write, monkeypatch, named):
    wanted = settings(path=str(write(adata)))
    locked = getattr(wanted, named)
    is_file = Path.is_file

    def refuse(self):
        if str(self) == locked:
            raise PermissionError(13, "Permission denied")
        return is_file(self)

    monkeypatch.setattr(Path, "is_file", refuse)
    (text,) = faults_of_files(wanted)
    assert "cannot be read: Permission denied; check its permissions" in text
    assert locked in text
    assert len(list(settings_errors(wanted, "data.", RUN))) == (named == "tf_targets")
    assert named not in wanted.user_files()


def test_a_look_at_the_files_does_not_import_torch(adata, write, table):
    code = (
        "import sys; from sparseid.data.gtex.settings import GtexSettings, MagicSettings;"
        f"config = GtexSettings(source='atlas', path={str(write(adata))!r}, tf_targets={str(table)!r}, cap=1,"
        "magic=MagicSettings(1, 1, 1, 1));"
        "print(list(config.missing_files()), [n for n in ('torch', 'sklearn', 'scanpy') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []"


def test_the_check_imports_nothing_heavy():
    heavy = ("torch", "anndata", "sklearn", "pandas", "scipy", "scanpy")
    code = f"import sys, sparseid.data.gtex.settings; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
