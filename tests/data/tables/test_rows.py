"""Scales of training rows."""

import numpy as np
import pytest

from sparseid.data.tables import Scale, scaled


def test_columns_are_scaled_by_the_training_rows():
    values = scaled(np.array([[1.0, 5], [3, 5], [9, 5]]), np.array([0, 1]))
    np.testing.assert_allclose(values, [[-1, 0], [1, 0], [7, 0]])


def test_a_scale_is_kept_for_other_rows_and_undone():
    scale = Scale.of(np.array([[1.0, 5], [3, 5], [9, 5]]), np.array([0, 1]))
    others = np.array([[2.0, 5], [4, 5]])
    np.testing.assert_allclose(scale.apply(others), [[0, 0], [2, 0]])
    np.testing.assert_allclose(scale.undo(scale.apply(others)), others)


@pytest.mark.parametrize("unit", [1e-250, 1e-170, 1.0, 1e170, 1e300])
def test_columns_of_any_magnitude_are_scaled(unit):
    """Squares of the largest and smallest numbers are beyond double precision."""
    values = np.array([[1.0], [3], [5]]) * unit
    np.testing.assert_allclose(scaled(values, np.arange(3))[:, 0], [-(1.5**0.5), 0, 1.5**0.5], atol=1e-12)


def test_a_column_that_varies_little_for_its_offset_is_scaled_and_one_that_differs_by_rounding_is_not():
    milliseconds, computed = 1.7e9 + 1e-3 * np.arange(400), np.resize([0.3, 0.1 + 0.2, 0.3 - 5e-17], 400)
    values = scaled(np.stack([milliseconds, computed], axis=1), np.arange(400))
    assert np.diff(values[:, 0]).min() > 0.008
    assert not values[:, 1].any()


def test_differences_of_whole_numbers_are_no_rounding_errors():
    microseconds = 1_700_000_000_000_000.0 + 200 * np.arange(100)  # within 20 ms
    rounding = 0.1 + 1e-16 * np.arange(100)
    values = np.stack([microseconds, rounding, np.full(100, 3.0)], axis=1)
    scaled_values = Scale.of(values, np.arange(100)).apply(values)
    expected = (np.arange(100) - 49.5) / np.arange(100).std()
    np.testing.assert_allclose(scaled_values[:, 0], expected, atol=1e-3)  # the mean is known to 0.25 microseconds
    assert not scaled_values[:, 1:].any()
