"""The mini Shapes3D: which pixels a factor may change."""

import numpy as np
import pytest

from sparseid.data.shapes3d.mini import AROUND, MiniShapes, _View
from sparseid.data.shapes3d.settings import FACTORS


@pytest.fixture(scope="module", params=[32, 64])
def images(request):
    return MiniShapes((4, 4, 4, 2, 4, 3), request.param)


@pytest.mark.parametrize("part", range(3))
def test_the_hue_of_a_part_changes_its_pixels_and_no_others(images, part):
    """The true dependency structure: a pixel of one part depends on one hue."""
    for combination in images.grid.sample(10, np.random.default_rng(part)):
        seen = images.observations(images.grid.traversal(combination, part)).astype(int)
        changed = (seen != seen[0]).any(axis=(0, 3)).ravel()
        _, _, _, scale, shape, orientation = combination
        weight = images.weights[scale, shape, orientation, :, part]
        assert not changed[weight == 0].any()
        assert changed[weight > 0.01].all()
        assert 0.02 < changed.mean() < 0.7


def test_parts_lie_where_they_should(images):
    weights = images.weights.reshape(2, 4, 3, images.side, images.side, 3)
    floor, walls, thing = np.moveaxis(weights > 0, -1, 0)
    assert floor[..., -1, :].all()
    assert not floor[..., : images.side // 4, :].any()
    assert walls[..., 0, :].all()
    assert not walls[..., -1, :].any()
    assert thing[..., images.side // 2, images.side // 2].all()
    for edge in (thing[..., 0], thing[..., -1], thing[..., 0, :], thing[..., -1, :]):
        assert not edge.any()


def test_every_pixel_has_its_share_of_parts(images):
    assert images.weights.min() >= 0
    assert images.weights.sum(-1).min() > 0.4
    assert images.weights.sum(-1).max() <= 1 + 1e-6


def test_hues_are_evenly_spaced_and_distinct():
    images = MiniShapes((10, 10, 10, 2, 2, 2), 32)
    bottom = images.observations(images.grid.traversal([0, 3, 3, 0, 0, 0], 0))[:, -1, 16].astype(int)
    full = bottom.max()
    assert bottom[0].tolist() == [full, 0, 0]
    assert bottom[5].tolist() == [0, full, full]
    assert (bottom.max(axis=1) == full).all()
    assert abs(bottom[:, None] - bottom).sum(-1)[~np.eye(10, dtype=bool)].min() > 60


def test_larger_scales_and_all_scales_of_all_shapes_are_larger():
    images = MiniShapes((2, 2, 2, 8, 4, 2), 64)
    area = (images.weights[..., 2] > 0).sum(-1)
    assert (np.diff(area, axis=0) > 0).all()
    assert area.min() > 60


def test_objects_lie_within_the_rays_that_are_cast(monkeypatch):
    expected = _View(30.0, 32)
    monkeypatch.setattr("sparseid.data.shapes3d.mini.AROUND", (AROUND[0], 3.0))
    every = _View(30.0, 32)
    assert len(every.near) > len(expected.near)
    for shape in range(4):
        assert (every.weights(1.25, shape) == expected.weights(1.25, shape)).all()


def test_the_factors_are_those_of_the_paper():
    assert tuple(FACTORS.values()) == (10, 10, 10, 8, 4, 15)
    assert np.prod(list(FACTORS.values())) == 480_000
