"""The FactorVAE score against disentanglement_lib, its chance level, and the rule for collapsed codes."""

import numpy as np
import pytest

from sparseid.data.factors import FactorGrid
from sparseid.metrics import factor_vae_score as module
from sparseid.metrics.factor_vae_score import (
    LEAST_SD,
    Votes,
    code_variances,
    factor_vae_score,
    looked_up_votes,
    votes_of,
)

CASES = ["identity", "mixed", "partly_collapsed"]


def table(sizes):
    """True factors of all points, the last one fastest."""
    return np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, len(sizes))


def drawn(sizes, votes, batch, rng):
    """Factors (votes, batch, factors) of votes, and the one that is the same in each."""
    fixed = rng.integers(len(sizes), size=votes)
    return FactorGrid(tuple("abc"[: len(sizes)]), tuple(sizes)).sample_fixed(fixed, batch, rng), fixed


def scored(codes_of, sizes=(4, 3, 5), votes=400, seed=0):
    """Score of codes, a function of true factors (..., factors)."""
    rng = np.random.default_rng(seed)
    train, evaluation = (
        votes_of(codes_of(values), fixed) for values, fixed in (drawn(sizes, votes, 16, rng) for _ in range(2))
    )
    return factor_vae_score(train, evaluation, code_variances(codes_of(rng.integers(sizes, size=(1000, len(sizes))))))


@pytest.mark.parametrize("case", CASES)
def test_votes_and_scores_are_those_of_disentanglement_lib(fixture_arrays, case, monkeypatch):
    arrays = {name.removeprefix(f"{case}/"): v for name, v in fixture_arrays("ddl_factor_vae").items() if case in name}
    monkeypatch.setattr(module, "CHUNK", 100)
    codes, split = arrays["codes"], int(arrays["num_train"])
    variances = code_variances(codes[arrays["variance_sample_index"]])
    np.testing.assert_allclose(variances, arrays["global_variances"], rtol=1e-9)
    votes = looked_up_votes(codes, arrays["vote_batches_index"], arrays["vote_factor_index"])
    parts = Votes(*(part[:split] for part in votes)), Votes(*(part[split:] for part in votes))
    found = factor_vae_score(*parts, variances, least_sd=float(arrays["threshold"]))
    np.testing.assert_array_equal(found.active, arrays["active_dims"])
    active = int(arrays["active_dims"].sum())  # their table counts active dimensions from 0 on
    np.testing.assert_array_equal(found.votes[:, found.active], arrays["train_votes"][:, :active])
    assert not found.votes[:, ~found.active].any()
    assert found.train_accuracy == pytest.approx(float(arrays["train_accuracy"]), abs=1e-12)
    assert found.eval_accuracy == pytest.approx(float(arrays["eval_accuracy"]), abs=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_scores_of_our_own_draws_are_those_of_disentanglement_lib(fixture_arrays, case):
    arrays = fixture_arrays("ddl_factor_vae")
    codes, sizes = arrays[f"{case}/codes"], arrays[f"{case}/factor_sizes"]
    found = scored(lambda factors: codes[np.ravel_multi_index(np.moveaxis(factors, -1, 0), sizes)], sizes)
    tolerance = 4 * arrays[f"{case}/many_seeds_sd"] + 1e-9
    np.testing.assert_array_less(np.abs(found[:2] - arrays[f"{case}/many_seeds_mean"]), tolerance)


def test_true_factors_score_1_in_any_order_and_scale():
    found = scored(lambda factors: factors[..., [2, 0, 1]] * [0.1, -5, 1])
    assert found.eval_accuracy == 1
    assert (found.votes > 0).sum() == 3


def test_a_factor_that_no_code_knows_is_never_told():
    found = scored(lambda factors: factors[..., :2] + 0.0)
    assert found.eval_accuracy == pytest.approx(2 / 3, abs=0.1)


def test_random_codes_score_about_chance():
    rng = np.random.default_rng(1)
    assert scored(lambda factors: rng.normal(size=factors.shape)).eval_accuracy == pytest.approx(1 / 3, abs=0.08)


def test_codes_without_an_active_dimension_score_0():
    """Their relative variances would tell the factors."""
    found = scored(lambda factors: 1e-3 * factors)
    assert found[:2] == (0, 0)
    assert not found.active.any()


def test_a_dimension_is_active_from_the_least_standard_deviation_on():
    votes = Votes(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([0, 1]))
    below = np.nextafter(LEAST_SD, 0) ** 2 * (1 - 1e-12)
    assert factor_vae_score(votes, votes, np.array([LEAST_SD**2, 1.0])).active.tolist() == [True, True]
    found = factor_vae_score(votes, votes, np.array([below, 1.0]))
    assert found.active.tolist() == [False, True]
    assert found.votes.tolist() == [[0, 1], [0, 1]]
    assert found.eval_accuracy == 0.5


def test_codes_that_are_not_finite_have_no_score():
    found = scored(lambda factors: np.where(factors == 0, np.nan, factors))
    assert np.isnan(found[:2]).all()
    assert not found.active.any()


def test_a_table_of_codes_gives_the_votes_of_its_rows(monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 3)
    sizes = (4, 3)
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(12, 5))
    values, fixed = drawn(sizes, 7, 6, rng)
    index = np.ravel_multi_index(np.moveaxis(values, -1, 0), sizes)
    np.testing.assert_array_equal(table(sizes)[index], values)
    for ours, theirs in zip(looked_up_votes(codes, index, fixed), votes_of(codes[index], fixed), strict=True):
        np.testing.assert_array_equal(ours, theirs)
