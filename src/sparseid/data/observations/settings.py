"""Settings of user-provided observations."""

from __future__ import annotations

from dataclasses import dataclass

from sparseid.data.table_settings import TableSettings
from sparseid.settings import Keys, setting


@dataclass
class ObservationsSettings(TableSettings):
    """User-provided observations: a row per sample, whose columns each depend on few unknown latents."""

    name: str = "observations"
    latents: int = setting("Number of latents to learn.", at_least=1)
    standardise: bool = setting(
        "Scale columns to the mean and spread of the training rows: errors are then in squared standard deviations.",
        default=True,
    )

    loads = "sparseid.data.observations.datamodule:ObservationsData"
    interface = "observations"

    def row_keys(self) -> Keys:
        """Add the number of latents."""
        return super().row_keys() | {"dim": self.latents}
