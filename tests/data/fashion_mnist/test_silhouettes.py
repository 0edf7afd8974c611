"""Silhouettes change where their factors say."""

import numpy as np
import pytest

from sparseid.data.fashion_mnist.silhouettes import FACTORS, silhouettes, silhouettes_of

TOP, SHOE = range(len(FACTORS))


def drawn(kind, *factors):
    return silhouettes_of(np.array([kind]), np.array([factors], np.float32), np.ones(1))[0].astype(int)


def changed(kind, factor):
    """Pixels that differ between the ends of a factor, and the middle image."""
    low, high = ([0.5] * 3 for _ in range(2))
    low[factor], high[factor] = 0.0, 1.0
    return drawn(kind, *low) != drawn(kind, *high), drawn(kind, 0.5, 0.5, 0.5)


def test_images_are_bytes_of_both_kinds_and_a_function_of_the_stream():
    first, again = (silhouettes(600, np.random.default_rng(1)) for _ in range(2))
    assert first.images.shape == (600, 28, 28)
    assert first.images.dtype == np.uint8
    assert np.array_equal(first.images, again.images)
    assert set(first.labels) == {TOP, SHOE}
    shares = (first.images > 0).mean(axis=(1, 2))
    assert 0.05 < shares.min() < shares.max() < 0.6
    assert first.images.max(axis=(1, 2)).min() >= 127  # the lowest brightness


def test_the_factors_of_an_image_are_known():
    split = silhouettes(40, np.random.default_rng(1))
    assert set(split.factors) == {"kind", "brightness", *FACTORS["top"], *FACTORS["shoe"]}
    kinds, heels = split.factors["kind"].astype(int), split.factors["heel_height"]
    assert np.array_equal(kinds, split.labels)
    assert np.array_equal(np.isfinite(heels), kinds == SHOE)
    number = int(np.flatnonzero(kinds == SHOE)[0])
    factors = np.array([[split.factors[name][number] for name in FACTORS["shoe"]]], np.float32)
    again = silhouettes_of(np.array([SHOE]), factors, split.factors["brightness"][[number]])
    assert np.abs(again[0].astype(int) - split.images[number]).max() <= 1


def test_brightness_scales_an_image():
    factors = np.full((2, 3), 0.5, np.float32)
    dark, bright = silhouettes_of(np.array([SHOE, SHOE]), factors, np.array([0.5, 1.0])).astype(int)
    assert np.abs(bright - 2 * dark).max() <= 1


@pytest.mark.parametrize(
    ("kind", "factor", "rows", "columns"),
    [
        (TOP, 0, slice(4, 24), slice(0, 28)),  # sleeves: beside the body
        (TOP, 2, slice(0, 10), slice(10, 18)),  # the neckline
        (SHOE, 1, slice(0, 20), slice(14, 28)),  # the upper is at the back
        (SHOE, 2, slice(0, 20), slice(8, 20)),  # and grows towards the toe
        (SHOE, 0, slice(0, 28), slice(8, 28)),  # the ball of the foot stays
    ],
)
def test_a_factor_changes_its_part_of_the_image_alone(kind, factor, rows, columns):
    differs, _ = changed(kind, factor)
    assert differs[rows, columns].sum() == differs.sum() > 5


def test_sleeves_do_not_change_the_body_and_the_width_does():
    sleeves, _ = changed(TOP, 0)
    assert not sleeves[:, 11:17].any()
    width, _ = changed(TOP, 1)
    assert width[20, :].any()


def test_a_top_is_symmetric():
    _, image = changed(TOP, 1)
    assert np.array_equal(image, image[:, ::-1])
