"""Data module of Shapes3D."""

from __future__ import annotations

from sparseid.data.factor_images import FactorImageData
from sparseid.data.factors import FactorImages
from sparseid.data.shapes3d.files import stored_shapes
from sparseid.data.shapes3d.mini import MiniShapes
from sparseid.data.shapes3d.settings import Shapes3DSettings


class Shapes3DData(FactorImageData[Shapes3DSettings]):
    """Batches of Shapes3D, or of the mini images of the same factors."""

    title = "Shapes3D"

    @staticmethod
    def mini(settings: Shapes3DSettings) -> FactorImages:
        """Return the images that the run draws."""
        return MiniShapes(settings.mini_levels, settings.size)

    @staticmethod
    def stored(settings: Shapes3DSettings) -> FactorImages:
        """Return the paper's images."""
        return stored_shapes(settings)
