"""Arrangement of a motif confusion matrix for drawing (Sparling, figure 8)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class ConfusionPlot(NamedTuple):
    """A confusion matrix ready to draw; the last row is "no motif there", the last column "missed".

    Attributes
    ----------
    shares : (K + 1, C + 1) float64
        Counts divided by their row's sum, columns arranged; a row without counts is 0.
    channels : (C + 1,) int64
        The channel in each column, -1 for the last one.
    row_shares : (K + 1,) float64
        Each row's share of all pairs; 0 where there are none.
    """

    shares: NDArray[np.float64]
    channels: NDArray[np.int64]
    row_shares: NDArray[np.float64]


def arrange_confusion(matrix: NDArray[np.integer]) -> ConfusionPlot:
    """Normalise the rows of a count matrix and order its channels so that channels stand below their symbol.

    Channels are sorted by the symbol they fire on most (by row share), then by that share; equal channels by number.

    Parameters
    ----------
    matrix : (K + 1, C + 1) int
        Counts of :class:`sparseid.metrics.motifs.MotifCounts`.
    """
    matrix = np.asarray(matrix)
    totals = matrix.sum(axis=1)
    shares = matrix / np.maximum(totals, 1)[:, None]
    symbols = shares[:-1, :-1]
    order = np.lexsort((symbols.max(axis=0), symbols.argmax(axis=0)))
    return ConfusionPlot(
        shares=shares[:, [*order, -1]],
        channels=np.array([*order, -1], np.int64),
        row_shares=totals / max(int(totals.sum()), 1),
    )
