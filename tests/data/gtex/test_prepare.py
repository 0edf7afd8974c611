"""From a file to what all runs share: genes, cap, tree, cache, and what is said of files that do not fit."""

import os

import numpy as np
import pytest

from sparseid.data.gtex import prepare as module
from sparseid.data.gtex import settings as settings_module
from sparseid.data.gtex.dendrogram import centred_components, dendrogram
from sparseid.data.gtex.genes import HOUSEKEEPING
from sparseid.data.gtex.magic import magic
from sparseid.data.gtex.prepare import cap, prepared
from sparseid.data.gtex.sources import SOURCES
from sparseid.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:.*the paper has 43")


def test_smooths_over_all_cells_then_chooses_types(adata, write, settings):
    cells = prepared(settings(path=str(write(adata))))
    names = list(adata.var_names)
    assert list(cells.genes) == [*HOUSEKEEPING, *(f"TF{i}" for i in range(6))]
    assert list(cells.types) == ["A", "B", "C", "D"]
    np.testing.assert_array_equal(cells.population, [30, 24, 12, 9])
    smoothed = magic(adata.X, [names.index(gene) for gene in cells.genes])  # Unknown cells are neighbours too
    np.testing.assert_allclose(cells.expression, smoothed[:75], rtol=1e-5)
    assert cells.dendrogram.tree.arcs == 6
    np.testing.assert_allclose(cells.merges, dendrogram(centred_components(adata.X)[:75], cells.codes).merges)


@pytest.mark.parametrize("stage", ["after_cap", "before_cap"])
def test_large_types_are_capped_before_or_after_the_tree_is_made(adata, write, settings, stage):
    adata.obsm["X_pca"] = np.random.default_rng(0).normal(size=(80, 5)).astype(np.float32)
    cells = prepared(settings(path=str(write(adata)), cap=10, dendrogram=stage))
    np.testing.assert_array_equal(np.bincount(cells.codes), [10, 10, 10, 9])
    np.testing.assert_array_equal(cells.population, [30, 24, 12, 9])
    codes = np.repeat(np.arange(4), [30, 24, 12, 9])
    kept = cap(codes, 10 if stage == "after_cap" else 1000)
    np.testing.assert_allclose(cells.merges, dendrogram(adata.obsm["X_pca"][kept], codes[kept]).merges)


def test_the_cap_keeps_a_fixed_random_choice():
    codes = np.array([-1, *[0] * 50, *[1] * 3])
    kept = cap(codes, 10)
    assert len(kept) == 13
    np.testing.assert_array_equal(kept[-3:], [51, 52, 53])
    np.testing.assert_array_equal(kept, cap(codes, 10))
    assert not np.array_equal(kept[:10], np.arange(1, 11))


def test_what_is_prepared_is_kept_until_file_or_settings_change(adata, write, settings, monkeypatch):
    path = write(adata)
    made = []
    original = module.prepare
    monkeypatch.setattr(module, "prepare", lambda *arguments: made.append(1) or original(*arguments))
    first = prepared(settings(path=str(path)))
    np.testing.assert_array_equal(prepared(settings(path=str(path), S=3, z_choice=5)).expression, first.expression)
    assert len(made) == 1
    prepared(settings(path=str(path), magic={"t": 1}))
    prepared(settings(path=str(path), cap=10))
    assert len(made) == 3
    moved = path.rename(path.with_name("moved.h5ad"))
    os.utime(moved, ns=(0, 0))
    prepared(settings(path=str(moved)))
    assert len(made) == 3
    adata.X[0, 0] += 1
    prepared(settings(path=str(write(adata))))
    assert len(made) == 4


def test_a_refused_file_is_refused_again_without_reading_it(adata, write, settings, monkeypatch):
    original = adata.X[0, 0]
    adata.X[0, 0] = np.nan
    path = write(adata)
    read = []
    reader = module.prepare
    monkeypatch.setattr(module, "prepare", lambda *arguments: read.append(1) or reader(*arguments))
    monkeypatch.setattr(module, "READ_AT_ONCE", 0)
    assert list(settings(path=str(path)).missing_files()) == []  # a look at the header cannot find it
    for _ in range(2):
        with pytest.raises(InputError, match="NaN") as error:
            prepared(settings(path=str(path)))
        assert error.value.keys == ("data.path",)
    assert len(read) == 1
    settings_module._FITTING.clear()  # another command
    [(keys, text)] = settings(path=str(path)).missing_files()
    assert keys == ("data.path",)
    assert "NaN" in text
    adata.X[0, 0] = original
    write(adata)
    assert len(prepared(settings(path=str(path))).codes) == 75


def test_the_values_of_a_small_file_are_looked_at_before_anything_is_launched(adata, write, settings):
    adata.X[0, 0] = np.nan
    [(keys, text)] = settings(path=str(write(adata))).missing_files()
    assert keys == ("data.path",)
    assert "1 NaN or infinite values, the first in gene C1orf43" in text


def test_a_transcription_factor_that_occurs_twice_is_found_in_the_header(adata, write, settings):
    adata.var_names = [name if name != "TF5" else "TF4" for name in adata.var_names]
    [(keys, text)] = settings(path=str(write(adata))).missing_files()
    assert keys == ("data.tf_targets",)
    assert "several columns named TF4" in text


def test_a_file_that_could_not_be_read_is_tried_again(adata, write, settings):
    path = write(adata)
    whole = path.read_bytes()
    path.write_bytes(whole[:5000])
    for _ in range(2):
        with pytest.raises(InputError, match=r"cannot be read as an \.h5ad file"):
            prepared(settings(path=str(path)))
    assert not list(path.parent.rglob("refused-*"))


def test_components_of_which_no_tree_can_be_made_are_refused(adata, write, settings):
    adata.obsm["X_pca"] = np.ones((80, 3), np.float32)
    with pytest.raises(InputError, match=r"types A, B, C, D have no tree: type 0 .* Correct or delete obsm\['X_pca'\]"):
        prepared(settings(path=str(write(adata))))


def test_counts_are_scaled_and_logged_if_told(adata, write, settings):
    logged = prepared(settings(path=str(write(adata)))).expression
    adata.X = np.expm1(adata.X.toarray()).round()
    path = str(write(adata, "counts.h5ad"))
    with pytest.raises(InputError, match=r"only whole numbers: counts.*data\.counts=true"):
        prepared(settings(path=path))
    counted = prepared(settings(path=path, counts=True)).expression
    total = adata.X.sum(axis=1, keepdims=True)
    columns = [list(adata.var_names).index(gene) for gene in prepared(settings(path=path, counts=True)).genes]
    scaled = np.log1p(1e4 * adata.X / total).astype(np.float32)
    np.testing.assert_allclose(counted, magic(scaled, columns)[:75], rtol=1e-4)
    assert counted.shape == logged.shape


def test_other_counts_than_the_papers_are_said(adata, write, settings):
    with pytest.warns(UserWarning, match="4 types with 75 cells, where the paper has 43 with 15256: .*A 30, B 24"):
        prepared(settings(path=str(write(adata))))


def test_a_missing_or_doubled_gene_is_named(adata, write, settings):
    without = adata[:, [name for name in adata.var_names if name != "VCP"]]
    with pytest.raises(InputError, match="has no gene VCP"):
        prepared(settings(path=str(write(without.copy()))))
    adata.var_names = ["CHMP2A" if name == "TF5" else name for name in adata.var_names]
    with pytest.raises(InputError, match="several columns named CHMP2A"):
        prepared(settings(path=str(write(adata))))


def test_a_latent_that_no_cell_expresses_is_refused_and_such_a_factor_left_out(adata, write, settings):
    dense = adata.X.toarray()
    dense[:, -1] = 0  # TF5
    adata.X = dense
    assert "TF5" not in prepared(settings(path=str(write(adata)))).genes
    dense[:, 2] = 0
    adata.X = dense
    with pytest.raises(InputError, match=r"no cell of .* expresses EMC7"):
        prepared(settings(path=str(write(adata))))


def test_a_latent_is_no_input(adata, write, settings, table):
    table.write_text(table.read_text() + "VCP\tEMC7\tblood\n")
    cells = prepared(settings(path=str(write(adata))))
    assert list(cells.genes).count("VCP") == 1


def test_a_table_without_a_latent_is_refused(adata, write, settings, table):
    table.write_text("TF\ttarget\nTF1\tVCP\nGONE\tEMC7\n")
    path = str(write(adata))
    with pytest.raises(InputError, match="no regulator, among the genes expressed, of C1orf43, CHMP2A, EMC7"):
        prepared(settings(path=path))
    with pytest.raises(InputError, match="needs a table"):
        prepared(settings(path=path, tf_targets=""))


def test_more_neighbours_than_cells_are_refused(adata, write, settings):
    with pytest.raises(InputError, match="more than 90 cells, got 80"):
        prepared(settings(path=str(write(adata)), magic={"knn": 90}))


def test_the_atlas_is_found_in_the_environment_or_in_the_data_folder(adata, write, settings, monkeypatch, tmp_path):
    with pytest.raises(InputError, match=r"the atlas does not exist.*(.|\n)*gtexportal.org(.|\n)*GTEX_H5AD") as caught:
        prepared(settings())
    assert str(tmp_path / "data" / "gtex" / "GTEx") in str(caught.value), "the folder of SPARSEID_DATA is named"
    monkeypatch.setenv("GTEX_H5AD", str(write(adata)))
    assert len(prepared(settings()).codes) == 75


@pytest.mark.parametrize(
    ("source", "cells", "factors", "types"), [("pbmc68k", 700, 31, 10), ("celltypist_sample", 559, 76, 10)]
)
def test_small_real_sources_can_be_read(settings, source, cells, factors, types):
    found = prepared(settings(source=source, tf_targets=""))
    assert found.expression.shape == (cells, 9 + factors)
    assert (len(found.types), found.dendrogram.tree.arcs) == (types, 2 * types - 2)
    assert list(found.genes[:9]) == list(SOURCES[source].latents)
    assert (found.expression.std(axis=0) > 0).all()
    assert SOURCES[source].note.endswith("not the paper's data")
