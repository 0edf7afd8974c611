"""Settings of seven simulated features; values of the paper's code are in ``configs/data/seven_features.yaml``."""

from __future__ import annotations

from dataclasses import dataclass

from sparseid.settings import FeatureMatrixSettings, Keys, setting


@dataclass
class SevenFeaturesSettings(FeatureMatrixSettings):
    """Seven features of two correlated factors, of which six depend on one factor each."""

    name: str = "seven_features"
    rho: float = setting("Correlation of the two factors.", default=0.0, at_least=0, below=1)
    samples: int = setting(
        "Number of samples of a data set.", at_least=14, because="half of them are for training, the others for tests"
    )
    noise_std: float = setting("Standard deviation of the noise of every feature.", at_least=0)

    loads = "sparseid.data.seven_features.datamodule:SevenFeaturesData"
    negative = True

    def row_keys(self) -> Keys:
        """Add the correlation."""
        return super().row_keys() | {"rho": self.rho}
