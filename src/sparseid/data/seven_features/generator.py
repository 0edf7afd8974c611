"""The simulated data of the Sparse VAE's synthetic study (Eq. 10), with known dependence of features on factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparseid.streams import Streams

if TYPE_CHECKING:
    from sparseid.data.seven_features.settings import SevenFeaturesSettings

FEATURES, FACTORS = 7, 2
FOLDS, TEST_FOLD = 2, 0
"""One of two folds is held out (authors' code)."""

SUPPORT = np.array([[1, 0]] * 3 + [[0, 1]] * 3 + [[0.5, 0.5]], dtype=np.float32)
"""Fraction of each factor in a feature, (features, factors): the mask that the authors compare W with."""

Array = NDArray[np.float64]


def features_of(factors: Array) -> Array:
    """Return noiseless features (..., samples, 7) of factors (..., samples, 2).

    Examples
    --------
    >>> features_of(np.array([[2.0, 1.0]])).round(2).tolist()
    [[2.0, 4.0, 12.0, 4.0, 5.0, 5.05, 14.0]]
    """
    first, second = factors[..., 0], factors[..., 1]
    columns = (first, 2 * first, 3 * first**2, 4 * second, 5 * second, 6 * np.sin(second), 7 * first * second)
    return np.stack(columns, axis=-1)


def draw(config: SevenFeaturesSettings, seeds: Sequence[int]) -> tuple[Array, Array]:
    """Return the factors (members, samples, 2) and features (members, samples, 7) of each member's data set.

    The factors are normal with mean 0, variance 1 and correlation rho; the noise is normal. Data sets of different rho
    are independent even for the same seed, as in the authors' code.
    """
    normal = np.stack([_standard_normal(config, seed) for seed in seeds])
    factors, noise = normal[..., :FACTORS], normal[..., FACTORS:]
    factors[..., 1] = config.rho * factors[..., 0] + np.sqrt(1 - config.rho**2) * factors[..., 1]
    return factors, features_of(factors) + config.noise_std * noise


def _standard_normal(config: SevenFeaturesSettings, seed: int) -> Array:
    generator = Streams(seed).numpy("data/seven_features", round(config.rho * 1e6))
    return generator.standard_normal((config.samples, FACTORS + FEATURES))
