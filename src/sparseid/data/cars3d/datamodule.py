"""Data module of Cars3D."""

from __future__ import annotations

from sparseid.data.cars3d.files import stored_cars
from sparseid.data.cars3d.mini import mini_cars
from sparseid.data.cars3d.settings import Cars3DSettings
from sparseid.data.factor_images import FactorImageData
from sparseid.data.factors import FactorImages


class Cars3DData(FactorImageData[Cars3DSettings]):
    """Batches of Cars3D, or of the mini images of the same factors."""

    title = "Cars3D"

    @staticmethod
    def mini(settings: Cars3DSettings) -> FactorImages:
        """Return the images that the run draws."""
        return mini_cars(settings.mini_levels, settings.size, settings.upsampled_from)

    @staticmethod
    def stored(settings: Cars3DSettings) -> FactorImages:
        """Return the paper's images."""
        return stored_cars(settings)
