"""Bitmaps of characters, drawn from the Computer Modern outlines of Matplotlib."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib import ft2font
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.path import Path as Outline
from matplotlib.transforms import Affine2D

from sparseid.data.latex_ocr.font_metrics import CHARACTERS
from sparseid.data.latex_ocr.layout import Glyph
from sparseid.data.latex_ocr.page import POINTS_PER_INCH, SEEN_ABOVE, WHITE

PHASES = 4
"""Number of positions within a pixel, from left to right, at which a character is drawn (as in poppler)."""

LARGE = {"(": "\xa1\xb3\xb5", ")": "\xa2\xb4\xb6"}
"""Large parentheses in Matplotlib's cmex10, smallest first."""

_EM = 1000
_NO_HINTING = ft2font.LoadFlags.NO_HINTING if hasattr(ft2font, "LoadFlags") else vars(ft2font)["LOAD_NO_HINTING"]


class Drawing(NamedTuple):
    """Greys of a character (0 = black); the first pixel is `down`, `right` of that of its origin."""

    down: int
    right: int
    grey: np.ndarray


@cache
def draw(glyph: Glyph, dpi: int, phase: int, own_widths: bool = True) -> Drawing:
    """Draw a character whose origin is `phase` / :data:`PHASES` pixels right of the edge of a pixel.

    With `own_widths`, characters of sizes 7 and 5 are as wide as in TeX's own fonts of these sizes, else as in size 10.
    """
    outline = _outline(glyph.character, glyph.large)
    em = glyph.size * dpi / POINTS_PER_INCH
    em_wide = em * _widening(glyph) if own_widths else em
    placed = Affine2D().scale(em_wide, em).translate(phase / PHASES, 0).transform_path(outline)
    points = np.asarray(placed.vertices)
    left, bottom = np.floor(points.min(axis=0)).astype(int) - 1
    columns, rows = np.ceil(points.max(axis=0)).astype(int) + 1 - (left, bottom)
    renderer = RendererAgg(columns, rows, 72)
    context = renderer.new_gc()
    context.set_linewidth(0)
    context.set_snap(False)
    renderer.draw_path(context, placed, Affine2D().translate(-left, -bottom), (0.0, 0.0, 0.0))
    cover = np.asarray(renderer.buffer_rgba())[..., 3]
    down, right = (np.flatnonzero((cover > SEEN_ABOVE * WHITE).any(axis=axis)) for axis in (1, 0))
    seen = cover[down[0] : down[-1] + 1, right[0] : right[-1] + 1]
    return Drawing(int(down[0] - rows - bottom), int(right[0] + left), WHITE - seen)


def _widening(glyph: Glyph) -> float:
    """Return the width of a character in the font of its own size, relative to that of size 10."""
    if glyph.large:
        return 1.0
    return CHARACTERS[round(glyph.size)][glyph.character].width / CHARACTERS[10][glyph.character].width


@cache
def _outline(character: str, large: int) -> Outline:
    """Return the outline of a character, in units of its size."""
    name = "cmex10" if large else "cmmi10" if character.isalpha() else "cmr10"
    font = ft2font.FT2Font(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{name}.ttf"))
    font.set_size(_EM, 72)
    font.load_char(ord(LARGE[character][large - 1] if large else character), flags=_NO_HINTING)
    vertices, codes = font.get_path()
    ends = codes == Outline.CLOSEPOLY  # with arbitrary coordinates
    vertices[ends] = vertices[0]
    return Outline(vertices / _EM, codes)
