"""The synthetic atlas: the counts of the paper, factors that explain half of the latents, always the same."""

import anndata
import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from sparseid.data.gtex import synthetic
from sparseid.data.gtex.datamodule import held_out_types
from sparseid.data.gtex.genes import HOUSEKEEPING
from sparseid.data.gtex.prepare import prepared
from sparseid.data.gtex.reader import read_cells
from sparseid.data.gtex.tf_targets import read_tf_targets
from sparseid.streams import FIXED


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("stand_in") / "cells.h5ad"
    synthetic.write_atlas(path)
    return path


def test_has_the_papers_counts(path):
    cells = read_cells(path, "Broad cell type", exclude=["Unknown"])
    assert len(cells.types) == 43
    assert np.minimum(cells.population, 1000).sum() == 15256
    assert np.count_nonzero(cells.population >= 1000) == synthetic.LARGE_TYPES
    assert np.count_nonzero(cells.codes == -1) == synthetic.UNKNOWN_CELLS


def test_is_a_file_in_the_layout_of_the_atlas(path):
    data = anndata.read_h5ad(path)
    assert {"Broad cell type", "Granular cell type", "Cell types level 2", "tissue", "individual"} <= set(data.obs)
    assert data.obs["Broad cell type"].dtype == "category"
    counts = data.layers["counts"].toarray()
    np.testing.assert_allclose(data.X.toarray(), np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True)), rtol=1e-5)
    assert data.obsm["X_pca"].shape == (data.n_obs, 50)
    assert "no measured cell" in data.uns["source"]


def test_is_the_same_every_time(path, tmp_path):
    again = tmp_path / "again.h5ad"
    synthetic.write_atlas(again)
    first, second = anndata.read_h5ad(path), anndata.read_h5ad(again)
    assert (first.X != second.X).nnz == 0
    assert first.obs.equals(second.obs)


def test_any_draw_of_sizes_has_the_papers_counts():
    for number in range(20):
        sizes = synthetic.population(FIXED.numpy("test", number))
        assert len(sizes) == 43
        assert np.minimum(sizes, 1000).sum() == 15256
        assert sizes.min() >= 20


def test_its_table_has_18_to_95_factors_per_gene(tmp_path):
    synthetic.write_tf_targets(tmp_path / "table.tsv")
    table = read_tf_targets(tmp_path / "table.tsv")
    assert tuple(len(table[gene]) for gene in HOUSEKEEPING) == synthetic.REGULATORS
    assert (min(synthetic.REGULATORS), max(synthetic.REGULATORS)) == (18, 95)
    assert set().union(*table.values()) <= set(synthetic.FACTORS)


def test_factors_explain_about_half_of_the_smoothed_latents_and_four_types_can_be_held_out(settings):
    cells = prepared(settings(source="semi_synthetic", tf_targets=""))
    assert (len(cells.types), len(cells.codes)) == (43, 15256)
    values = cells.expression.astype(float)
    train, test = np.split(np.random.default_rng(0).permutation(len(values))[:9000], [6000])
    for latent in range(9):
        inputs = values[:, 9:]
        fit = RidgeCV().fit(inputs[train], values[train, latent])
        assert 0.35 < fit.score(inputs[test], values[test, latent]) < 0.65
    assert len(held_out_types(cells, 100, 1000)) == 4
