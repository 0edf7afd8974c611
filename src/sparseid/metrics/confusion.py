"""Motif confusion matrices, summarised by kind of motif and arranged for plotting (Sparling, figure 8)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.metrics.motifs import channel_symbols


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
        Fraction in the column of each kind (:func:`kind_columns`); the diagonal holds the correct ones, the last row
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
    """Summarise a count matrix by kind.

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
    columns = [shares[:, list(channels)].sum(axis=1) for channels in kind_columns(matrix)]
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


def kind_columns(matrix: NDArray[np.integer]) -> list[tuple[int, ...]]:
    """Return the channels in each kind's column of the published figure; none for a kind without a column.

    If there are more channels than kinds (LaTeX-OCR) they are all those that hit the kind more often than any other;
    otherwise (DigitCircle, audio), of those that fire on it most by row fraction, the one that does so most.

    Parameters
    ----------
    matrix : (K + 1, C + 1) int
        Counts of :class:`sparseid.metrics.motifs.MotifCounts`.

    Examples
    --------
    >>> kind_columns(np.array([[6, 3, 0, 1], [0, 0, 2, 8], [0, 0, 4, 0]]))  # two kinds, three channels
    [(0, 1), (2,)]
    >>> kind_columns(np.array([[6, 3, 1], [0, 0, 9], [0, 4, 0]]))  # no channel for the second kind
    [(0,), ()]
    """
    matrix = np.asarray(matrix)
    if _are_joined(matrix):
        kinds = channel_symbols(matrix, "many_to_one")
        return [tuple(np.flatnonzero(kinds == kind).tolist()) for kind in range(len(matrix) - 1)]
    found: list[tuple[int, ...]] = []
    kinds = channel_kinds(matrix)
    for kind, row in enumerate(matrix[:-1, :-1]):
        own = np.flatnonzero(kinds == kind)
        found.append((int(own[row[own].argmax()]),) if len(own) else ())
    return found


def join_channels(matrix: NDArray[np.integer]) -> tuple[NDArray[np.int64], list[tuple[int, ...]]]:
    """Return the columns of the published figure: with more channels than kinds (LaTeX-OCR), those of a kind together.

    Parameters
    ----------
    matrix : (K + 1, C + 1) int
        Counts of :class:`sparseid.metrics.motifs.MotifCounts`.

    Returns
    -------
    (K + 1, G + 1) int64
        Counts with a column for each kind that has channels (of which it is the most frequent hit), and one for the
        channels without a kind; the last holds missed sites. Unchanged if there are no more channels than kinds.
    list of tuples
        The channels in each of the first G columns.
    """
    matrix = np.asarray(matrix)
    if not _are_joined(matrix):
        return matrix.astype(np.int64), [(channel,) for channel in range(matrix.shape[1] - 1)]
    kinds = channel_symbols(matrix, "many_to_one")
    groups = [np.flatnonzero(kinds == kind) for kind in np.unique(kinds)]
    joined = [matrix[:, group].sum(axis=1) for group in groups]
    names = [tuple(int(channel) for channel in group) for group in groups]
    return np.stack([*joined, matrix[:, -1]], axis=1).astype(np.int64), names


def _are_joined(matrix: NDArray[np.integer]) -> bool:
    return matrix.shape[1] > matrix.shape[0]
