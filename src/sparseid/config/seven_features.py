"""Settings of seven simulated features; numbers of the code stand in ``configs/data/seven_features.yaml``."""

from __future__ import annotations

from dataclasses import dataclass

from omegaconf import MISSING


@dataclass
class SevenFeaturesConfig:
    """Seven features of two correlated factors, of which six depend on one factor each."""

    name: str = "seven_features"
    rho: float = 0.0
    """Correlation of the two factors."""
    samples: int = MISSING
    """Samples of a data set, about half of which train."""
    noise_std: float = MISSING
    """Standard deviation of the noise of every feature."""
