"""R2 of a linear regression against other code, and its decided corner cases."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from sparseid.metrics.linear_r2 import linear_r2, r2


@pytest.mark.shared
@pytest.mark.parametrize("case", ["full", "tail", "head"])
def test_is_that_of_the_authors_code(shared_arrays, case):
    arrays = shared_arrays("regcl_r2")
    chosen = slice(*arrays[f"{case}_slice"])
    train, val = arrays[f"{case}_emb_train"][:, chosen], arrays[f"{case}_emb_val"][:, chosen]
    labels, labels_val = arrays[f"{case}_lab_train"], arrays[f"{case}_lab_val"]
    assert linear_r2(train, labels, train, labels) == pytest.approx(float(arrays[f"{case}_r2_train"]), abs=1e-5)
    assert linear_r2(train, labels, val, labels_val) == pytest.approx(float(arrays[f"{case}_r2_val"]), abs=1e-5)


def drawn(seed, *members, n=60, m=30):
    rng = np.random.default_rng(seed)
    train, other = rng.normal(size=(*members, n, 4)) + 5, rng.normal(size=(*members, m, 4)) + 5
    mixing = rng.normal(size=(4, 2))
    return (train, train @ mixing + rng.normal(size=(*members, n, 2)), other, other @ mixing + rng.normal(size=(2,)))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_is_that_of_scikit_learn_and_any_linear_map_of_the_embedding_has_it(seed):
    train, labels, other, labels_other = drawn(seed)
    expected = r2_score(labels_other, LinearRegression().fit(train, labels).predict(other))
    assert linear_r2(train, labels, other, labels_other) == pytest.approx(expected, abs=1e-9)
    mixed = np.random.default_rng(seed).normal(size=(4, 4)) + 3 * np.eye(4)
    found = linear_r2(train @ mixed - 7, 5 * labels + 1, other @ mixed - 7, 5 * labels_other + 1)
    assert found == pytest.approx(expected, abs=1e-6)


def test_members_are_scored_as_alone_and_a_diverged_one_is_nan():
    train, labels, other, labels_other = drawn(0, 4)
    train[2, 3, 1] = np.nan
    together = linear_r2(train, labels, other, labels_other)
    assert together.shape == (4,)
    assert np.isnan(together[2])
    for member in (0, 1, 3):
        alone = linear_r2(train[member], labels[member], other[member], labels_other[member])
        assert together[member] == pytest.approx(float(alone), abs=1e-12)
    tensors = linear_r2(*(torch.tensor(v) for v in (train, labels, other, labels_other)))
    np.testing.assert_array_equal(tensors, together)


def test_constant_and_doubled_outputs_add_nothing():
    train, labels, other, labels_other = drawn(1)
    wider = [np.concatenate([v, np.full_like(v[:, :1], 5), v[:, :1]], axis=1) for v in (train, other)]
    expected = linear_r2(train, labels, other, labels_other)
    assert linear_r2(wider[0], labels, wider[1], labels_other) == pytest.approx(float(expected), abs=1e-9)
    constant = np.full_like(train, -5), np.full_like(other, -5)
    mean = r2_score(labels_other, np.broadcast_to(labels.mean(axis=0), labels_other.shape))
    assert linear_r2(constant[0], labels, constant[1], labels_other) == pytest.approx(mean)


def test_a_constant_label_has_no_r2():
    train, labels, other, labels_other = drawn(2)
    labels_other[:, 1] = 0.1
    assert np.isnan(linear_r2(train, labels, other, labels_other))
    assert np.isfinite(linear_r2(train, labels[:, :1], other, labels_other[:, :1]))


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="of the same samples"):
        linear_r2(np.ones((5, 2)), np.ones((4, 1)), np.ones((5, 2)), np.ones((5, 1)))
    with pytest.raises(ValueError, match="2 outputs in the training split, 3"):
        linear_r2(np.ones((5, 2)), np.ones((5, 1)), np.ones((5, 3)), np.ones((5, 1)))


def test_r2_of_predictions_is_scikit_learns():
    rng = np.random.default_rng(3)
    labels, predicted = rng.normal(size=(2, 40, 3)), rng.normal(size=(2, 40, 3))
    expected = [r2_score(*parts) for parts in zip(labels, predicted, strict=True)]
    np.testing.assert_allclose(r2(predicted, torch.from_numpy(labels)), expected)
