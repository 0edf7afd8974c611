"""Folds of held-out samples, numbered as in the Sparse VAE's code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SPLIT_SEED = 42
"""Seed of NumPy's legacy generator in the authors' code; the same for every run."""


def fold_numbers(samples: int, folds: int) -> NDArray[np.int64]:
    """Return the fold (samples,) of each sample, uniform in [0, folds) and independent: fold sizes differ a little.

    Examples
    --------
    >>> fold_numbers(8, 2).tolist()
    [0, 1, 0, 0, 0, 1, 0, 0]
    """
    return np.random.RandomState(SPLIT_SEED).randint(folds, size=samples).astype(np.int64)


def split(samples: int, folds: int, held_out: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the training samples and those of the held-out fold, each ascending."""
    numbers = fold_numbers(samples, folds)
    return np.flatnonzero(numbers != held_out), np.flatnonzero(numbers == held_out)
