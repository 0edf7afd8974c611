"""Settings of Shapes3D."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sparseid.data.factor_settings import FactorImageSettings

FACTORS = {"floor_hue": 10, "wall_hue": 10, "object_hue": 10, "scale": 8, "shape": 4, "orientation": 15}
"""Name and number of levels of each factor, of the paper's and of the mini images."""


@dataclass
class Shapes3DSettings(FactorImageSettings):
    """An object in a room: hues of floor, wall and object, scale, shape and orientation."""

    name: str = "shapes3d"

    loads = "sparseid.data.shapes3d.datamodule:Shapes3DData"
    obtained_by = "sparseid.data.shapes3d.obtain:shapes3d"
    factors = FACTORS

    def check_files(self) -> None:
        """Check the file and convert it once; InputError if it is missing or unusable."""
        from sparseid.data.shapes3d.files import stored_shapes

        stored_shapes(self)

    def found_files(self) -> dict[str, Path]:
        """Return the file if it is readable."""
        from sparseid.data.shapes3d.files import PUBLISHED

        return PUBLISHED.found(self.path)
