"""The tree of cell types against scanpy's dendrogram, and which type is closest to which."""

import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import cophenet

from sparseid.data.gtex.dendrogram import Dendrogram, centred_components, dendrogram

CASES = [
    ("tbr_dendrogram_pbmc", "rep", "default", slice(None), {}),
    ("tbr_dendrogram_pbmc", "rep", "n_pcs20", slice(20), {}),
    ("tbr_dendrogram_small", "X", "complete_pearson", slice(None), {}),
    ("tbr_dendrogram_small", "X", "average_spearman", slice(None), {"correlation": "spearman", "method": "average"}),
]


@pytest.mark.parametrize(("name", "points", "variant", "columns", "options"), CASES)
def test_agrees_with_scanpy(fixture_arrays, name, points, variant, columns, options):
    arrays = fixture_arrays(name)
    found = dendrogram(arrays[points][:, columns], arrays["codes"], **options)
    np.testing.assert_allclose(found.correlation, arrays[f"{variant}/correlation"], atol=2e-6)
    merges = arrays[f"{variant}/linkage"]
    np.testing.assert_array_equal(np.sort(found.merges[:, :2]), np.sort(merges[:, :2]))
    np.testing.assert_allclose(found.merges[:, 2:], merges[:, 2:], atol=2e-6)
    np.testing.assert_allclose(cophenet(found.merges), cophenet(merges), atol=2e-6)
    np.testing.assert_array_equal(found.plot_order, arrays[f"{variant}/categories_idx_ordered"])


@pytest.mark.parametrize("genes", [200, 60, 30])
@pytest.mark.parametrize("form", [sparse.csr_matrix, np.asarray])
def test_agrees_with_scanpy_on_a_file_without_components(genes, form):
    """Means far from 0, as of expression: without centring the first component would be the overall mean."""
    scanpy = pytest.importorskip("scanpy")
    rng = np.random.default_rng(genes)
    codes = np.repeat(np.arange(6), 20)
    rates = rng.normal(0.5, 0.5, genes) + 0.6 * rng.normal(size=(6, genes))[codes]
    expression = np.log1p(rng.poisson(np.exp(rates))).astype(np.float32)
    obs = pd.DataFrame({"type": pd.Categorical(codes)}, index=[f"c{number}" for number in range(len(codes))])
    data = anndata.AnnData(
        form(expression) if genes > 50 else expression, obs
    )  # scanpy fails at few genes in sparse form
    with warnings.catch_warnings(action="ignore"):
        scanpy.tl.dendrogram(data, "type", key_added="tree")
    expected = data.uns["tree"]
    found = dendrogram(centred_components(form(expression)), codes)
    np.testing.assert_allclose(found.correlation, expected["correlation_matrix"], atol=1e-4)
    np.testing.assert_array_equal(found.merges[:, :2], expected["linkage"][:, :2])
    np.testing.assert_allclose(found.merges[:, 2], expected["linkage"][:, 2], atol=1e-4)
    assert genes == 30 or (found.correlation < 0).any()  # uncentred ones hardly are


def test_fewer_cells_than_components():
    expression = sparse.csr_matrix(np.random.default_rng(0).poisson(1.0, (20, 60)).astype(np.float32))
    assert centred_components(expression).shape == (20, 19)
    np.testing.assert_array_equal(centred_components(expression), centred_components(expression))


def test_the_tree_has_the_types_as_leaves(fixture_arrays):
    arrays = fixture_arrays("tbr_dendrogram_pbmc")
    tree = dendrogram(arrays["rep"], arrays["codes"]).tree
    assert (tree.nodes, tree.arcs, tree.root) == (19, 18, 18)
    np.testing.assert_array_equal(tree.observed, np.arange(10))
    np.testing.assert_array_equal(tree.leaves, np.arange(10))


def test_closest_is_the_lowest_join_then_the_largest_correlation():
    # (0 1) join first, then 2 joins both at the same height: correlation decides for 1
    merges = np.array([[0, 1, 0.1, 2], [2, 4, 0.5, 3], [3, 5, 0.9, 4]])
    correlation = np.array([[1, 0.9, 0.5, 0.2], [0.9, 1, 0.6, 0.1], [0.5, 0.6, 1, 0.3], [0.2, 0.1, 0.3, 1]])
    tree = Dendrogram(merges, correlation)
    assert [tree.closest(leaf) for leaf in range(4)] == [1, 0, 1, 2]


def test_a_type_that_correlates_with_none_is_refused():
    points = np.array([[1.0, 2.0, 0.0], [3.0, 3.0, 3.0]])
    with pytest.raises(ValueError, match="type 1 has the same mean in all dimensions"):
        dendrogram(points, np.array([0, 1]))


def test_one_type_is_no_tree():
    with pytest.raises(ValueError, match="two types"):
        dendrogram(np.eye(4), np.zeros(4, int))


@pytest.mark.parametrize(("setting", "value"), [("correlation", "kendall"), ("method", "ward")])
def test_another_correlation_or_linkage_is_refused_and_not_taken_for_the_default(setting, value):
    with pytest.raises(ValueError, match=f"{setting} must be .* got '{value}'"):
        dendrogram(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.5]]), np.arange(3), **{setting: value})
