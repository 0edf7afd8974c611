"""Base of the data modules of stacks: built from settings, seeds and batch size."""

from __future__ import annotations

from typing import Any, Self

from pytorch_lightning import LightningDataModule

from sparseid.settings import DataSettings, RunNumbers


class StackData(LightningDataModule):
    """A data module whose subclasses take their settings, one seed per member and the batch size of a member."""

    @classmethod
    def from_settings(cls, settings: DataSettings, run: RunNumbers) -> Self:
        """Return the data module of a run."""
        build: Any = cls
        made: Self = build(settings, run.seeds, run.batch_size)
        return made
