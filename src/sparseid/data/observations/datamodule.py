"""Data module of user-provided observations, the same for all members of the stack."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from sparseid.data.matrix.datamodule import MatrixData
from sparseid.data.tables import Table

if TYPE_CHECKING:
    from sparseid.data.observations.settings import ObservationsSettings
    from sparseid.settings import RunNumbers


class ObservationsData(MatrixData):
    """Training and held-out rows of a table of real values, and the number of latents to learn.

    Parameters
    ----------
    table
        The observations, from a file or from arrays in memory.
    seeds
        One per member.
    batch_size
        Training rows of a member per step.
    held_out
        Fraction of the rows that are only tested on.
    latents
        Number of latents to learn.
    standardise
        Scale columns to the mean and spread of the training rows.
    """

    def __init__(
        self,
        table: Table,
        seeds: Sequence[int],
        batch_size: int,
        held_out: float,
        latents: int,
        standardise: bool = True,
    ) -> None:
        super().__init__(table, seeds, batch_size, held_out, standardise=standardise)
        self.latents = latents

    @classmethod
    def from_settings(cls, settings: ObservationsSettings, run: RunNumbers) -> Self:  # type: ignore[override]
        """Return the data module of a run, which reads the file."""
        numbers = run.seeds, run.batch_size, settings.held_out, settings.latents
        made = cls(settings.table(), *numbers, settings.standardise)
        made.record_files([Path(settings.path)])
        return made
