"""Data module of DigitCircle: an endless training stream, fixed validation and test sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from sparseid.data.batch import MotifBatch
from sparseid.data.digit_circle.generator import DigitCircle, boxes_around, canonical_rotation, distribution
from sparseid.data.motifs import MotifData, checks

if TYPE_CHECKING:
    from sparseid.data.digit_circle.settings import DigitCircleSettings
    from sparseid.settings import RunNumbers


SINGLE_SIDE = 32
"""Side of the images of a single digit, in pixels (authors' code)."""


class DigitCircleData(MotifData):
    """Batches of DigitCircle images.

    Parameters
    ----------
    distribution
        Distribution of the images.
    seed, batch_size, batches_per_check, check_items
        As in :class:`sparseid.data.motifs.MotifData`.
    """

    in_channels = 1

    def __init__(
        self, distribution: DigitCircle, seed: int, batch_size: int, batches_per_check: int, check_items: int
    ) -> None:
        super().__init__("digit_circle", seed, batch_size, batches_per_check, check_items)
        self.distribution = distribution

    @classmethod
    def from_settings(cls, settings: DigitCircleSettings, run: RunNumbers) -> DigitCircleData:
        """Build the data module of a run.

        Raises
        ------
        InputError
            If the glyph file or the geometry cannot be used.
        """
        return cls(distribution(settings), *checks(run))

    @property
    def kinds(self) -> int:
        """Number of motif kinds."""
        return len(self.distribution.glyphs)

    @property
    def vocabulary(self) -> int:
        """Number of tokens: the digits, then the start and the end of a label."""
        return self.kinds + 2

    @property
    def kind_names(self) -> tuple[str, ...]:
        """Names of the digits."""
        return tuple(map(str, range(self.kinds)))

    @property
    def token_names(self) -> tuple[str, ...]:
        """Names of the tokens of labels: the digits."""
        return self.kind_names

    @property
    def spatial(self) -> tuple[int, int]:
        """Height and width of the images, in pixels."""
        return self.distribution.canvas, self.distribution.canvas

    def draw(self, items: int, rng: np.random.Generator) -> MotifBatch:
        """Draw a batch of `items` images with labels and sites."""
        scenes = self.distribution.draw_scenes(items, rng)
        pixels = self.distribution.draw_pixels(scenes, rng)
        return MotifBatch(
            torch.from_numpy(pixels[:, None].astype(np.float32)),
            torch.from_numpy(scenes.labels),
            torch.from_numpy(scenes.sites),
        )

    def draw_single(self, name: str, items: int, rng: np.random.Generator) -> MotifBatch:
        """Draw a batch of images of one centred digit each."""
        pixels, digits = self.distribution.draw_single(items, SINGLE_SIDE, rng)
        boxes = boxes_around(np.full((items, 2), SINGLE_SIDE // 2), self.distribution.glyphs.shapes[digits])
        return MotifBatch(
            torch.from_numpy(pixels[:, None].astype(np.float32)),
            torch.from_numpy(digits[:, None]),
            torch.from_numpy(np.column_stack([np.arange(items), digits, boxes])),
        )

    @property
    def exchangeable(self) -> dict[int, int]:
        """Token of each digit: any may replace another."""
        return {digit: digit for digit in range(self.kinds)}

    def exchanged(self, label: list[int], old: int, new: int) -> list[int] | None:
        """Return a label with digit `old` replaced by `new`, smallest first; None if it already has `new`."""
        if new in label:
            return None
        digits = np.array([[new if digit == old else digit for digit in label]])
        return canonical_rotation(digits)[0].tolist()
