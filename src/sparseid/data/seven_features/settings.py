"""What settings of the simulated features cannot be; nothing of theirs lies in files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.seven_features.generator import FEATURES

if TYPE_CHECKING:
    from sparseid.config.seven_features import SevenFeaturesConfig


def faults(config: SevenFeaturesConfig) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what makes the settings impossible: dotted keys, and why."""
    if not 0 <= config.rho < 1:
        yield ("data.rho",), "data.rho must be at least 0 and below 1"
    if config.samples < 2 * FEATURES:
        yield ("data.samples",), f"data.samples must be at least {2 * FEATURES}: a half trains, the other tests"
    if not 0 <= config.noise_std < math.inf:
        yield ("data.noise_std",), "data.noise_std must be at least 0"


def absent_files(config: SevenFeaturesConfig) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield nothing."""
    yield from ()


def placed_files(config: SevenFeaturesConfig) -> dict[str, Path]:
    """Return no file."""
    return {}
