"""Silhouettes of tops and shoes, drawn in place of Fashion-MNIST's clothes (array-based, without torch).

Coordinates are -1 to 1 from left to right and from the top down. Every shape is the set of points that satisfy a few
inequalities; a pixel is the share of its sub-pixels that lie in it, times the brightness of the piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from sparseid.data.fashion_mnist.files import SIDE, Split

Array = NDArray[np.float32]
Inside = NDArray[np.bool_]
SUPERSAMPLING = 3
"""Points per pixel and axis."""
AT_ONCE = 500
"""Images that are drawn at a time."""
FACTORS = {
    "top": ("sleeve_length", "top_width", "neckline"),
    "shoe": ("heel_height", "upper_height", "upper_width"),
}
"""Kind of a silhouette, in the order of the classes -> its factors, each uniform in [0, 1]."""
DARKEST = 0.5
"""Lowest brightness of a piece; the highest is 1."""


def silhouettes(images: int, rng: np.random.Generator) -> Split:
    """Draw images of random kinds, factors and brightness.

    Parameters
    ----------
    images
        Their number.
    rng
        Source of kinds, factors and brightness.

    Returns
    -------
    Split
        Images, their kinds as classes, and as factors those of each kind, ``brightness`` and ``kind``.
    """
    kinds = rng.integers(len(FACTORS), size=images)
    factors, brightness = rng.random((images, 3), np.float32), rng.uniform(DARKEST, 1, images)
    parts = [slice(start, start + AT_ONCE) for start in range(0, images, AT_ONCE)]
    drawn = [silhouettes_of(kinds[part], factors[part], brightness[part]) for part in parts]
    known = {"kind": kinds.astype(np.float32), "brightness": brightness.astype(np.float32)}
    for kind, names in enumerate(FACTORS.values()):
        known |= {name: np.where(kinds == kind, factors[:, at], np.nan) for at, name in enumerate(names)}
    return Split(np.concatenate(drawn), kinds.astype(np.uint8), known)


def silhouettes_of(kinds: NDArray[np.integer], factors: Array, brightness: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Return images (images, 28, 28) of kinds (images,), their factors (images, 3) and brightness (images,)."""
    covered = np.empty((len(kinds), SIDE, SIDE), np.float32)
    for kind, draw in enumerate((_top, _shoe)):
        of_kind = np.flatnonzero(kinds == kind)
        covered[of_kind] = _coverage(draw, factors[of_kind])
    return np.rint(255 * brightness[:, None, None] * covered).astype(np.uint8)


def _coverage(draw: Callable[[Array, Array, Iterator[Array]], Inside], factors: Array) -> Array:
    """Return the share (images, 28, 28) of each pixel that a shape covers."""
    fine = SIDE * SUPERSAMPLING
    place = ((2 * np.arange(fine) + 1) / fine - 1).astype(np.float32)
    inside = draw(place[None, None], place[None, :, None], iter(factors.T[:, :, None, None]))
    shape = (len(factors), SIDE, SUPERSAMPLING, SIDE, SUPERSAMPLING)
    return np.broadcast_to(inside, (len(factors), fine, fine)).reshape(shape).mean(axis=(2, 4), dtype=np.float32)


def _top(x: Array, y: Array, factors: Iterator[Array]) -> Inside:
    """Return the points of a top: body, two sleeves that hang down, and a neckline that is cut out."""
    sleeve, width, neckline = factors
    half = 0.3 + 0.18 * width
    side = np.abs(x)
    body = (side < half) & (y > -0.82 + 0.3 * side) & (y < 0.85)
    across, down = 0.4, 0.92  # direction of a sleeve, from the shoulder
    from_shoulder, below = side - half + 0.1, y + 0.62
    along = across * from_shoulder + down * below
    beside = np.abs(down * from_shoulder - across * below)
    sleeves = (along > -0.05) & (along < 0.2 + 1.1 * sleeve) & (beside < 0.13)
    neck = (x / 0.2) ** 2 + ((y + 0.82) / (0.08 + 0.4 * neckline)) ** 2 < 1
    return (body | sleeves) & ~neck


def _shoe(x: Array, y: Array, factors: Iterator[Array]) -> Inside:
    """Return the points of a shoe from the side, toe on the left: foot, upper around the ankle, and heel."""
    heel, height, width = factors
    ground, back = 0.75, 0.75
    rise = 0.45 * heel * np.clip((x + 0.2) / 0.7, 0, 1)  # of the sole, from the ball of the foot to the heel
    sole = ground - rise
    foot = (x > -0.85) & (x < back) & (y < sole) & (y > sole - 0.2 - 0.3 * np.clip((x + 0.85) / 0.9, 0, 1))
    ankle = ground - 0.45 * heel - 0.35
    upper = (x > back - 0.4 - 0.35 * width) & (x < back) & (y < ankle) & (y > ankle - 0.1 - 0.75 * height)
    block = (x > back - 0.2) & (x < back) & (y < ground) & (y > ankle)
    return foot | upper | block
