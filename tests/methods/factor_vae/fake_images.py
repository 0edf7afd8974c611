"""Random images of 32 pixels, one for each combination of two factors: what FactorVAE needs of a data set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparseid.data.factor_images import FactorImageData
from sparseid.data.factor_settings import FactorImageSettings
from sparseid.data.factors import FactorGrid, StoredImages


@dataclass
class FakeImagesSettings(FactorImageSettings):
    name: str = "fake_images"
    size: int = 32

    loads = f"{__name__}:FakeImagesData"
    factors = {"hue": 3, "shape": 2}  # noqa: RUF012

    def found_files(self):
        return {}


class FakeImagesData(FactorImageData[FakeImagesSettings]):
    title = "no images"

    def __init__(self, settings, run):
        super().__init__(settings, run)
        self.test_items, self.batches_per_check, self.check_items = 40, 10, 16

    @staticmethod
    def mini(settings):
        grid = FactorGrid(tuple(settings.factors), tuple(settings.factors.values()))
        shape = (len(grid), settings.size, settings.size, 3)
        return StoredImages(grid, np.random.default_rng(0).integers(256, size=shape, dtype=np.uint8))
