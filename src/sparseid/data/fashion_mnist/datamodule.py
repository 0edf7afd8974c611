"""Data module of Fashion-MNIST."""

from __future__ import annotations

import hashlib
from typing import Self

import numpy as np
import torch

from sparseid.data.batch import ImageBatch
from sparseid.data.fashion_mnist.files import PUBLISHED, SIZES, Split, found_files, read_split
from sparseid.data.fashion_mnist.settings import FILES, FashionMNISTSettings
from sparseid.data.fashion_mnist.silhouettes import silhouettes
from sparseid.data.module import DataModule
from sparseid.data.stream import BatchStream, Chunks
from sparseid.settings import RunNumbers
from sparseid.streams import FIXED, Streams

CHUNK = 250
"""Images of a batch of the test set."""
PERIODS = 10
"""Validations of a training."""
TRAINING_PER_TEST = 5
"""Training images for each test image, if they are drawn."""
VALIDATION_IMAGES = 1000
"""Number of the first test images that are the validation set: nothing is chosen by it."""


class FashionMNISTData(DataModule):
    """Grey images and their classes.

    An epoch is a permutation of the training images, without a smaller batch at its end. Batch j is a function of
    (seed, j); silhouettes are the same for every seed.

    Parameters
    ----------
    settings
        Source of the images.
    run
        Numbers of the run.

    Attributes
    ----------
    train, test
        Images and classes of both splits.
    """

    side, channels = 28, 1

    def __init__(self, settings: FashionMNISTSettings, run: RunNumbers) -> None:
        if settings.source == FILES:
            self.train, self.test = (read_split(settings, name) for name in SIZES)
        else:
            counts = {"train": settings.images, "test": max(1, settings.images // TRAINING_PER_TEST)}
            self.train, self.test = (
                silhouettes(count, FIXED.numpy(f"fashion_mnist/{name}")) for name, count in counts.items()
            )
        super().__init__(test_items=len(self.test.images))
        self.streams, self.batch_size = Streams(run.seed), min(run.batch_size, len(self.train.images))
        self.batches_per_check = run.check_every // run.batch_size or -(-run.steps // PERIODS)
        self.note = _note(settings)
        self.record_files(settings.user_files().values())
        self.remarks.append(f"{len(self.train.images)} training images, {len(self.test.images)} test images")

    @classmethod
    def from_settings(cls, settings: FashionMNISTSettings, run: RunNumbers) -> Self:
        """Build the data module of a run; InputError if the user's files are missing or unusable."""
        return cls(settings, run)

    def training_batch(self, number: int) -> ImageBatch:
        """Return training batch `number`, the trainer's step."""
        epoch, position = divmod(number, len(self.train.images) // self.batch_size)
        order = self.streams.numpy("batches", epoch).permutation(len(self.train.images))
        return _batch(self.train, order[position * self.batch_size : (position + 1) * self.batch_size])

    def train_dataloader(self) -> BatchStream[ImageBatch]:
        """Return the training stream, from the trainer's next step on."""
        assert self.trainer is not None, "train_dataloader needs a trainer"
        trainer = self.trainer
        return BatchStream(self.training_batch, lambda: trainer.global_step, self.batches_per_check)

    def val_dataloader(self) -> Chunks[ImageBatch]:
        """Return the validation images."""
        return self.first(self.test, min(VALIDATION_IMAGES, len(self.test.images)))

    def test_dataloader(self) -> Chunks[ImageBatch]:
        """Return the first `test_items` test images."""
        return self.first(self.test, min(self.test_items, len(self.test.images)))

    @staticmethod
    def first(split: Split, items: int) -> Chunks[ImageBatch]:
        """Return the first images of a split, in order."""
        return Chunks(lambda part: _batch(split, np.arange(part.start, part.stop)), items, CHUNK)


def _batch(split: Split, numbers: np.ndarray) -> ImageBatch:
    images = torch.from_numpy(split.images[numbers]).float().div_(255)
    return ImageBatch(images[:, None], torch.from_numpy(split.labels[numbers]).long())


def _note(settings: FashionMNISTSettings) -> str:
    """Return the notice for tables of results on other images than the published ones."""
    if settings.source != FILES:
        return "silhouettes drawn by the run, in place of Fashion-MNIST"
    others = [
        path.name
        for name, path in found_files(settings).items()
        if path.suffix == ".gz" and hashlib.md5(path.read_bytes()).hexdigest() != PUBLISHED[name].md5
    ]
    return f"not the published files of Fashion-MNIST: {', '.join(others)}" if others else ""
