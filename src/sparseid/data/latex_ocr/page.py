"""Page of a rendered formula, and its placement on a canvas."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

BORDER_POINTS = 3.0
"""Width of the white border of a formula, in points (authors' code: LaTeX class standalone, border 3pt)."""
POINTS_PER_INCH = 72.27
"""Number of TeX's points per inch."""
WHITE = 255
"""Grey of white pixels."""
WHITE_ABOVE = 0.75
"""A pixel is white if its grey exceeds this (authors' code)."""
SEEN_ABOVE = 0.1
"""A pixel belongs to a symbol that covers more than this fraction of it (authors' code: the saturation)."""


class Page(NamedTuple):
    """A formula on a page of minimum size, borders included.

    Attributes
    ----------
    grey
        (rows, columns) uint8, 0 = black, 255 = white.
    places
        (symbols,) int64: the token of each visible symbol, ascending.
    boxes
        (symbols, 4) int64: half-open row start, row stop, column start, column stop of its pixels.
    """

    grey: np.ndarray
    places: np.ndarray
    boxes: np.ndarray

    @property
    def ink(self) -> np.ndarray:
        """Its black pixels, (rows, columns) bool."""
        return black(self.grey)


def black(grey: np.ndarray) -> np.ndarray:
    """Return which pixels of greys (..., rows, columns) in 0 .. 255 are black, not white (:data:`WHITE_ABOVE`)."""
    return grey <= WHITE_ABOVE * 255


def centred(page: Page, height: int, width: int) -> Page:
    """Return a page cropped, or padded with white, to a canvas, about its centre.

    The part outside the canvas is cut off, as in the authors' code; boxes are clipped, and a symbol outside has no box.
    """
    down, right = (_offset(*sizes) for sizes in zip((height, width), page.grey.shape, strict=True))
    boxes = (page.boxes + np.array([down, down, right, right])).clip(0, [height, height, width, width])
    left_over = (boxes[:, 1] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 2])
    return Page(in_the_middle(page.grey, height, width), page.places[left_over], boxes[left_over])


def in_the_middle(grey: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return pixels in the middle of a white canvas, cropped to it; of an odd rest, one more lies below and right."""
    canvas = np.full((height, width), WHITE, np.uint8)
    down, right = (_offset(*sizes) for sizes in zip((height, width), grey.shape, strict=True))
    part = grey[max(-down, 0) :, max(-right, 0) :][:height, :width]
    canvas[max(down, 0) :, max(right, 0) :][: part.shape[0], : part.shape[1]] = part
    return canvas


def _offset(canvas: int, size: int) -> int:
    """Return the first pixel's place on the canvas: half the rest, rounded towards 0 if it is cropped, too."""
    return (canvas - size) // 2 if size <= canvas else -((size - canvas) // 2)


def dilated(boxes: np.ndarray, margin: int, height: int, width: int) -> np.ndarray:
    """Return boxes enlarged by `margin` pixels on all sides, clipped to the canvas."""
    return (boxes + np.array([-margin, margin, -margin, margin])).clip(0, [height, height, width, width])
