"""Random images of 32 pixels, one for each combination of two factors: what FactorVAE needs of a data set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from sparseid.data.module import DataModule
from sparseid.data.stream import BatchStream, Chunks
from sparseid.settings import DataSettings
from sparseid.streams import FIXED, Streams

PERIOD = 10


class FakeSpace:
    names, sizes = ("hue", "shape"), (3, 2)

    def __init__(self, side=32):
        self.images = np.random.default_rng(0).integers(256, size=(6, side, side, 3), dtype=np.uint8)

    def observations(self, factors):
        return self.images[np.ravel_multi_index(tuple(np.asarray(factors).T), self.sizes)]


@dataclass
class FakeImagesSettings(DataSettings):
    name: str = "fake_images"
    size: int = 32

    loads = f"{__name__}:FakeImagesData"
    interface = "factor_images"


class FakeImagesData(DataModule):
    def __init__(self, settings, run):
        super().__init__(test_items=40)
        self.space, self.seed, self.batch_size = FakeSpace(settings.size), run.seed, run.batch_size

    @classmethod
    def from_settings(cls, settings, run):
        return cls(settings, run)

    def images(self, rng, count):
        factors = rng.integers(self.space.sizes, size=(count, 2))
        return torch.from_numpy(self.space.observations(factors)).movedim(3, 1).float() / 255

    def training_batch(self, step):
        return self.images(Streams(self.seed).numpy("batches", step), self.batch_size)

    def train_dataloader(self):
        return BatchStream(self.training_batch, lambda: self.trainer.global_step, PERIOD)

    def fixed(self, name, items):
        return Chunks(self.images(FIXED.numpy(name), items).__getitem__, items, 16)

    def val_dataloader(self):
        return self.fixed("validation", 16)

    def test_dataloader(self):
        return self.fixed("test", self.test_items)
