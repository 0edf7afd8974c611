"""Page of a rendered formula, and its placement on a canvas."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

BORDER_POINTS = 3.0
"""Width of the white border of a formula, in points (authors' code: LaTeX class standalone, border 3pt)."""
POINTS_PER_INCH = 72.27
"""Number of TeX's points per inch."""
WHITE_ABOVE = 0.75
"""A pixel is white if its grey exceeds this (authors' code)."""
SEEN_ABOVE = 0.1
"""A pixel belongs to a symbol that covers more than this fraction of it (authors' code: the saturation)."""


class Page(NamedTuple):
    """A formula on a page of minimum size, borders included.

    Attributes
    ----------
    ink
        (rows, columns) bool, True = black.
    places
        (symbols,) int64: the token of each visible symbol, ascending.
    boxes
        (symbols, 4) int64: half-open row start, row stop, column start, column stop of its pixels.
    """

    ink: np.ndarray
    places: np.ndarray
    boxes: np.ndarray


def centred(page: Page, height: int, width: int) -> Page:
    """Return a page cropped, or padded with white, to a canvas, about its centre.

    The part outside the canvas is cut off, as in the authors' code; boxes are clipped, and a symbol outside has no box.
    """
    down, right = (height - page.ink.shape[0]) // 2, (width - page.ink.shape[1]) // 2
    boxes = (page.boxes + np.array([down, down, right, right])).clip(0, [height, height, width, width])
    left_over = (boxes[:, 1] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 2])
    return Page(in_the_middle(page.ink, height, width), page.places[left_over], boxes[left_over])


def in_the_middle(ink: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return pixels in the middle of a white canvas, cropped to it."""
    canvas = np.zeros((height, width), bool)
    down, right = (height - ink.shape[0]) // 2, (width - ink.shape[1]) // 2
    part = ink[max(-down, 0) :, max(-right, 0) :][:height, :width]
    canvas[max(down, 0) :, max(right, 0) :][: part.shape[0], : part.shape[1]] = part
    return canvas


def dilated(boxes: np.ndarray, margin: int, height: int, width: int) -> np.ndarray:
    """Return boxes enlarged by `margin` pixels on all sides, clipped to the canvas."""
    return (boxes + np.array([-margin, margin, -margin, margin])).clip(0, [height, height, width, width])
