"""Metrics of the lasso."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparseid.measurements import Metric

METRICS = (
    Metric("support_f1", "score in [0,1]", "high", "F1 of the support"),
    Metric("mse", "squared label unit", "low", "test MSE"),
)


def support_f1(learned: NDArray[np.floating], truth: NDArray[np.floating]) -> float:
    """Return the F1 score of the features with non-zero learned weights.

    Parameters
    ----------
    learned, truth
        (features,) weights; `truth` has a non-zero one.

    Returns
    -------
    float
        2 |both| / (|learned| + |truth|): 0 without a hit, 1 for the same support.

    Examples
    --------
    >>> support_f1(np.array([0.1, 0, -2]), np.array([1, 0, 0]))
    0.6666666666666666
    """
    found, relevant = learned != 0, truth != 0
    return float(2 * np.sum(found & relevant) / (np.sum(found) + np.sum(relevant)))
