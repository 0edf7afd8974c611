"""The mini Cars3D."""

import numpy as np
import pytest

from sparseid.data.cars3d.mini import AROUND, DISTANCE, FIELD, mini_cars
from sparseid.data.cars3d.resizing import resized


@pytest.fixture(scope="module")
def images():
    """(elevation, azimuth, object type, 32, 32, 3)."""
    return mini_cars((2, 8, 16), 32).images.reshape(2, 8, 16, 32, 32, 3)


def test_cars_are_whole_and_on_white(images):
    for edge in (images[..., 0, :, :], images[..., -1, :, :], images[..., :, 0, :], images[..., :, -1, :]):
        assert (edge == 255).all()
    share = (images != 255).any(-1).mean(axis=(-2, -1))
    assert share.min() > 0.08
    assert share.max() < 0.6
    assert np.sin(np.radians(FIELD / 2)) * DISTANCE < AROUND  # every ray that may meet a car is cast


def test_azimuths_go_around_the_car(images):
    assert (images[:, 1:4] == images[:, :4:-1, ..., ::-1, :]).all()
    width = (images[0] != 255).any(-1).any(-2).sum(-1)
    assert (width[2] > width[0]).all()  # from the side they are wider than from the front
    assert (images[:, 0] != images[:, 4]).any(axis=(-3, -2, -1)).all()


def test_higher_cameras_see_more_of_the_car(images):
    height = (images[:, 0] != 255).any(-1).any(-1).sum(-1)
    assert (height[1] > height[0]).all()


def test_types_differ_in_shape_and_colour(images):
    outlines = (images[0, 2] != 255).any(-1).reshape(16, -1)
    assert len(np.unique(outlines, axis=0)) >= 14
    colours = np.array([np.median(image[(image != 255).any(-1)], axis=0) for image in images[1, 2]])
    apart = abs(colours[:, None] - colours).sum(-1)[~np.eye(16, dtype=bool)]
    assert apart.min() > 20


def test_a_type_does_not_depend_on_their_number(images):
    fewer = mini_cars((2, 8, 3), 32).images.reshape(2, 8, 3, 32, 32, 3)
    assert (fewer == images[:, :, :3]).all()


def test_upsampled_images_are_those_of_fewer_pixels():
    small, large = mini_cars((2, 2, 2), 32), mini_cars((2, 2, 2), 64, upsampled_from=32)
    assert large.side == 64
    assert (large.images == resized(small.images, 64)).all()
    drawn = mini_cars((2, 2, 2), 64).images.astype(int)
    assert 0 < abs(drawn - large.images).mean() < 10
