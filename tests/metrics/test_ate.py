"""Treatment effects: known coefficients, what the error is invariant to, its decided corner cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseid.metrics.ate import ate_errors, standardised, treatment_effects


def latents(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("intercept", [True, False])
def test_coefficients_are_those_of_least_squares(intercept):
    z, y = latents(0, 30, 3) + 1, latents(1, 30)
    design = np.column_stack([z, np.ones(30)]) if intercept else z
    expected = np.linalg.lstsq(design, y, rcond=None)[0][:3]
    np.testing.assert_allclose(treatment_effects(z, y, intercept), expected, atol=1e-12)


def test_a_known_error():
    # uncorrelated latents of unit variance; the estimate mixes them by 45 degrees, so that its coefficients are
    # (w1 + w2, w1 - w2) / sqrt 2 = (3, -1) / sqrt 2 for w = (1, 2)
    z = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]] * 5)
    estimate = np.stack([z[:, 0] + z[:, 1], z[:, 0] - z[:, 1]], axis=1) / 2**0.5
    errors = ate_errors(z, estimate, z @ [1.0, 2.0], np.zeros(20, int), [0])
    ways = [((3 / 2**0.5 - b) ** 2 + (1 / 2**0.5 - a) ** 2) / 2 for a, b in ((1, 2), (2, 1))]
    assert min(abs(errors[0] - way) for way in ways) < 1e-12


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_order_sign_and_scale_of_the_estimate_do_not_count(seed):
    rng = np.random.default_rng(seed)
    z, y, e = rng.normal(size=(90, 3)), rng.normal(size=90), np.repeat([0, 1, 2], 30)
    same = (z * rng.choice([-4.0, 0.1, 2.0], size=3) + rng.normal(size=3))[:, rng.permutation(3)]
    for standardise in ("pooled", "within"):
        np.testing.assert_allclose(ate_errors(z, same, y, e, [0, 2], standardise), 0, atol=1e-12)


def test_pooled_and_within_differ_by_the_spread_in_the_environment():
    e = np.repeat([0, 1], 50)
    z = latents(3, 100, 2) * np.where(e == 0, 1.0, 3.0)[:, None]
    estimate, y = z @ [[1, 0.5], [0, 1]], z @ [1.0, -2.0]
    for standardise, scaled in (("pooled", standardised(z)[e == 1]), ("within", standardised(z[e == 1]))):
        other = standardised(estimate)[e == 1] if standardise == "pooled" else standardised(estimate[e == 1])
        true, learned = (np.abs(treatment_effects(x, y[e == 1])) for x in (scaled, other))
        expected = np.mean((true - learned) ** 2)
        assert ate_errors(z, estimate, y, e, [1], standardise)[0] == pytest.approx(expected)
        assert expected > 0.01
    assert ate_errors(z, estimate, y, e, [1])[0] != pytest.approx(ate_errors(z, estimate, y, e, [1], "within")[0])


def test_missing_and_constant_latents_have_no_effect():
    z, e = standardised(latents(4, 60, 2)), np.zeros(60, int)
    true = treatment_effects(z, z @ [1.0, 2.0])
    constant = np.stack([z[:, 0], np.full(60, 0.1)], axis=1)
    alone = treatment_effects(z[:, :1], z @ [1.0, 2.0])
    expected = ((alone[0] - true[0]) ** 2 + true[1] ** 2) / 2
    for estimate in (z[:, :1], constant):
        assert ate_errors(z, estimate, z @ [1.0, 2.0], e, [0])[0] == pytest.approx(expected)


def test_members_are_scored_as_alone_and_a_diverged_one_is_nan():
    z, estimate, y, e = latents(5, 4, 60, 2), latents(6, 4, 60, 3), latents(7, 4, 60), np.arange(60) % 3
    estimate[1, 0, 0] = np.inf
    together = ate_errors(z, estimate, y, e, [2, 0])
    assert together.shape == (4, 2)
    for member in (0, 2, 3):
        alone = ate_errors(z[member], estimate[member], y[member], e, [2, 0])
        np.testing.assert_allclose(together[member], alone, rtol=1e-10)
    assert np.isnan(together[1]).all()


def test_an_environment_without_samples_is_refused():
    with pytest.raises(ValueError, match="environment 7 has no sample"):
        ate_errors(np.eye(3), np.eye(3), np.ones(3), np.zeros(3, int), [7])
    with pytest.raises(ValueError, match="pooled or within"):
        ate_errors(np.eye(3), np.eye(3), np.ones(3), np.zeros(3, int), [0], "none")
