"""Grids of discrete factors."""

import numpy as np
import pytest

from sparseid.data.factors import FactorGrid, StoredImages

GRID = FactorGrid(("hue", "shape", "angle"), (5, 2, 3))


def test_numbers_and_combinations_are_converted_into_each_other():
    numbers = np.arange(30)
    factors = GRID.at(numbers)
    assert (GRID.index(factors) == numbers).all()
    assert factors[:4].tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 1, 0]]
    assert GRID.at([[7, 8]]).shape == (1, 2, 3)
    assert (factors @ [6, 3, 1] == numbers).all()


@pytest.mark.parametrize("factors", [[5, 0, 0], [0, -1, 0]])
def test_levels_that_do_not_exist_have_no_number(factors):
    with pytest.raises(ValueError, match="invalid entry in coordinates"):
        GRID.index([factors])


def test_samples_are_uniform_and_independent():
    drawn = GRID.index(GRID.sample(30_000, np.random.default_rng(0)))
    counts = np.bincount(drawn, minlength=30)
    assert abs(counts - 1000).max() < 5 * 1000**0.5


def test_one_factor_is_fixed_within_each_set():
    fixed = np.array([0, 2, 2, 1] * 500)
    drawn = GRID.sample_fixed(fixed, 64, np.random.default_rng(0))
    assert drawn.shape == (2000, 64, 3)
    varies = (drawn != drawn[:, :1]).any(axis=1)
    assert (varies == (np.arange(3) != fixed[:, None])).all()
    levels = drawn[np.arange(2000), 0, fixed]
    assert abs(np.bincount(levels[fixed == 0], minlength=5) - 100).max() < 50
    free = drawn[fixed != 0, :, 0]
    assert abs(np.bincount(free.ravel()) / free.size - 0.2).max() < 0.01


def test_a_traversal_has_all_levels_of_a_factor_and_one_of_the_others():
    assert GRID.traversal([3, 1, 2], 2).tolist() == [[3, 1, 0], [3, 1, 1], [3, 1, 2]]


def test_stored_images_are_found_by_their_factors():
    images = np.arange(30, dtype=np.uint8).repeat(4 * 4 * 3).reshape(30, 4, 4, 3)
    stored = StoredImages(GRID, images)
    seen = stored.observations([[0, 1, 0], [4, 1, 2]])
    assert seen.shape == (2, 4, 4, 3)
    assert seen[:, 0, 0, 0].tolist() == [3, 29]
    assert str(stored) == "30 images of 4 pixels: hue 5, shape 2, angle 3"
