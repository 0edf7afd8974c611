"""Data module of LaTeX-OCR: an endless training stream, fixed validation and test sets."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch

from sparseid.data.batch import MotifBatch
from sparseid.data.latex_ocr.generator import LatexOcr, distribution
from sparseid.data.latex_ocr.grammar import KINDS, SYMBOLS, TOKENS
from sparseid.data.latex_ocr.items import Items
from sparseid.data.latex_ocr.single import SingleMotifs, single_motifs
from sparseid.data.motifs import MotifData, SingleMotifTest, checks
from sparseid.data.stream import Chunks
from sparseid.streams import FIXED

if TYPE_CHECKING:
    from sparseid.data.latex_ocr.settings import LatexOcrSettings
    from sparseid.settings import RunNumbers


class LatexOcrData(MotifData):
    """Batches of formula images.

    Blocks of items are cached without noise, one bit per pixel (`items`), and each item has its own noise. In the
    inputs the background is 1, ink and noise are 0 (authors' code).

    Parameters
    ----------
    distribution
        Distribution of the images.
    seed, batch_size, batches_per_check, check_items
        As in :class:`sparseid.data.motifs.MotifData`.
    loop_size
        Number of training formulas before they repeat, with new noise; 0 never repeats them.

    Attributes
    ----------
    kinds, kind_names
        Number of motif kinds, and their names.
    vocabulary, token_names
        Number of tokens of the decoder, and names of those of formulas; the start and the end of a label follow.
    """

    in_channels = 1
    kinds, kind_names = len(KINDS), KINDS
    vocabulary, token_names = len(TOKENS) + 2, TOKENS
    single_motif_tests = (
        SingleMotifTest({}, "test"),
        SingleMotifTest({"split": "without_plus_parens"}, "test", tuple(map(KINDS.index, "+()"))),
    )

    def __init__(
        self,
        distribution: LatexOcr,
        seed: int,
        batch_size: int,
        batches_per_check: int,
        check_items: int,
        loop_size: int = 0,
    ) -> None:
        super().__init__("latex_ocr", seed, batch_size, batches_per_check, check_items)
        self.distribution = distribution
        self._training = Items(distribution, self.streams, "batches", loop_size)

    @classmethod
    def from_settings(cls, settings: LatexOcrSettings, run: RunNumbers) -> LatexOcrData:
        """Build the data module of a run."""
        return cls(distribution(settings), *checks(run), loop_size=settings.loop_size)

    @property
    def spatial(self) -> tuple[int, int]:
        """Height and width of the images, in pixels."""
        return self.distribution.height, self.distribution.width

    def fixed_set(self, name: str, items: int) -> Chunks[MotifBatch]:
        """Return the first items of a set that is the same for every seed."""
        source = Items(self.distribution, FIXED, f"{self.name}/{name}", end=items)
        return Chunks(lambda part: source.batch(np.arange(part.start, part.stop)), items, self.chunk)

    def training_items(self, numbers: np.ndarray) -> MotifBatch:
        """Return the training items of the given numbers."""
        return super().training_items(numbers) if self.single_motifs else self._training.batch(numbers)

    def draw_single(self, name: str, items: int, rng: np.random.Generator) -> MotifBatch:
        """Draw images of one symbol each, in the middle; its site is the whole image."""
        images, kinds = self._single.draw(items, rng)
        height, width = images.shape[1:]
        whole = np.tile([0, height, 0, width], (items, 1))
        return MotifBatch(
            torch.from_numpy(images[:, None]),
            torch.from_numpy(kinds[:, None]),
            torch.from_numpy(np.column_stack([np.arange(items), kinds, whole])),
        )

    @property
    def exchangeable(self) -> dict[int, int]:
        """Token of each digit and letter: any may replace another (authors' code)."""
        return {KINDS.index(symbol): TOKENS.index(symbol) for symbol in SYMBOLS}

    @cached_property
    def _single(self) -> SingleMotifs:
        return single_motifs(self.distribution)
