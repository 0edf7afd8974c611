import numpy as np
import pytest

from sparseid.metrics.support import support_recovery

SUPPORT = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])


@pytest.fixture
def factors():
    return np.random.default_rng(0).normal(size=(50, 2))


def test_the_truth_in_another_order_scale_and_sign_is_recovered(factors):
    selector = np.array([[0.0, -3.0, 0.001], [0.0, 0.1, 0.0], [2.0, 0.0, 0.0], [-4.0, 4.0, 0.0]])
    codes = np.stack([-factors[:, 1], 5 * factors[:, 0], 0 * factors[:, 0]], axis=1)
    assert support_recovery(selector, codes, factors, SUPPORT) == (0, 0)


def test_wrong_entries_count(factors):
    selector = SUPPORT.copy()
    selector[0] = [3.0, 1.0]  # one entry too many
    selector[2] = 0.0  # one missing
    found = support_recovery(selector, factors, factors, SUPPORT)
    assert found.hamming == 2
    assert found.mse == pytest.approx((2 * 0.25**2 + 1) / 8)


def test_latents_beyond_the_factors_must_have_no_features(factors):
    codes = np.concatenate([factors, np.ones((50, 1))], axis=1)
    selector = np.concatenate([SUPPORT, np.eye(4)[:, 3:]], axis=1)
    assert support_recovery(selector, codes, factors, SUPPORT).hamming == 1


def test_fewer_latents_than_factors_miss_some(factors):
    found = support_recovery(SUPPORT[:, :1], factors[:, :1], factors, SUPPORT)
    assert found.hamming == 2  # of the second factor
    second = support_recovery(SUPPORT[:, 1:], factors[:, 1:], factors, SUPPORT)
    assert second.hamming == 3


def test_what_is_more_probably_of_the_spike_is_zero(factors):
    probability = np.where(SUPPORT > 0, 0.5, 0.49)
    assert support_recovery(np.ones((4, 2)), factors, factors, SUPPORT, probability) == (0, 0)


def test_what_is_not_finite_has_no_score(factors):
    assert np.isnan(support_recovery(np.full((4, 2), np.nan), factors, factors, SUPPORT)).all()
    assert np.isnan(support_recovery(SUPPORT, np.full((50, 2), np.nan), factors, SUPPORT)).all()
