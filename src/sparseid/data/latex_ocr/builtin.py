"""Renderer without TeX: its rules and fonts, drawn here."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sparseid.data.latex_ocr.glyphs import PHASES, draw
from sparseid.data.latex_ocr.grammar import Formula
from sparseid.data.latex_ocr.layout import Box, Rule, layout
from sparseid.data.latex_ocr.page import BORDER_POINTS, POINTS_PER_INCH, WHITE, Page
from sparseid.data.latex_ocr.syntax import parse


def render(formulas: Sequence[Formula], dpi: int) -> list[Page]:
    """Draw formulas, each on its own page, as TeX sets them at 10 points.

    Raises
    ------
    InputError
        If a formula is not in the grammar.
    """
    return [page(layout(parse(formula)), dpi) for formula in formulas]


def page(box: Box, dpi: int, own_widths: bool = True) -> Page:
    """Draw a box and its border; `own_widths` as in `glyphs.draw`."""
    scale = dpi / POINTS_PER_INCH
    rows = math.ceil((box.height + box.depth + 2 * BORDER_POINTS) * scale)
    columns = math.ceil((box.width + 2 * BORDER_POINTS) * scale)
    baseline = (box.height + BORDER_POINTS) * scale
    grey = np.full((rows, columns), WHITE, np.uint8)
    boxes = np.empty((len(box.marks), 4), np.int64)
    for number, mark in enumerate(box.marks):
        x, y = (BORDER_POINTS + mark.x) * scale, baseline - mark.y * scale
        if isinstance(mark.what, Rule):
            top, stop = _span(y - mark.what.height * scale, y)
            left, end = _span(x, x + mark.what.width * scale)
            grey[top:stop, left:end] = 0
        else:
            row, column = math.floor(y), math.floor(x)
            drawing = draw(mark.what, dpi, int((x - column) * PHASES), own_widths)
            top, left = row + drawing.down, column + drawing.right
            stop, end = top + drawing.grey.shape[0], left + drawing.grey.shape[1]
            part = grey[top:stop, left:end]
            np.minimum(part, drawing.grey, out=part)
        boxes[number] = top, stop, left, end
    return Page(grey, np.array([mark.place for mark in box.marks]), boxes)


def _span(start: float, stop: float) -> tuple[int, int]:
    """Return the whole pixels next to the edges of a bar, at least one (poppler draws bars without grey)."""
    first = round(start)
    return first, max(first + 1, round(stop))
