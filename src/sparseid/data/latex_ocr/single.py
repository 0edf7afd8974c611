"""Images of one symbol each, for training the encoder directly (Sparling, baseline DIRECT)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from sparseid.data.cache import cached_arrays
from sparseid.data.latex_ocr.generator import LatexOcr, noisy
from sparseid.data.latex_ocr.grammar import KINDS
from sparseid.data.latex_ocr.page import in_the_middle
from sparseid.streams import FIXED

SIDE = 40
"""Pixels of the images at 200 dpi (authors' code); at others accordingly."""
IMAGES = 10_000
"""Formulas from which symbols are cut out (authors' code)."""
SEEN_AT_LEAST = 2
"""Times that a drawing must occur (authors' code)."""


@dataclass(frozen=True)
class SingleMotifs:
    """Drawings of each motif kind but the bar, which has no drawing of its own.

    Attributes
    ----------
    drawings
        (drawings, side, side) bool, True = black: the symbol's box, centred on white, with what else lies in it.
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
    """Return the symbols of so many formulas without noise, in squares; made once and kept in the data folder."""
    images, side = images or IMAGES, round(SIDE * distribution.dpi / 200)
    settings = distribution.kept_under | {"single": [images, side, SEEN_AT_LEAST]}
    kept = cached_arrays("latex_ocr", settings, lambda: _cut_out(distribution, images, side))
    return SingleMotifs(kept["drawings"], kept["kinds"], distribution.white_flip)


def _cut_out(distribution: LatexOcr, images: int, side: int) -> dict[str, np.ndarray]:
    bar = KINDS.index("bar")
    seen: Counter[tuple[int, bytes]] = Counter()
    for block, first in enumerate(range(0, images, 512)):
        clean = distribution.draw_clean(min(512, images - first), FIXED.numpy("latex_ocr/single", block))
        pixels = distribution.pixels(clean.ink)
        for item, kind, top, stop, left, end in clean.sites:
            if kind != bar:
                drawing = in_the_middle(pixels[item, top:stop, left:end], side, side)
                seen[int(kind), np.packbits(drawing).tobytes()] += 1
    often = sorted(key for key, times in seen.items() if times >= SEEN_AT_LEAST)
    packed = np.frombuffer(b"".join(drawing for _, drawing in often), np.uint8).reshape(len(often), -1)
    drawings = np.unpackbits(packed, axis=1, count=side**2).reshape(-1, side, side).astype(bool)
    return {"drawings": drawings, "kinds": np.array([kind for kind, _ in often], np.int64)}
