import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sparseid.metrics.binning import bits_needed, entropy_bound, equal_count_bins

VALUES = arrays.arrays(float, st.integers(1, 60), elements=st.floats(0.01, 100))


def maps_of(values):
    return np.asarray(values, float).reshape(1, 1, -1)


@given(VALUES, st.integers(1, 16))
def test_binned_values_are_means_of_what_was_seen_and_keep_their_order(values, bins):
    made = equal_count_bins([values], bins)
    binned = made.apply(maps_of(np.sort(values))).ravel()
    assert set(binned) <= set(made.means[0])
    assert (np.diff(binned) >= -1e-12).all()
    assert binned.min() >= values.min() - 1e-12
    assert binned.max() <= values.max() + 1e-12


@given(st.integers(1, 16), st.integers(1, 5))
def test_bins_hold_equally_many_and_keep_the_mean(bins, each):
    values = np.random.default_rng(bins).permutation(np.arange(1.0, bins * each + 1))
    made = equal_count_bins([values], bins)
    binned = made.apply(maps_of(values)).ravel()
    assert np.unique(binned, return_counts=True)[1].tolist() == [each] * bins
    assert binned.mean() == pytest.approx(values.mean())


def test_as_many_bins_as_values_change_nothing():
    values = np.array([3.0, 1.0, 2.0])
    assert equal_count_bins([values], 3).apply(maps_of(values)).ravel().tolist() == values.tolist()


def test_channels_have_bins_of_their_own_and_one_that_was_silent_stays_as_it_is():
    bins = equal_count_bins([np.array([1.0, 3.0]), np.array([]), np.array([10.0, 20.0])], 1)
    maps = np.array([[[0.0, 1.0], [0.5, 0.0], [11.0, 0.0]]])
    assert bins.apply(maps).tolist() == [[[0.0, 2.0], [0.5, 0.0], [15.0, 0.0]]]
    assert maps[0, 0, 1] == 1.0, "the maps given are left alone"


def test_the_largest_value_falls_into_the_last_bin_or_as_published_into_the_first():
    bins = equal_count_bins([np.array([1.0, 2.0, 3.0, 4.0])], 2)
    maps = maps_of([1.0, 2.0, 3.0, 4.0, 9.0])
    assert bins.apply(maps).ravel().tolist() == [1.5, 1.5, 3.5, 3.5, 3.5]
    # the first bin whose maximum is strictly greater, and the first of all where there is none
    assert bins.apply(maps, "zero").ravel().tolist() == [1.5, 3.5, 3.5, 1.5, 1.5]


def test_no_bins_are_refused():
    with pytest.raises(ValueError, match="at least 1"):
        equal_count_bins([np.ones(3)], 0)


def test_published_deltas_give_four_bits_at_twice_the_density():
    assert bits_needed({2: 0.99, 4: 0.24, 8: 0.10, 16: 0.06}) == 3
    assert bits_needed({2: 2.0, 4: 0.75, 8: 0.26, 16: 0.1}) == 4
    assert math.isnan(bits_needed({2: 1.0}))


def test_entropy_bound():
    assert entropy_bound(1, 0.5, 0) == 1
    assert entropy_bound(10, 0.5, 4) == 30
    assert entropy_bound(10, 0.0, 4) == 0
    assert entropy_bound(10, 5.022621e-5, 4) == pytest.approx(10 * (7.893e-4 + 4 * 5.022621e-5), rel=1e-3)
