"""Data module of MPI3D."""

from __future__ import annotations

from sparseid.data.factor_images import FactorImageData
from sparseid.data.factors import FactorImages
from sparseid.data.mpi3d.files import stored_arms
from sparseid.data.mpi3d.mini import MiniMPI
from sparseid.data.mpi3d.settings import MPI3DSettings


class MPI3DData(FactorImageData[MPI3DSettings]):
    """Batches of MPI3D, or of the mini images of the same factors."""

    title = "MPI3D"

    @staticmethod
    def mini(settings: MPI3DSettings) -> FactorImages:
        """Return the images that the run draws."""
        return MiniMPI(settings.mini_levels, settings.size)

    @staticmethod
    def stored(settings: MPI3DSettings) -> FactorImages:
        """Return the paper's images."""
        return stored_arms(settings)
