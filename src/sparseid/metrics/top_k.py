"""Top-k accuracy of rare classes: true positions among as many predicted ones (Jaganathan et al. 2019)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def top_k_accuracy(scores: NDArray[np.floating], positive: NDArray[np.bool_]) -> float:
    """Return the fraction of positive entries whose score exceeds that of all but k entries; k of them are positive.

    The threshold is the quantile 1 - k / N of all scores, interpolated between order statistics.

    Parameters
    ----------
    scores, positive
        Of the same shape: scores of a class, and whether an entry belongs to it.

    Returns
    -------
    float
        In [0, 1]; NaN without positive entries.

    Examples
    --------
    >>> top_k_accuracy(np.array([0.9, 0.8, 0.3, 0.1]), np.array([True, False, True, False]))
    0.5
    """
    flat, truth = np.ravel(scores), np.ravel(positive)
    if not truth.any():
        return float("nan")
    place = (len(flat) - 1) * (1 - truth.mean())
    low = int(place)
    high = min(low + 1, len(flat) - 1)
    below, above = np.partition(flat, (low, high))[[low, high]].astype(np.float64)
    threshold = below + (above - below) * (place - low)
    return float((flat[truth] > threshold).mean())
