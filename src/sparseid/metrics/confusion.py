"""Motif confusion matrices, summarised by kind of motif and arranged for plotting (Sparling, figure 8)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class ConfusionPlot(NamedTuple):
    """A confusion matrix ready to plot; the last row is "no motif there", the last column "missed".

    Attributes
    ----------
    shares : (K + 1, C + 1) float64
        Counts divided by their row sum, columns arranged; 0 in a row without counts.
    channels : (C + 1,) int64
        The channel of each column, -1 for the last.
    row_shares : (K + 1,) float64
        Each row's fraction of all pairs; 0 without pairs.
    """

    shares: NDArray[np.float64]
    channels: NDArray[np.int64]
    row_shares: NDArray[np.float64]


def arrange_confusion(matrix: NDArray[np.integer]) -> ConfusionPlot:
    """Normalise the rows of a count matrix and order its channels by their symbol.

    Channels are sorted by the symbol they fire on most (by row fraction), then by that fraction, then by number.

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


class KindShares(NamedTuple):
    """Outcome of the motifs of each kind, as fractions of its row of a confusion matrix (figure 8).

    Attributes
    ----------
    to_kind : (K + 1, K) float64
        Fraction predicted as each kind (by any of its channels); the diagonal holds the correct ones, the last row
        activations outside every box. NaN in a row without counts.
    missed : (K,) float64
        Fraction of sites without any activation; NaN for a kind that does not occur.
    row_shares : (K + 1,) float64
        Each row's fraction of all pairs; 0 without pairs.
    busiest_outside : float
        Fraction of the last row in its most active channel; NaN without counts.
    """

    to_kind: NDArray[np.float64]
    missed: NDArray[np.float64]
    row_shares: NDArray[np.float64]
    busiest_outside: float


def kind_shares(matrix: NDArray[np.integer]) -> KindShares:
    """Summarise a count matrix by kind; a channel is of the kind that it fires on most, by row fraction.

    Parameters
    ----------
    matrix : (K + 1, C + 1) int
        Counts of :class:`sparseid.metrics.motifs.MotifCounts`.

    Examples
    --------
    >>> shares = kind_shares(np.array([[6, 0, 2, 2], [0, 9, 0, 1], [1, 0, 3, 0]]))  # two kinds, three channels
    >>> shares.to_kind.tolist()
    [[0.8, 0.0], [0.0, 0.9], [1.0, 0.0]]
    >>> shares.missed.tolist(), shares.busiest_outside
    ([0.2, 0.1], 0.75)
    """
    matrix = np.asarray(matrix)
    totals = matrix.sum(axis=1)
    shares = np.where(totals[:, None] > 0, matrix / np.maximum(totals, 1)[:, None], np.nan)
    kinds = channel_kinds(matrix)
    columns = [shares[:, :-1][:, kinds == kind].sum(axis=1) for kind in range(len(matrix) - 1)]
    return KindShares(
        to_kind=np.where(totals[:, None] > 0, np.stack(columns, axis=1), np.nan),
        missed=shares[:-1, -1],
        row_shares=totals / max(int(totals.sum()), 1),
        busiest_outside=float(shares[-1, :-1].max()),
    )


def channel_kinds(matrix: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the kind that each channel fires on most, by row fraction, (C,); -1 for a channel that hits no site."""
    hits = np.asarray(matrix)[:-1, :-1]
    shares = hits / np.maximum(np.asarray(matrix)[:-1].sum(axis=1), 1)[:, None]
    return np.where(hits.any(axis=0), shares.argmax(axis=0), -1)


def join_channels(matrix: NDArray[np.integer]) -> tuple[NDArray[np.int64], list[tuple[int, ...]]]:
    """Add up the channels of each kind, as in the published figure of LaTeX-OCR, which has more channels than kinds.

    Parameters
    ----------
    matrix : (K + 1, C + 1) int
        Counts of :class:`sparseid.metrics.motifs.MotifCounts`.

    Returns
    -------
    (K + 1, G + 1) int64
        Counts with a column for each kind that has channels, and one for the channels without a kind.
    list of tuples
        The channels in each of the first G columns.
    """
    matrix = np.asarray(matrix)
    kinds = channel_kinds(matrix)
    groups = [np.flatnonzero(kinds == kind) for kind in np.unique(kinds)]
    joined = [matrix[:, group].sum(axis=1) for group in groups]
    names = [tuple(int(channel) for channel in group) for group in groups]
    return np.stack([*joined, matrix[:, -1]], axis=1).astype(np.int64), names
