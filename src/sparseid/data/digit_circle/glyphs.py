"""Bitmaps of digits, read from text files and checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np

from sparseid.errors import InputError
from sparseid.text import lines_of, read_text

BUILT_IN = {"tall": "tall.txt", "compact": "compact.txt"}


@dataclass(frozen=True)
class GlyphSet:
    """Bitmaps of the symbols 0, 1, ..., each with a one-pixel margin.

    Attributes
    ----------
    bitmaps
        One boolean array (rows, columns) per symbol, True = ink.
    """

    bitmaps: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.bitmaps)

    @property
    def shapes(self) -> np.ndarray:
        """Box sizes, shape (symbols, 2): rows and columns in pixels."""
        return np.array([bitmap.shape for bitmap in self.bitmaps])

    @property
    def ink(self) -> np.ndarray:
        """Number of ink pixels of each symbol, shape (symbols,)."""
        return np.array([bitmap.sum() for bitmap in self.bitmaps])

    @property
    def mean_fill(self) -> float:
        """Mean over symbols of the ink fraction of the box; the background noise is a multiple of it."""
        return float(np.mean([bitmap.mean() for bitmap in self.bitmaps]))

    @property
    def largest_side(self) -> int:
        """Longest side of any box, in pixels."""
        return int(self.shapes.max())

    def first(self, count: int) -> GlyphSet:
        """Return the set of the first `count` symbols.

        Raises
        ------
        InputError
            If there are fewer symbols.
        """
        if not 1 <= count <= len(self):
            text = f"data.classes must be between 1 and {len(self)}: the glyph set has the digits 0 to {len(self) - 1}"
            raise InputError(text, ("data.classes", "data.glyphs"))
        return GlyphSet(self.bitmaps[:count])


def read_glyphs(source: str) -> GlyphSet:
    """Read a glyph set.

    A glyph file is text: a digit alone on a line, then its rows of ``#`` (ink) and ``.``; digits in order from 0; empty
    lines and lines that begin with ``# `` are skipped.

    Parameters
    ----------
    source
        ``tall``, ``compact`` or the path of a glyph file.

    Raises
    ------
    InputError
        If the file is missing, a row is malformed or ragged, digits are out of order, a glyph has no ink, or two
        digits have the same bitmap.
    """
    path = Path(__file__).with_name(BUILT_IN[source]) if source in BUILT_IN else Path(source)
    try:
        text = read_text(path)
    except InputError as error:
        raise InputError(
            f"data.glyphs={source}: not a readable glyph file ({error}). Use one of {', '.join(BUILT_IN)} or a path."
        ) from error
    return _parse(text, path)


@cache  # the same for every run of a sweep
def _parse(text: str, path: Path) -> GlyphSet:
    rows: list[list[str]] = []
    for number, line in enumerate((line.rstrip() for line in lines_of(text)), start=1):
        if not line or line.startswith("# "):
            continue
        if line.isdecimal():
            if int(line) != len(rows):
                raise InputError(f"{path}, line {number}: digit {line} out of order, expected {len(rows)}")
            rows.append([])
        elif not rows or set(line) - set("#."):
            raise InputError(f"{path}, line {number}: expected a digit alone or a row of # and ., got {line!r}")
        else:
            rows[-1].append(line)
    return check_glyphs(tuple(_bitmap(glyph, digit, path) for digit, glyph in enumerate(rows)), str(path))


def check_glyphs(bitmaps: tuple[np.ndarray, ...], where: str) -> GlyphSet:
    """Return the glyph set of `bitmaps`, or raise :class:`InputError` that names its source `where`."""
    if len(bitmaps) < 2:
        raise InputError(f"{where}: {len(bitmaps)} digits; a glyph set needs at least two")
    for first, second in combinations(range(len(bitmaps)), 2):
        if np.array_equal(bitmaps[first], bitmaps[second]):
            raise InputError(
                f"{where}: digits {first} and {second} have the same bitmap, so no method can tell them apart. "
                "Redraw one."
            )
    return GlyphSet(bitmaps)


def closest_pair_distance(glyphs: GlyphSet) -> int:
    """Return the smallest Hamming distance of two glyphs, over shifts of up to one pixel.

    Both are centred on one canvas; a small distance means that noise can turn one digit into another.
    """
    side = glyphs.largest_side + 4
    canvases = []
    for bitmap in glyphs.bitmaps:
        canvas = np.zeros((side, side), bool)
        top, left = (side - bitmap.shape[0]) // 2, (side - bitmap.shape[1]) // 2
        canvas[top : top + bitmap.shape[0], left : left + bitmap.shape[1]] = bitmap
        canvases.append(canvas)
    shifts = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    return min(
        int((first ^ np.roll(second, shift, axis=(0, 1))).sum())
        for first, second in combinations(canvases, 2)
        for shift in shifts
    )


def _bitmap(rows: list[str], digit: int, path: Path) -> np.ndarray:
    if not rows or len({len(row) for row in rows}) != 1:
        raise InputError(f"{path}: the rows of digit {digit} differ in length or are missing")
    ink = np.array([[pixel == "#" for pixel in row] for row in rows])
    if not ink.any():
        raise InputError(f"{path}: digit {digit} has no ink")
    return np.pad(ink, 1)
