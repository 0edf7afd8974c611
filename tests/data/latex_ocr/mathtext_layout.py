"""A renderer whose layout is Matplotlib's mathtext: an independent check of `builtin` where there is no TeX.

Order and positions of the symbols come from another parser with other rules: parentheses are as high as their content,
scripts shrink at every level and have no fonts of their own, and there are fewer spaces. The symbols are the same,
their boxes are a few pixels apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser

from sparseid.data.latex_ocr.builtin import page
from sparseid.data.latex_ocr.glyphs import LARGE
from sparseid.data.latex_ocr.grammar import KIND_OF_TOKEN, TEX, TOKENS, Formula
from sparseid.data.latex_ocr.layout import Box, Glyph, Mark, Rule
from sparseid.data.latex_ocr.page import Page
from sparseid.data.latex_ocr.syntax import parse
from sparseid.errors import InputError

UNITS = 100
"""Fractions of a point that mathtext rounds to; its points are those of the requested resolution."""

_POINTS_PER_INCH = 72  # mathtext's; a length has the same number of TeX's points here
_FONT = FontProperties(size=10, math_fontfamily="cm")
_PARSER: MathTextParser[Any] = MathTextParser("path")
_PARSING = Lock()
"""Lock of the parser, whose state all threads have in common; each stream draws in its own thread."""


def render(formulas: Sequence[Formula], dpi: int) -> list[Page]:
    """Draw formulas, each on its own page, as mathtext sets them at 10 points.

    Raises
    ------
    InputError
        If a formula is not in the grammar.
    """
    return [page(layout(formula), dpi, own_widths=False) for formula in formulas]


def layout(formula: Formula) -> Box:
    """Return the box of a formula, with its marks in the order of their tokens.

    Raises
    ------
    InputError
        If the formula is not in the grammar.
    """
    parse(formula)
    placed = typeset(_displayed(formula))
    tokens = [TOKENS[token] for token in formula]
    seen = [place for place, token in enumerate(tokens) if token in KIND_OF_TOKEN and token != "FRAC("]
    marks = [Mark(place, x, y, glyph) for place, (x, y, glyph) in zip(seen, _glyphs(placed), strict=True)]
    marks += [Mark(place, x, y, rule) for place, (x, y, rule) in zip(_bars(tokens), _rules(placed), strict=True)]
    width, total, depth = (length / UNITS for length in (placed.width, placed.height, placed.depth))
    return Box(width, total - depth, depth, sorted(marks))


def typeset(text: str) -> Any:
    """Return mathtext's layout (``matplotlib.mathtext.VectorParse``) of a formula in its language, 1 point = `UNITS`.

    Raises
    ------
    InputError
        If mathtext cannot read it.
    """
    try:
        with _PARSING:
            return _PARSER.parse(f"${text}$", UNITS * _POINTS_PER_INCH, _FONT)
    except ValueError as error:
        said = str(error).splitlines()[-1]
        raise InputError(f"Matplotlib cannot read the formula {text!r}: {said}", ("data.renderer",)) from None


def _displayed(formula: Formula) -> str:
    """Return a formula in mathtext's language, with explicit display style of fractions."""
    written, depth = [], 0
    for token in (TOKENS[number] for number in formula):
        written.append(r"\dfrac{" if token == "FRAC(" and depth == 0 else TEX[token])
        depth += (token == "FRAC(") - (token == "FRAC)")
    return "".join(written)


def _bars(tokens: Sequence[str]) -> list[int]:
    """Return the places of fractions in the order in which mathtext draws their bars (after the numerator)."""
    bars, open_fractions = [], []
    for place, token in enumerate(tokens):
        if token == "FRAC(":
            open_fractions.append(place)
        elif token == "FRACMID":
            bars.append(open_fractions[-1])
        elif token == "FRAC)":
            open_fractions.pop()
    return bars


def _glyphs(placed: Any) -> Iterator[tuple[float, float, Glyph]]:
    """Yield the characters from left to right and from top to bottom, in the order of tokens."""
    for font, size, code, *_, x, y in placed.glyphs:
        character, large = chr(code), 0
        if Path(font.fname).stem == "cmex10":
            character, large = next((c, codes.index(character) + 1) for c, codes in LARGE.items() if character in codes)
        yield x / UNITS, float(y) / UNITS, Glyph(character, size, large)


def _rules(placed: Any) -> Iterator[tuple[float, float, Rule]]:
    for x, y, width, height in placed.rects:
        yield x / UNITS, float(y) / UNITS, Rule(width / UNITS, height / UNITS)
