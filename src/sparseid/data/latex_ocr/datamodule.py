"""LaTeX-OCR as Lightning sees it: an endless training stream, fixed validation and test sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pytorch_lightning import LightningDataModule

from sparseid.data.batch import MotifBatch
from sparseid.data.latex_ocr.generator import LatexOcr, distribution
from sparseid.data.latex_ocr.grammar import KINDS, TOKENS
from sparseid.data.latex_ocr.items import FixedSet, Items
from sparseid.data.stream import BatchStream
from sparseid.streams import FIXED, Streams

if TYPE_CHECKING:
    from sparseid.config.schema import RunConfig


class LatexOcrData(LightningDataModule):
    """Batches of formula images.

    Training item i is a function of (seed, i), and batch j holds the items from j x batch size on. The validation and
    the test set are the same for every seed. In the inputs the background is 1, ink and noise are 0 (authors' code).

    Parameters
    ----------
    distribution
        What is drawn.
    seed
        Seed of the training stream.
    batch_size
        Training items per step, summed over processes.
    batches_per_check
        Training batches between two validations.
    check_items
        Validation items.
    loop_size
        Training formulas after which they come again, under new noise; 0 is never.

    Attributes
    ----------
    kinds, kind_names
        Motif kinds: how many, and what each is.
    vocabulary, token_names
        Tokens of the decoder: those of formulas, whose names are given, then the start and the end of a label.
    """

    in_channels = 1
    kinds, kind_names = len(KINDS), KINDS
    vocabulary, token_names = len(TOKENS) + 2, TOKENS

    def __init__(
        self,
        distribution: LatexOcr,
        seed: int,
        batch_size: int,
        batches_per_check: int,
        check_items: int,
        loop_size: int = 0,
    ) -> None:
        super().__init__()
        self.distribution = distribution
        self.batch_size = batch_size
        self.batches_per_check = batches_per_check
        self.check_items = check_items
        self.test_items = 0
        self._training = Items(distribution, Streams(seed), "batches", loop_size)

    @classmethod
    def from_config(cls, cfg: RunConfig) -> LatexOcrData:
        """Build the data module of a run."""
        schedule, batch_size = cfg.method.schedule, cfg.trainer.batch_size
        period = schedule.check_every // batch_size
        return cls(
            distribution(cfg.data), cfg.seed, batch_size, period, schedule.check_items, loop_size=cfg.data.loop_size
        )

    @property
    def spatial(self) -> tuple[int, int]:
        """Height and width of the images, pixels."""
        return self.distribution.height, self.distribution.width

    def train_dataloader(self) -> BatchStream[MotifBatch]:
        """Return the training stream, from the trainer's next step on."""
        return BatchStream(self.training_batch, lambda: self._trainer().global_step, self.batches_per_check)

    def val_dataloader(self) -> FixedSet:
        """Return the first `check_items` validation items."""
        return FixedSet(Items(self.distribution, FIXED, "latex_ocr/validation"), self.check_items)

    def test_dataloader(self) -> FixedSet:
        """Return the first `test_items` test items; the run sets `test_items` before each evaluation."""
        return FixedSet(Items(self.distribution, FIXED, "latex_ocr/test"), self.test_items)

    def training_batch(self, index: int) -> MotifBatch:
        """Return training batch `index`; under several processes, this process's share of it."""
        trainer = self.trainer
        rank, processes = (trainer.global_rank, trainer.world_size) if trainer is not None else (0, 1)
        first = index * self.batch_size
        return self._training.batch(np.arange(first + rank, first + self.batch_size, processes))

    def _trainer(self):  # type: ignore[no-untyped-def]
        assert self.trainer is not None, "train_dataloader needs a trainer"
        return self.trainer
