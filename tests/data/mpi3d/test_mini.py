"""The mini MPI3D."""

import numpy as np
import pytest

from sparseid.data.mpi3d.mini import GROUND, ROOM, MiniMPI
from sparseid.data.mpi3d.settings import FACTORS

COLOUR, SHAPE, SIZE, CAMERA, BACKGROUND, HORIZONTAL, VERTICAL = range(7)


@pytest.fixture(scope="module", params=[32, 64])
def images(request):
    return MiniMPI(tuple(FACTORS.values()), request.param)


def every(*levels):
    return np.stack(np.meshgrid(*levels, indexing="ij"), axis=-1).reshape(-1, 7)


def test_objects_are_within_the_frame_whatever_the_arm_does(images):
    factors = every([0], range(4), [1], range(3), [0], [0, 13, 20, 39], [0, 20, 39])
    seen = images.observations(factors)
    assert (seen[:, :, 0] == seen[:, :, -1]).all()
    assert (seen[:, 0] == np.round(255 * np.array(ROOM))).all()
    assert (seen[:, -1] == np.round(255 * np.array(GROUND))).all()


def test_the_colour_changes_the_object_only(images):
    for combination in images.grid.sample(5, np.random.default_rng(0)):
        seen = images.observations(images.grid.traversal(combination, COLOUR)).astype(int)
        share = (seen != seen[0]).any(axis=(0, 3)).mean()
        assert 0.002 < share < 0.1


def test_objects_have_their_colours(images):
    seen = images.observations(images.grid.traversal([0, 3, 1, 1, 0, 20, 20], COLOUR)).astype(float)
    changed = (seen != seen[0]).any(axis=(0, 3))
    green, red, blue, brown = seen[:, changed].mean(axis=1)
    assert [colour.argmax() for colour in (green, red, blue, brown)] == [1, 0, 2, 0]
    assert brown[1] > 2 * red[1]


def test_large_objects_are_larger(images):
    for shape in range(4):
        areas = []
        for size in (0, 1):
            seen = images.observations(images.grid.traversal([0, shape, size, 1, 0, 30, 30], COLOUR))
            areas.append((seen != seen[0]).any(axis=(0, 3)).sum())
        assert areas[1] > 1.5 * areas[0]


def test_the_background_changes_a_strip(images):
    seen = images.observations(images.grid.traversal([0, 0, 0, 1, 0, 20, 35], BACKGROUND))
    changed = (seen != seen[0]).any(axis=(0, 3))
    rows = np.flatnonzero(changed[:, 0])
    assert 3 <= len(rows) < images.side / 4
    assert (np.diff(rows) == 1).all()
    assert not changed[[row for row in range(images.side) if row not in rows]].any()


def middle(images, factors):
    """Mean place (row, column) of the pixels of the object, relative to the image."""
    places = []
    for combination in factors:
        seen = images.observations(images.grid.traversal(combination, COLOUR))
        places.append(np.argwhere((seen != seen[0]).any(axis=(0, 3))).mean(axis=0) / images.side)
    return np.array(places).T


def test_the_horizontal_axis_moves_the_object_sideways_and_the_vertical_one_up(images):
    rows, columns = middle(images, images.grid.traversal([0, 3, 1, 1, 0, 0, 20], HORIZONTAL)[::6])
    assert (np.diff(columns) > 0.02).all()
    assert np.ptp(columns) > 0.4
    rows, columns = middle(images, images.grid.traversal([0, 3, 1, 1, 0, 20, 0], VERTICAL)[::6])
    assert (np.diff(rows) < 0).all()
    assert np.ptp(columns) < 0.03


def test_a_reduced_grid_keeps_the_extremes():
    whole, few = MiniMPI(tuple(FACTORS.values()), 32), MiniMPI((4, 4, 2, 3, 3, 8, 8), 32)
    ends = np.array([[0, 1, 1, 2, 2, 0, 7], [3, 2, 0, 1, 1, 7, 0]])
    assert (few.observations(ends) == whole.observations(np.where(ends == 7, 39, ends))).all()
