"""DCI against the authors' code, and its decided corner cases."""

import numpy as np
import pytest

from sparseid.metrics.dci import chosen_rows, completeness, dci, disentanglement


@pytest.mark.shared
@pytest.mark.parametrize("case", ["r0", "r1", "r2"])
def test_scores_of_importances_are_those_of_the_authors_code(shared_arrays, case):
    arrays = shared_arrays("sparsevae_dci")
    importance = arrays[f"matrix/{case}/R"]
    assert disentanglement(importance) == pytest.approx(float(arrays[f"matrix/{case}/disentanglement"]), abs=1e-8)
    assert completeness(importance) == pytest.approx(float(arrays[f"matrix/{case}/completeness"]), abs=1e-8)


@pytest.mark.shared
@pytest.mark.parametrize("case", ["n16", "n200"])
def test_fitted_scores_are_those_of_the_authors_code(shared_arrays, case):
    """Ties between splits are broken at random: the means over ten runs are compared."""
    arrays = shared_arrays("sparsevae_dci")
    names = ("codes_train", "factors_train", "codes_test", "factors_test")
    inputs = [arrays[f"fit/{case}/{name}"].T for name in names]
    scores = np.array([dci(*inputs, seed=seed) for seed in range(10)])
    expected, sd = (arrays[f"fit/{case}/{name}"][[0, 1, 3]] for name in ("mean", "sd"))
    np.testing.assert_array_less(np.abs(scores.mean(axis=0) - expected), 4 * sd / np.sqrt(10) + 1e-3)


@pytest.mark.shared
def test_the_chosen_rows_are_those_of_the_authors_code(shared_arrays):
    arrays = shared_arrays("sparsevae_splits")
    train, test = chosen_rows(100, 80, 16)
    np.testing.assert_array_equal(train, arrays["dci_rows_train_N100"])
    np.testing.assert_array_equal(test, arrays["dci_rows_test_N80"])


def test_a_permutation_is_perfect_and_equal_importance_worth_nothing():
    assert disentanglement(np.eye(3)[[2, 0, 1]]) == pytest.approx(1, abs=1e-6)
    assert completeness(3 * np.eye(3)[[2, 0, 1]]) == pytest.approx(1, abs=1e-6)
    assert disentanglement(np.ones((4, 3))) == pytest.approx(0, abs=1e-6)
    doubled = np.repeat(np.eye(2), 2, axis=0)  # two codes per factor: disentangled, not complete
    assert disentanglement(doubled) == pytest.approx(1, abs=1e-6)
    assert completeness(doubled) == pytest.approx(0.5, abs=1e-6)


def test_codes_count_by_their_importance():
    importance = np.array([[9.0, 0.0], [0.5, 0.5]])  # the second code, a tenth of all importance, says nothing
    assert disentanglement(importance) == pytest.approx(0.9, abs=1e-6)


def test_codes_that_are_important_for_nothing_score_0():
    assert disentanglement(np.zeros((3, 2))) == pytest.approx(0, abs=1e-9)
    rng = np.random.default_rng(0)
    constant, factors = np.zeros((20, 3)), rng.normal(size=(20, 2))
    found = dci(constant, factors, constant, factors)
    assert found.disentanglement == pytest.approx(0, abs=1e-9)
    variance = factors.var(axis=0).mean()
    assert found.informativeness == pytest.approx(variance)


def test_true_factors_are_disentangled_and_their_mixtures_less():
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(2, 300, 2))
    mixing = np.array([[1.0, 1.0], [-1.0, 1.0]])
    good, mixed = dci(train, train, test, test), dci(train @ mixing, train, test @ mixing, test)
    assert good.disentanglement > 0.99
    assert mixed.disentanglement < 0.5
    assert good.informativeness < mixed.informativeness < 0.05  # either way all is known


def test_codes_that_are_not_finite_have_no_score():
    codes, factors = np.full((5, 2), np.nan), np.zeros((5, 2))
    assert np.isnan(dci(codes, factors, codes, factors)).all()


def test_codes_and_factors_of_different_samples_are_refused():
    with pytest.raises(ValueError, match="codes of 5 samples, factors of 4"):
        dci(np.ones((5, 2)), np.ones((4, 2)), np.ones((5, 2)), np.ones((5, 2)))
