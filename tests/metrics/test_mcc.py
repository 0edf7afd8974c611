"""MCC against two other implementations, what it is invariant to, and its decided corner cases."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseid.metrics.mcc import UNMATCHED, correlations, matching, mcc, mcc_of_members


@pytest.mark.parametrize("case", ["permuted_noisy", "linear_mix"])
@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_agrees_with_other_implementations(fixture_arrays, case, kind):
    arrays = fixture_arrays("tbr_mcc")
    truth, estimate = arrays[f"{case}/z"], arrays[f"{case}/zhat"]
    for peer in ("icebeem", "clica"):
        assert mcc(truth, estimate, kind) == pytest.approx(float(arrays[f"{case}/{kind}_{peer}"]), abs=1e-9)
    found = matching(truth, estimate, kind)
    reordered = found.correlation[:, found.permutation]
    np.testing.assert_allclose(reordered, arrays[f"{case}/{kind}_clica_matched_corr"], atol=1e-9)
    np.testing.assert_array_equal(found.signs, np.sign(np.diag(reordered)))


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
@settings(max_examples=30)
def test_order_sign_and_scale_do_not_count(seed, k):
    rng = np.random.default_rng(seed)
    truth, estimate = rng.normal(size=(40, k)), rng.normal(size=(40, k))
    changed = (estimate * rng.choice([-3.0, 0.01, 20.0], size=k) + rng.normal(size=k))[:, rng.permutation(k)]
    assert mcc(truth, changed) == pytest.approx(mcc(truth, estimate), abs=1e-9)
    assert mcc(truth, truth[:, rng.permutation(k)] ** 3, "spearman") == pytest.approx(1, abs=1e-12)
    assert 0 <= mcc(truth, estimate) <= 1
    assert mcc(truth, estimate) == pytest.approx(mcc(estimate, truth), abs=1e-9)


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_lists_are_tables(kind):
    assert mcc([[0, 1], [1, 0], [2, 1]], [[1, 0], [0, 2], [1, 4]], kind) == pytest.approx(1)
    with pytest.raises(ValueError, match=r"must be tables .*\(3,\)"):
        mcc([0, 1, 2], [[1], [2], [3]], kind)


def test_the_matching_is_the_best_not_the_greedy_one():
    # the greedy one takes 0.7 and is left with 0, the best one takes 0.6 twice
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(200, 4))
    a, b, c, d = np.linalg.qr(columns - columns.mean(axis=0))[0].T  # centred, uncorrelated, of length 1
    estimate = np.stack([0.7 * a + 0.6 * b + 0.15**0.5 * c, 0.6 * a + 0.8 * d], axis=1)
    found = matching(np.stack([a, b], axis=1), estimate)
    np.testing.assert_allclose(found.correlation, [[0.7, 0.6], [0.6, 0]], atol=1e-12)
    assert found.permutation.tolist() == [1, 0]
    assert mcc(np.stack([a, b], axis=1), estimate) == pytest.approx(0.6)


def test_fewer_learned_than_true_latents_count_zero_for_what_is_missing(fixture_arrays):
    truth = fixture_arrays("tbr_mcc")["permuted_noisy/z"]
    found = matching(truth, truth[:, [3, 1]])
    assert found.permutation.tolist() == [UNMATCHED, 1, UNMATCHED, 0, UNMATCHED]
    assert found.signs.tolist() == [1] * 5
    assert mcc(truth, truth[:, [3, 1]]) == pytest.approx(2 / 5)


def test_surplus_learned_latents_do_not_count(fixture_arrays):
    truth = fixture_arrays("tbr_mcc")["permuted_noisy/z"]
    assert mcc(truth[:, :2], truth) == pytest.approx(1)


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_a_constant_column_correlates_with_nothing(kind):
    truth = np.random.default_rng(0).normal(size=(50, 2))
    constant = np.full(50, 0.1, np.float32)
    assert mcc(truth, np.stack([constant, truth[:, 0]], axis=1), kind) == pytest.approx(0.5)
    assert mcc(np.zeros((50, 2)), truth, kind) == 0


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_a_stack_gives_each_member_what_it_has_alone_and_a_diverged_one_nan(kind):
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(6, 80, 3)).astype(np.float32)
    estimate = np.tanh(truth @ rng.normal(size=(6, 3, 4))).astype(np.float32)
    estimate[2, 7, 1] = np.nan
    together = mcc_of_members(truth, estimate, kind)
    for member in {0, 1, 3, 4, 5}:
        assert together[member] == pytest.approx(mcc(truth[member], estimate[member], kind), abs=1e-12)
    assert np.isnan(together[2])
    found = matching(truth, estimate, kind)
    assert found.permutation.shape == (6, 3)
    assert set(found.permutation[2]) == {UNMATCHED}
    tensors = mcc_of_members(torch.from_numpy(truth), torch.from_numpy(estimate), kind)
    np.testing.assert_allclose(tensors, together, atol=1e-12)


def test_members_share_the_truth():
    rng = np.random.default_rng(2)
    truth, estimate = rng.normal(size=(40, 3)), rng.normal(size=(5, 40, 2))
    np.testing.assert_allclose(correlations(truth, estimate)[4], correlations(truth, estimate[4]), atol=1e-15)
    np.testing.assert_allclose(mcc_of_members(truth, estimate)[1], mcc(truth, estimate[1]), atol=1e-15)


@pytest.mark.parametrize(("n", "n_too", "k"), [(1, 1, 2), (5, 6, 2), (5, 5, 0)])
def test_what_cannot_be_correlated_is_refused(n, n_too, k):
    with pytest.raises(ValueError, match="two or more samples"):
        mcc(np.zeros((n, 2)), np.zeros((n_too, k)))
    with pytest.raises(ValueError, match="pearson or spearman"):
        mcc(np.eye(3), np.eye(3), "kendall")
