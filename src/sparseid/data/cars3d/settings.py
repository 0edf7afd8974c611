"""Settings of Cars3D."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sparseid.data.factor_settings import FILES, MINI, FactorImageSettings
from sparseid.settings import Run, SettingsError, setting

MODELS = 183
"""Car models of the paper's images."""
FACTORS = {"elevation": 4, "azimuth": 24, "object_type": 16}
"""Name and number of levels of each factor of the mini images."""


@dataclass
class Cars3DSettings(FactorImageSettings):
    """Car models on white: elevation and azimuth of the camera, and the model."""

    name: str = "cars3d"
    upsampled_from: int = setting(
        "Height and width from which images are upsampled to `size`, in pixels (for 128 the paper does so from 64); 0 "
        "for images that are not upsampled.",
        default=0,
        choices=(0, 32, 64),
    )
    order: str = setting(
        "Order of the car models (files): that of list.txt, as far as there is one, or sorted by name.",
        default="list",
        choices=("list", "sorted"),
    )

    loads = "sparseid.data.cars3d.datamodule:Cars3DData"
    obtained_by = "sparseid.data.cars3d.obtain:cars3d"
    factors = FACTORS
    sizes: ClassVar = {MINI: (32, 64, 128), FILES: (32, 64, 128)}

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield a size that does not exist or would not be upsampled, and an order of files that are not read."""
        yield from super().errors(run)
        if self.source == MINI and self.order != "list":
            text = "data.order is for the paper's files: set data.source=files, or remove it"
            yield SettingsError(("data.order", "data.source"), text)
        if self.upsampled_from >= self.size:
            text = f"images of data.upsampled_from={self.upsampled_from} pixels are not upsampled to {self.size}: set 0"
            yield SettingsError(("data.upsampled_from", "data.size"), text)

    def check_files(self) -> None:
        """Check the files and convert them once; InputError if they are missing or unusable."""
        from sparseid.data.cars3d.files import stored_cars

        stored_cars(self)

    def found_files(self) -> dict[str, Path]:
        """Return the archive, or the readable files of the folder."""
        from sparseid.data.cars3d.files import found_files

        return found_files(self)
