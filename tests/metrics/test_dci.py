"""DCI against the authors' code, and its decided corner cases."""

import numpy as np
import pytest

from sparseid.metrics.dci import chosen_rows, completeness, dci, dci_of_classes, disentanglement


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


# factors that are classes

NAMES = ("codes_train", "factors_train", "codes_test", "factors_test")


@pytest.mark.parametrize("case", ["identity", "mixed"])
def test_scores_of_classes_are_those_of_disentanglement_lib(fixture_arrays, case):
    """Ties between splits are broken at random: the range of the peer's six runs is that of its spread."""
    arrays = fixture_arrays("ddl_dci")
    importance, theirs = arrays[f"{case}/importance_seed0"], arrays[f"{case}/runs"][0]
    assert disentanglement(importance) == pytest.approx(theirs[0], abs=1e-8)
    assert completeness(importance) == pytest.approx(theirs[1], abs=1e-8)
    found = dci_of_classes(*(arrays[f"{case}/{name}"].T for name in NAMES))
    np.testing.assert_array_less(np.abs(found[:4] - arrays[f"{case}/mean"]), 4 * arrays[f"{case}/sd"] + 1e-3)
    spread = 4 * arrays[f"{case}/importance_sd"] + 1e-3
    np.testing.assert_array_less(np.abs(found.importance - arrays[f"{case}/importance_mean"]), spread)


def test_scores_of_classes_are_the_same_each_time():
    rng = np.random.default_rng(0)
    codes, factors = np.repeat(rng.normal(size=(20, 1)), 3, axis=1), rng.integers(2, size=(20, 1))
    first, second = (dci_of_classes(codes, factors, codes, factors) for _ in range(2))
    assert first[:4] == second[:4]


def test_random_codes_know_no_class_beyond_chance():
    rng = np.random.default_rng(0)
    codes, factors = rng.normal(size=(2, 300, 3)), rng.integers(3, size=(2, 300, 2))
    found = dci_of_classes(codes[0], factors[0], codes[1], factors[1])
    assert found.disentanglement < 0.1
    assert found.test_accuracy == pytest.approx(1 / 3, abs=0.08)


def test_constant_codes_and_constant_factors_count_for_nothing():
    rng = np.random.default_rng(0)
    constant, factors = np.zeros((60, 3)), np.stack([rng.integers(2, size=60), np.full(60, 4)], axis=1)
    found = dci_of_classes(constant, factors, constant, factors)
    assert found.disentanglement == pytest.approx(0, abs=1e-9)
    assert found.test_accuracy == pytest.approx((1 + np.bincount(factors[:, 0]).max() / 60) / 2)


def test_classes_that_are_missing_from_the_train_samples_are_errors():
    train, test = np.repeat([[0], [2]], 20, axis=0), np.repeat([[0], [1], [2], [3]], 5, axis=0)
    found = dci_of_classes(train.astype(float), train, test.astype(float), test)
    assert found.train_accuracy == 1
    assert found.test_accuracy == 0.5


def test_classes_of_codes_that_are_not_finite_have_no_score():
    codes, factors = np.full((5, 2), np.nan), np.zeros((5, 3), int)
    found = dci_of_classes(codes, factors, codes, factors)
    assert np.isnan(found[:4]).all()
    assert found.importance.shape == (2, 3)
