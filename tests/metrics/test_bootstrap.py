import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseid.metrics.bootstrap import bootstrap_interval, summarise


@pytest.mark.shared
@pytest.mark.parametrize(("key", "confidence"), [("bootstrap_interval", 0.95), ("bootstrap_interval_conf10", 0.9)])
def test_equal_to_the_published_intervals(shared_arrays, key, confidence):
    arrays = shared_arrays("sparling_seeds_bootstrap_topk")
    for values, interval in zip(arrays["bootstrap_values"], arrays[key], strict=True):
        np.testing.assert_allclose(bootstrap_interval(values, confidence), interval, atol=1e-12)


def test_known_values():
    summary = summarise([1.0, 2.0, 6.0, math.nan])
    assert (summary.mean, summary.median, summary.n) == (3.0, 2.0, 3)
    assert summary.sd == pytest.approx(math.sqrt(7))
    assert 1.0 <= summary.low < 3.0 < summary.high <= 6.0


def test_constant_values_have_an_interval_of_no_width():
    assert summarise([4.0, 4.0, 4.0])[:5] == (4.0, 0.0, 4.0, 4.0, 4.0)


def test_one_value_has_no_interval_and_none_has_nothing():
    one = summarise([2.5, math.nan])
    assert (one.mean, one.median, one.n) == (2.5, 2.5, 1)
    assert all(math.isnan(value) for value in (one.sd, one.low, one.high))
    none = summarise([])
    assert none.n == 0
    assert math.isnan(none.mean)


@settings(max_examples=20)
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=9))
def test_interval_lies_within_the_values_and_shifts_with_them(values):
    low, high = bootstrap_interval(values)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    np.testing.assert_allclose(bootstrap_interval(np.array(values) + 10), (low + 10, high + 10), atol=1e-9)
