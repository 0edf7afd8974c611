import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseid.metrics.intervals import INTERVALS, bootstrap_interval, summarise

VALUES = [4.1, 3.2, 7.9, 5.5, 6.1, 2.8, 5.0]


@pytest.mark.shared
@pytest.mark.parametrize(("key", "confidence"), [("bootstrap_interval", 0.95), ("bootstrap_interval_conf10", 0.9)])
def test_equal_to_the_published_intervals(shared_arrays, key, confidence):
    arrays = shared_arrays("sparling_seeds_bootstrap_topk")
    for values, interval in zip(arrays["bootstrap_values"], arrays[key], strict=True):
        np.testing.assert_allclose(bootstrap_interval(values, confidence), interval, atol=1e-12)


def test_bootstrap_is_scipys_percentile_bootstrap_up_to_the_resamples_drawn():
    exact = scipy.stats.bootstrap(
        (VALUES,), np.mean, n_resamples=20_000, method="percentile", random_state=np.random.default_rng(1)
    )
    width = exact.confidence_interval.high - exact.confidence_interval.low
    np.testing.assert_allclose(bootstrap_interval(VALUES), exact.confidence_interval, atol=0.06 * width)


def test_student_is_scipys():
    expected = scipy.stats.t.interval(0.95, len(VALUES) - 1, np.mean(VALUES), scipy.stats.sem(VALUES))
    np.testing.assert_allclose(INTERVALS["student"](VALUES), expected, rtol=1e-12)
    low, high = INTERVALS["student"]([0.0, 2.0])
    assert (low, high) == pytest.approx((1 - 12.7062047, 1 + 12.7062047))  # the table's t for one degree of freedom


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("sd", 3 - math.sqrt(7), 3 + math.sqrt(7)),
        ("population_sd", 3 - math.sqrt(14 / 3), 3 + math.sqrt(14 / 3)),
        ("quartiles", 1.5, 4.0),
    ],
)
def test_known_intervals(kind, low, high):
    summary = summarise([1.0, 2.0, 6.0, math.nan], interval=kind)
    assert (summary.low, summary.high) == pytest.approx((low, high))
    assert (summary.mean, summary.median, summary.n) == (3.0, 2.0, 3)
    assert summary.sd == pytest.approx(math.sqrt(7))


def test_the_centre_is_the_one_asked_for():
    assert summarise([1.0, 2.0, 6.0]).centre == 3.0
    assert summarise([1.0, 2.0, 6.0], "median").centre == 2.0


@pytest.mark.parametrize("kind", INTERVALS)
def test_constant_values_have_an_interval_of_no_width(kind):
    assert summarise([4.0, 4.0, 4.0], interval=kind)[:6] == (4.0, 4.0, 4.0, 4.0, 0.0, 4.0)


@pytest.mark.parametrize("kind", INTERVALS)
@pytest.mark.parametrize("value", [0.1, 98.7])
def test_equal_values_have_no_rounding_of_their_mean(kind, value):
    """Deterministic baselines have the same value in every seed: their sd is 0, not 1e-16."""
    assert summarise([value] * 3, interval=kind) == (value, value, value, value, 0.0, value, 3)


@pytest.mark.parametrize("kind", INTERVALS)
def test_one_value_has_no_interval_and_none_has_nothing(kind):
    one = summarise([2.5, math.nan], interval=kind)
    assert (one.centre, one.mean, one.median, one.n) == (2.5, 2.5, 2.5, 1)
    assert all(math.isnan(value) for value in (one.sd, one.low, one.high))
    none = summarise([], interval=kind)
    assert none.n == 0
    assert math.isnan(none.centre)


@settings(max_examples=20)
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=9), st.sampled_from(sorted(INTERVALS)))
def test_intervals_are_ordered_and_shift_with_the_values(values, kind):
    low, high = INTERVALS[kind](values)
    assert low <= high
    np.testing.assert_allclose(INTERVALS[kind](np.array(values) + 10), (low + 10, high + 10), atol=1e-6)


@settings(max_examples=20)
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=9), st.sampled_from(["bootstrap", "quartiles"]))
def test_resampled_means_and_quartiles_lie_within_the_values(values, kind):
    low, high = INTERVALS[kind](values)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
