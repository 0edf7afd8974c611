"""The LaTeX-OCR distribution (Sparling, section 5.1): formulas, their images without noise, and the noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparseid.data.bits import random_bits
from sparseid.data.latex_ocr.grammar import KIND_NUMBERS, Formula, sample
from sparseid.data.latex_ocr.page import Page, centred, dilated

if TYPE_CHECKING:
    from sparseid.data.latex_ocr.settings import LatexOcrSettings

PAD = -1
"""Padding of labels after their end."""

BOX_MARGIN = 2
"""Pixels by which a motif's box exceeds the symbol on every side (authors' code)."""

RENDERERS = ("builtin", "pdflatex")
KEPT_ON_DISK = ("pdflatex",)
"""Renderers whose images are cached in the data folder; the others draw as fast as a disk reads."""
VERSION = 2
"""Version of the cached images, incremented when grammar, renderers or blocks change them."""


class Clean(NamedTuple):
    """Formulas and their images without noise.

    Attributes
    ----------
    labels
        (items, longest) int8: the tokens, padded by -1.
    ink
        (items, ceil(height x width / 8)) uint8: one bit per pixel (``numpy.packbits``), 1 = black.
    sites
        (motifs, 6) int64, ordered by item and token: item, kind and half-open row start, row stop, column start, column
        stop.
    """

    labels: np.ndarray
    ink: np.ndarray
    sites: np.ndarray


@dataclass(frozen=True)
class LatexOcr:
    """The distribution of formulas and their images.

    Parameters
    ----------
    height, width
        Size of the canvas in pixels; the formula is centred, and cropped if it is larger (authors' code).
    dpi
        Dots per inch; formulas are set at 10 points.
    longest
        Number of tokens of the longest formula; lengths are uniform from 1.
    white_flip
        Probability that a white pixel becomes black.
    renderer
        One of :data:`RENDERERS`.
    """

    height: int = 120
    width: int = 360
    dpi: int = 200
    longest: int = 30
    white_flip: float = 0.25
    renderer: str = "builtin"

    def draw_formulas(self, items: int, rng: np.random.Generator) -> list[Formula]:
        """Draw formulas whose lengths are uniform in 1 .. longest."""
        return [sample(length, rng) for length in rng.integers(1, self.longest + 1, items).tolist()]

    def pages(self, formulas: Sequence[Formula]) -> list[Page]:
        """Return the canvas of each formula.

        Raises
        ------
        InputError
            If a formula is not in the grammar, or the renderer is missing or fails.
        """
        return [centred(page, self.height, self.width) for page in self._render(formulas, self.dpi)]

    def draw_clean(self, items: int, rng: np.random.Generator) -> Clean:
        """Draw formulas and their images without noise."""
        formulas = self.draw_formulas(items, rng)
        labels = np.full((items, self.longest), PAD, np.int8)
        ink, sites = np.empty((items, -(-self.height * self.width // 8)), np.uint8), []
        for item, (formula, page) in enumerate(zip(formulas, self.pages(formulas), strict=True)):
            labels[item, : len(formula)] = formula
            ink[item] = np.packbits(page.ink)
            kinds = [KIND_NUMBERS[formula[place]] for place in page.places]
            boxes = dilated(page.boxes, BOX_MARGIN, self.height, self.width)
            sites.append(np.column_stack([np.full(len(kinds), item), np.array(kinds, np.int64), boxes]))
        return Clean(labels, ink, np.concatenate([np.empty((0, 6), np.int64), *sites]))

    def pixels(self, ink: np.ndarray) -> np.ndarray:
        """Unpack the images of `Clean` to (items, height, width) bool, True = black."""
        area = self.height * self.width
        return np.unpackbits(ink, axis=1, count=area).reshape(-1, self.height, self.width).view(bool)

    @property
    def kept_under(self) -> dict[str, Any]:
        """Settings that images without noise depend on, in addition to the random stream: plain values."""
        canvas = [self.height, self.width, self.dpi]
        return {"version": VERSION, "canvas": canvas, "longest": self.longest, "renderer": self.renderer}

    @cached_property
    def _render(self) -> Callable[[Sequence[Formula], int], list[Page]]:
        render: Callable[[Sequence[Formula], int], list[Page]]
        render = import_module(f"sparseid.data.latex_ocr.{self.renderer}").render
        return render


def noisy(ink: np.ndarray, white_flip: float, rng: np.random.Generator) -> np.ndarray:
    """Turn white pixels black with probability `white_flip`; return float32, 1 = white, 0 = black (authors' code)."""
    return (~(ink | random_bits(ink.shape, white_flip, rng))).astype(np.float32)


def distribution(data: LatexOcrSettings) -> LatexOcr:
    """Return the distribution that a configuration describes."""
    return LatexOcr(data.height, data.width, data.dpi, data.longest, data.white_flip, data.renderer)
