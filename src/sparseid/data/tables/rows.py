"""Training rows of a table: their choice, and their scale."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.streams import FIXED

ROUNDING = 1e-11
"""Spread of numbers, relative to them, up to which they differ by rounding errors of a computation."""


def split_rows(rows: int, held_out: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the training rows and the held-out fraction, each ascending: chosen at random, the same for every seed.

    Examples
    --------
    >>> [len(part) for part in split_rows(1005, 0.2)]
    [804, 201]
    """
    order = FIXED.numpy("tables/split", rows).permutation(rows)
    test = round(rows * held_out)
    return np.sort(order[test:]), np.sort(order[:test])


class Scale(NamedTuple):
    """Mean and spread of columns over the training rows.

    Attributes
    ----------
    mean, spread
        (features,); the spread of a column that is constant, up to rounding, is infinite.
    """

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.float64], training: NDArray[np.int64]) -> Scale:
        """Return the scale of the training rows of values (rows, features)."""
        rows = values[training]
        unit = np.frexp(np.abs(rows).max(axis=0))[1]  # a power of two is exact, and squares stay within range
        rows = np.ldexp(rows, -unit)
        mean, spread = (np.ldexp(of_rows, unit) for of_rows in (rows.mean(axis=0), rows.std(axis=0)))
        whole = (values[training] % 1 == 0).all(axis=0)  # their differences are no rounding errors
        varies = (rows.max(axis=0) > rows.min(axis=0)) & (whole | (spread > ROUNDING * np.abs(mean)))
        return cls(mean, np.where(varies, spread, np.inf))

    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return columns with mean 0 and standard deviation 1 over the training rows; constant columns become 0."""
        return (values - self.mean) / self.spread

    def undo(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scaled values in their own units."""
        return values * np.where(np.isfinite(self.spread), self.spread, 0) + self.mean


def scaled(values: NDArray[np.float64], training: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return columns with mean 0 and standard deviation 1 over the training rows; constant columns become 0."""
    return Scale.of(values, training).apply(values)
