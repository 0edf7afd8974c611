"""Images of one symbol each, for training the encoder directly (Sparling, baseline DIRECT)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from sparseid.data.cache import cached_arrays
from sparseid.data.latex_ocr.generator import BOX_MARGIN, LatexOcr, noisy
from sparseid.data.latex_ocr.grammar import KIND_NUMBERS, KINDS
from sparseid.data.latex_ocr.page import black, dilated, in_the_middle
from sparseid.streams import FIXED

SIDE = 40
"""Side of the images in pixels at 200 dpi (authors' code); proportional to the resolution."""
IMAGES = 10_000
"""Number of formulas from which symbols are cut out (authors' code)."""
SEEN_AT_LEAST = 2
"""Minimum number of occurrences of a drawing (authors' code)."""


@dataclass(frozen=True)
class SingleMotifs:
    """Drawings of each motif kind except the bar, which has no fixed drawing.

    Attributes
    ----------
    drawings
        (drawings, side, side) bool, True = black: the symbol's box with all its content, centred on white. Those that
        differ in their greys only are the same, and count as often (authors' code).
    kinds
        (drawings,) int64, ascending.
    white_flip
        Probability that a white pixel becomes black.
    """

    drawings: np.ndarray
    kinds: np.ndarray
    white_flip: float

    def draw(self, items: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw a kind uniformly, one of its drawings uniformly, and noise.

        Returns
        -------
        (items, side, side) float32, 1 = white; (items,) int64 kinds.
        """
        present, first, counts = np.unique(self.kinds, return_index=True, return_counts=True)
        kind = rng.integers(0, len(present), items)
        chosen = first[kind] + rng.integers(0, counts[kind])
        return noisy(self.drawings[chosen], self.white_flip, rng), present[kind]


def single_motifs(distribution: LatexOcr, images: int | None = None) -> SingleMotifs:
    """Return the symbols of `images` formulas without noise, in squares; cached in the data folder."""
    images, side = images or IMAGES, round(SIDE * distribution.dpi / 200)
    settings = distribution.kept_under | {"single": [images, side, SEEN_AT_LEAST]}
    kept = cached_arrays("latex_ocr", settings, lambda: _cut_out(distribution, images, side))
    return SingleMotifs(kept["drawings"], kept["kinds"], distribution.white_flip)


def _cut_out(distribution: LatexOcr, images: int, side: int) -> dict[str, np.ndarray]:
    """Return the symbols that occur at least :data:`SEEN_AT_LEAST` times: drawings are told apart by their greys."""
    bar = KINDS.index("bar")
    seen: Counter[tuple[int, tuple[int, ...], bytes]] = Counter()
    for block, first in enumerate(range(0, images, 512)):
        formulas = distribution.draw_formulas(min(512, images - first), FIXED.numpy("latex_ocr/single", block))
        for formula, page in zip(formulas, distribution.pages(formulas), strict=True):
            boxes = dilated(page.boxes, BOX_MARGIN, *page.grey.shape)
            for place, (top, stop, left, end) in zip(page.places, boxes, strict=True):
                if (kind := KIND_NUMBERS[formula[place]]) != bar:
                    drawing = page.grey[top:stop, left:end]
                    seen[int(kind), drawing.shape, drawing.tobytes()] += 1
    often = sorted(key for key, times in seen.items() if times >= SEEN_AT_LEAST)
    drawings = [
        black(in_the_middle(np.frombuffer(pixels, np.uint8).reshape(size), side, side)) for _, size, pixels in often
    ]
    empty = np.empty((0, side, side), bool)
    return {
        "drawings": np.stack(drawings) if drawings else empty,
        "kinds": np.array([kind for kind, *_ in often], np.int64),
    }
