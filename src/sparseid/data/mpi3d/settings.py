"""Settings of MPI3D."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparseid.data.factor_settings import FILES, MINI, FactorImageSettings
from sparseid.settings import Keys, Run, SettingsError, setting

FACTORS = {
    "object_colour": 4,
    "object_shape": 4,
    "object_size": 2,
    "camera_height": 3,
    "background_colour": 3,
    "horizontal_axis": 40,
    "vertical_axis": 40,
}
"""Name and number of levels of each factor of the mini images, and of the paper's with four colours and shapes."""
VARIANTS = ("toy", "realistic", "real")


@dataclass
class MPI3DSettings(FactorImageSettings):
    """A robot's arm with an object: its colour, shape and size, camera, background and the angles of the arm."""

    name: str = "mpi3d"
    variant: str = setting(
        "Images (files): toy (simple rendering), realistic (rendering) or real (photographs).",
        default="toy",
        choices=VARIANTS,
    )

    loads = "sparseid.data.mpi3d.datamodule:MPI3DData"
    obtained_by = "sparseid.data.mpi3d.obtain:mpi3d"
    factors = FACTORS

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield a size that does not exist, and a variant of files that are not read."""
        yield from super().errors(run)
        if self.source == MINI and self.variant != VARIANTS[0]:
            text = "data.variant is for the paper's files: set data.source=files, or remove it"
            yield SettingsError(("data.variant", "data.source"), text)

    def check_files(self) -> None:
        """Check the file and convert it once; InputError if it is missing or unusable."""
        from sparseid.data.mpi3d.files import stored_arms

        stored_arms(self)

    def found_files(self) -> dict[str, Path]:
        """Return the file if it is readable."""
        from sparseid.data.mpi3d.files import PUBLISHED

        return PUBLISHED[self.variant].found(self.path)

    def row_keys(self) -> Keys:
        """Add the variant if it is not the paper's."""
        keys = super().row_keys()
        return keys | {"variant": self.variant} if self.source == FILES and self.variant != VARIANTS[0] else keys
