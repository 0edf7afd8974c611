"""Settings of sparse linear regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from sparseid.settings import DataSettings, Run, SettingsError, setting


@dataclass
class SparseLinearSettings(DataSettings):
    """Labels that are linear in a few of many features, with noise."""

    loads: ClassVar[str] = "toy_sparsity.data.sparse_linear.datamodule:SparseLinearData"
    interface: ClassVar[str] = "regression"

    name: str = "sparse_linear"
    features: int = setting("Features of a sample.", at_least=1)
    relevant: int = setting("Features that labels depend on.", at_least=1)
    noise_std: float = setting("Standard deviation of the noise on labels, whose signal has unit variance.", at_least=0)

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield more relevant features than there are."""
        if self.relevant > self.features:
            text = "data.relevant exceeds data.features: lower one or raise the other"
            yield SettingsError(("data.relevant", "data.features"), text)
