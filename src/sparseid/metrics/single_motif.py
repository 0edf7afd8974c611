"""Classification error on single motifs, to compare a trained encoder with a classifier (Sparling, Table 2)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray


def count_predictions(kinds: NDArray[np.integer], channels: NDArray[np.integer], shape: tuple[int, int]) -> NDArray:
    """Count pairs of true kind and predicted channel: (items,) and (items,) to `shape` (K, C) int64."""
    matrix = np.zeros(shape, np.int64)
    np.add.at(matrix, (kinds, channels), 1)
    return matrix


def single_motif_error(matrix: NDArray[np.integer], without: Collection[int] = ()) -> float:
    """Return the fraction of single motifs whose channel is not assigned to their kind.

    Each channel is assigned to the kind for which it was predicted most often.

    Parameters
    ----------
    matrix : (K, C) int
        Counts of true kinds (rows) and predicted channels (columns).
    without
        Kinds to exclude, with the channels assigned to them.

    Returns
    -------
    float
        In [0, 1]; NaN if no motif remains.

    Examples
    --------
    >>> single_motif_error(np.array([[8, 0, 2], [1, 9, 0]]))
    0.05
    """
    matrix = np.asarray(matrix)
    stands_for = matrix.argmax(axis=0)
    rows = [kind for kind in range(len(matrix)) if kind not in without]
    columns = [channel for channel, kind in enumerate(stands_for) if kind not in without]
    left = matrix[np.ix_(rows, columns)]
    total = int(left.sum())
    return (total - int(left.max(axis=0, initial=0).sum())) / total if total else float("nan")
