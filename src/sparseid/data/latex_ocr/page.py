"""What a renderer makes of a formula, and the canvas that it is laid on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

BORDER_POINTS = 3.0
"""White around a formula (authors' code: LaTeX class standalone, border 3pt)."""
POINTS_PER_INCH = 72.27
"""TeX's points."""
WHITE_ABOVE = 0.75
"""A pixel is white where its grey exceeds this (authors' code)."""
SEEN_ABOVE = 0.1
"""A pixel belongs to a symbol where the symbol covers more than this of it (authors' code: the saturation)."""


class Page(NamedTuple):
    """A formula on a page that just holds it, borders included.

    Attributes
    ----------
    ink
        (rows, columns) bool, True = black.
    places
        (symbols,) int64: the token of each symbol that is seen, ascending.
    boxes
        (symbols, 4) int64: half-open row start, row stop, column start, column stop of its pixels.
    """

    ink: np.ndarray
    places: np.ndarray
    boxes: np.ndarray


def centred(page: Page, height: int, width: int) -> Page:
    """Return a page cropped or filled up with white to a canvas, about its centre.

    What exceeds the canvas is cut off, as in the authors' code; boxes keep what is left of them, and a symbol of which
    nothing is left has none.
    """
    down, right = (height - page.ink.shape[0]) // 2, (width - page.ink.shape[1]) // 2
    boxes = (page.boxes + np.array([down, down, right, right])).clip(0, [height, height, width, width])
    left_over = (boxes[:, 1] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 2])
    return Page(in_the_middle(page.ink, height, width), page.places[left_over], boxes[left_over])


def in_the_middle(ink: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return pixels in the middle of a white canvas, cut off where they exceed it."""
    canvas = np.zeros((height, width), bool)
    down, right = (height - ink.shape[0]) // 2, (width - ink.shape[1]) // 2
    part = ink[max(-down, 0) :, max(-right, 0) :][:height, :width]
    canvas[max(down, 0) :, max(right, 0) :][: part.shape[0], : part.shape[1]] = part
    return canvas


def dilated(boxes: np.ndarray, margin: int, height: int, width: int) -> np.ndarray:
    """Return boxes that reach `margin` pixels further on all sides, as far as the canvas goes."""
    return (boxes + np.array([-margin, margin, -margin, margin])).clip(0, [height, height, width, width])
