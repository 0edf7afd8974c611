"""MAGIC against the package's outputs, and what smoothing must keep."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparseid.data.gtex.magic import diffusion_operator, magic, principal_components


@pytest.mark.shared
@pytest.mark.parametrize("case", ["default", "knn8_decay4_t1"])
def test_agrees_with_the_package(shared_arrays, case):
    arrays = shared_arrays(f"tbr_magic_{case}")
    knn, decay, t = (float(arrays[name]) for name in ("knn", "decay", "t"))
    operator = diffusion_operator(arrays["X"], int(knn), decay)
    shape = (len(arrays["X"]),) * 2
    expected = sparse.csr_matrix((arrays["diffop_data"], arrays["diffop_indices"], arrays["diffop_indptr"]), shape)
    assert operator.nnz == expected.nnz
    assert abs(operator - expected).max() < 2e-8  # the package measures a cell's distance to itself as up to 5e-7
    smoothed = magic(arrays["X"], np.arange(60), int(knn), decay, int(t))
    np.testing.assert_allclose(smoothed, arrays["output"], atol=1e-8)


def test_a_known_operator():
    # three cells at 0, 1, 3 and one neighbour for the bandwidth: 1, 1 and 2; three linked, of which two exist
    operator = diffusion_operator(np.array([[0.0], [1.0], [3.0]]), knn=1).toarray()
    a01 = np.exp(-1)
    a02, a12 = (np.exp(-3) + np.exp(-1.5)) / 2, (np.exp(-2) + np.exp(-1)) / 2
    links = np.array([[1, a01, a02], [a01, 1, a12], [a02, a12, 1]])
    np.testing.assert_allclose(operator, links / links.sum(axis=1, keepdims=True), rtol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(0, 4))
@settings(max_examples=25)
def test_smoothing_stays_within_the_range_of_the_gene(seed, knn, t):
    rng = np.random.default_rng(seed)
    expression = rng.poisson(2, (30, 4)).astype(float)
    smoothed = magic(expression, [2, 0], knn, 1.0, t)
    assert smoothed.shape == (30, 2)
    assert (smoothed <= expression[:, [2, 0]].max(axis=0) + 1e-12).all()
    assert (smoothed >= expression[:, [2, 0]].min(axis=0) - 1e-12).all()
    np.testing.assert_allclose(diffusion_operator(expression, knn).sum(axis=1), 1)
    if t == 0:
        np.testing.assert_array_equal(smoothed, expression[:, [2, 0]])


def test_sparse_and_dense_are_the_same_where_all_genes_are_used():
    expression = np.random.default_rng(0).poisson(1, (40, 6)).astype(float)
    dense, few = magic(expression, [1, 4]), magic(sparse.csr_matrix(expression), [1, 4])
    np.testing.assert_allclose(few, dense, atol=1e-12)
    assert np.linalg.norm(dense - expression[:, [1, 4]]) > 1


def test_principal_components_keep_distances_as_far_as_they_can():
    rng = np.random.default_rng(1)
    expression = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20))
    for form in (expression, sparse.csr_matrix(expression)):
        points = principal_components(form, 3, seed=0)
        assert points.shape == (50, 3)
        np.testing.assert_allclose(np.linalg.norm(points[0] - points[1]), np.linalg.norm(expression[0] - expression[1]))
        assert principal_components(form, 20, seed=0).shape == (50, 20)


def test_identical_cells_and_too_few_cells():
    operator = diffusion_operator(np.zeros((9, 2)), knn=2)
    np.testing.assert_allclose(operator.sum(axis=1), 1)
    assert np.isfinite(operator.data).all()
    with pytest.raises(ValueError, match="more than 5 cells, got 5"):
        diffusion_operator(np.zeros((5, 2)))
