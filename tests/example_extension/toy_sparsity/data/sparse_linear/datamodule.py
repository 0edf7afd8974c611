"""Batches of sparse linear regression, each a function of (seed, number): an interrupted run draws them again."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.data.module import DataModule
from sparseid.data.stream import BatchStream, Chunks
from sparseid.settings import RunNumbers
from sparseid.streams import Streams
from toy_sparsity.data.sparse_linear.settings import SparseLinearSettings

Batch = tuple[Tensor, Tensor]
"""Inputs (batch, features) and labels (batch,)."""

VALIDATION_ITEMS, TEST_ITEMS, CHUNK = 1000, 10_000, 1000
STEPS_PER_VALIDATION = 50


class SparseLinearData(DataModule):
    """Samples of y = x w + noise with standard normal x.

    Parameters
    ----------
    settings
        Numbers of features and the noise.
    seed
        Determines w and every sample.
    batch_size
        Training samples per step.

    Attributes
    ----------
    weights
        (features,) float32: the true w, with unit norm and `settings.relevant` equal entries of random sign.
    """

    def __init__(self, settings: SparseLinearSettings, seed: int, batch_size: int) -> None:
        super().__init__(test_items=TEST_ITEMS)
        self.settings, self.streams, self.batch_size = settings, Streams(seed), batch_size
        self.weights = self._draw_weights()

    @classmethod
    def from_settings(cls, settings: SparseLinearSettings, numbers: RunNumbers) -> SparseLinearData:
        """Return the data of a run."""
        return cls(settings, numbers.seed, numbers.batch_size)

    def batch(self, name: str, number: int, items: int) -> Batch:
        """Return batch `number` of the set `name`."""
        generator = self.streams.numpy(f"sparse_linear/{name}", number)
        x = generator.standard_normal((items, self.settings.features), dtype=np.float32)
        noise = generator.standard_normal(items, dtype=np.float32)
        return torch.from_numpy(x), torch.from_numpy(x @ self.weights + self.settings.noise_std * noise)

    def train_dataloader(self) -> BatchStream[Batch]:
        """Return the training batches, from the trainer's next step on."""
        trainer = self.trainer
        assert trainer is not None
        return BatchStream(self.training_batch, lambda: trainer.global_step, STEPS_PER_VALIDATION)

    def training_batch(self, number: int) -> Batch:
        """Return training batch `number`; under several processes, this process's part of it."""
        x, y = self.batch("train", number, self.batch_size)
        if self.trainer is None:
            return x, y
        part = slice(self.trainer.global_rank, None, self.trainer.world_size)
        return x[part], y[part]

    def val_dataloader(self) -> Chunks[Batch]:
        """Return the validation samples."""
        return self._first("validation", VALIDATION_ITEMS)

    def test_dataloader(self) -> Chunks[Batch]:
        """Return the first `test_items` test samples."""
        return self._first("test", self.test_items)

    def _first(self, name: str, items: int) -> Chunks[Batch]:
        return Chunks(lambda part: self.batch(name, part.start // CHUNK, part.stop - part.start), items, CHUNK)

    def _draw_weights(self) -> NDArray[np.float32]:
        generator = self.streams.numpy("sparse_linear/weights")
        weights = np.zeros(self.settings.features, np.float32)
        chosen = generator.choice(self.settings.features, self.settings.relevant, replace=False)
        weights[chosen] = generator.choice([-1, 1], self.settings.relevant) / np.sqrt(self.settings.relevant)
        return weights
