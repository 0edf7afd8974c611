"""Base of the data sets with an image for each combination of discrete factors."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from sparseid.data.batch import FactorBatch
from sparseid.data.factor_settings import MINI, FactorImageSettings
from sparseid.data.factors import FactorImages
from sparseid.data.module import DataModule
from sparseid.data.stream import BatchStream, Chunks
from sparseid.settings import RunNumbers
from sparseid.streams import FIXED, Streams

CHUNK = 128
"""Images of a batch of the fixed sets; image i does not depend on the size of the set."""
PERIODS = 10
"""Validations of a training, if the method does not set their number."""
VALIDATION_ITEMS, TEST_ITEMS = 1000, 10_000
"""Validation images, if the method does not set their number, and test images, unless an evaluation does."""

Own = TypeVar("Own", bound=FactorImageSettings)


class FactorImageData(DataModule, Generic[Own]):
    """Batches of images whose factors are uniform and independent.

    All combinations are training data, drawn with replacement, as in the literature on disentanglement: no image is
    held out. Batch j is a function of (seed, j); the validation and the test set are the same for every seed.

    Parameters
    ----------
    settings
        Settings of the data set.
    run
        Numbers of the run.

    Attributes
    ----------
    images
        The images and their factors (`images.grid`), for scores and figures.
    """

    title: ClassVar[str]
    """Name of the paper's data set."""

    def __init__(self, settings: Own, run: RunNumbers) -> None:
        super().__init__(TEST_ITEMS)
        mini = settings.source == MINI
        self.images = self.mini(settings) if mini else self.stored(settings)
        self.streams, self.batch_size = Streams(run.seed), run.batch_size
        self.batches_per_check = run.check_every // run.batch_size or -(-run.steps // PERIODS)
        self.check_items = run.check_items or VALIDATION_ITEMS
        self.note = f"images drawn by the run, in place of {self.title}" if mini else ""
        self.record_files(settings.user_files().values())
        self.remarks.append(str(self.images))

    @classmethod
    def from_settings(cls, settings: Own, run: RunNumbers) -> Self:
        """Build the data module of a run; InputError if the user's files are missing or unusable."""
        return cls(settings, run)

    @staticmethod
    @abstractmethod
    def mini(settings: Own) -> FactorImages:
        """Return the images that the run draws."""

    @staticmethod
    @abstractmethod
    def stored(settings: Own) -> FactorImages:
        """Return the paper's images; InputError if they are missing or unusable."""

    @property
    def device(self) -> torch.device:
        """Device of the run; the CPU without a trainer."""
        return torch.device("cpu") if self.trainer is None else self.trainer.strategy.root_device

    def inputs(self, factors: ArrayLike) -> Tensor:
        """Return the images of combinations (items, factors) as inputs of a network on the run's device.

        Returns
        -------
        Tensor
            (items, channels, height, width) float32 in [0, 1].
        """
        images = torch.from_numpy(self.images.observations(factors)).to(self.device)
        return images.permute(0, 3, 1, 2).contiguous().float().div_(255)

    def training_batch(self, number: int, stream: str = "batches") -> FactorBatch:
        """Return training batch `number`; with several processes, this process's part of it.

        Parameters
        ----------
        number
            Number of the batch, the trainer's step.
        stream
            Name of a random stream: batches of another name are independent of those that train.
        """
        trainer = self.trainer
        rank, processes = (trainer.global_rank, trainer.world_size) if trainer is not None else (0, 1)
        factors = self.images.grid.sample(self.batch_size, self.streams.numpy(stream, number))
        return self._batch(factors[rank::processes])

    def train_dataloader(self) -> BatchStream[FactorBatch]:
        """Return the training stream, from the trainer's next step on."""
        assert self.trainer is not None, "train_dataloader needs a trainer"
        trainer = self.trainer
        return BatchStream(self.training_batch, lambda: trainer.global_step, self.batches_per_check)

    def val_dataloader(self) -> Chunks[FactorBatch]:
        """Return the validation images."""
        return self.fixed_set("validation", self.check_items)

    def test_dataloader(self) -> Chunks[FactorBatch]:
        """Return the first `test_items` test images."""
        return self.fixed_set("test", self.test_items)

    def fixed_set(self, name: str, items: int) -> Chunks[FactorBatch]:
        """Return the first images of a set that is the same for every seed, with their factors."""

        def part(positions: slice) -> FactorBatch:
            factors = self.images.grid.sample(CHUNK, FIXED.numpy(f"factor_images/{name}", positions.start // CHUNK))
            return self._batch(factors[: positions.stop - positions.start])

        return Chunks(part, items, CHUNK)

    def _batch(self, factors: np.ndarray) -> FactorBatch:
        return FactorBatch(self.inputs(factors), torch.from_numpy(factors).to(self.device))
