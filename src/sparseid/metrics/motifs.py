"""Motif errors: false positives, false negatives and confusions of a motif map against the true motifs.

Sparling, section 5.2. Sites are visited in the order given; the largest activation inside a site's box is that site's
prediction and the box is then emptied in every channel, so a later, overlapping site sees zeros there. The remaining
activations are outside every box: false positives.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

NONE = -1
"""Marks "no channel" (a missed site) and "no symbol" (an activation outside every box)."""

ChannelMap = Literal["one_to_one", "many_to_one"]
FpeDenominator = Literal["hits_plus_outside", "all_active"]


class MotifPairs(NamedTuple):
    """One entry per site and per remaining activation: image, predicted channel, true symbol (:data:`NONE` = -1)."""

    image: NDArray[np.int64]
    predicted: NDArray[np.int64]
    true: NDArray[np.int64]


class MotifErrors(NamedTuple):
    """False positive, false negative and confusion error as fractions in [0, 1]; NaN if the denominator is 0."""

    fpe: float
    fne: float
    ce: float


class MotifCounts:
    """Counts of (true symbol, predicted channel), summed over batches.

    Parameters
    ----------
    n_symbols, n_channels
        K true symbols and C channels of the motif map.

    Attributes
    ----------
    matrix : (K + 1, C + 1) int64
        Rows true symbols, columns channels; the last row holds activations outside every box, the last column missed
        sites.
    active
        Number of non-zero entries of all maps so far, including those in a box beyond its largest.
    entries
        Number of entries of all maps so far; :attr:`density` is active / entries.

    Examples
    --------
    >>> counts = MotifCounts(n_symbols=2, n_channels=2)
    >>> maps = np.zeros((1, 2, 8))
    >>> maps[0, 1, 3] = 2.0
    >>> counts.add(maps, np.array([[0, 0, 2, 5]]))  # image 0, symbol 0, positions 2..4
    >>> counts.matrix.tolist()
    [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    >>> motif_errors(counts)
    MotifErrors(fpe=0.0, fne=0.0, ce=0.0)
    """

    def __init__(self, n_symbols: int, n_channels: int) -> None:
        self.matrix = np.zeros((n_symbols + 1, n_channels + 1), np.int64)
        self.active = 0
        self.entries = 0

    @property
    def density(self) -> float:
        """Fraction of non-zero entries; NaN before the first batch."""
        return self.active / self.entries if self.entries else float("nan")

    def add(self, maps: NDArray[np.floating], sites: NDArray[np.integer]) -> None:
        """Match one batch and add its counts; arguments and errors are those of :func:`match_motifs`."""
        n_symbols, n_channels = (size - 1 for size in self.matrix.shape)
        if maps.shape[1] != n_channels:
            raise ValueError(f"maps have {maps.shape[1]} channels, the counts {n_channels}")
        predicted, outside, in_boxes = _match(maps, sites, n_symbols)
        np.add.at(self.matrix, (sites[:, 1], predicted), 1)
        outside_by_channel = np.count_nonzero(outside, axis=(0, *range(2, outside.ndim)))
        self.matrix[NONE, :-1] += outside_by_channel
        self.active += in_boxes + int(outside_by_channel.sum())
        self.entries += maps.size

    def add_density(self, maps: NDArray[np.floating]) -> None:
        """Add a batch whose sites are unknown: it enters the density only."""
        self.active += int(np.count_nonzero(maps))
        self.entries += maps.size

    def without(self, symbols: Iterable[int]) -> MotifCounts:
        """Return the counts as if the sites of some symbols were none: what hit them counts as outside every box."""
        result = MotifCounts(*(size - 1 for size in self.matrix.shape))
        result.matrix, result.active, result.entries = self.matrix.copy(), self.active, self.entries
        for symbol in symbols:
            result.matrix[NONE, :-1] += result.matrix[symbol, :-1]
            result.matrix[symbol] = 0
        return result


def match_motifs(maps: NDArray[np.floating], sites: NDArray[np.integer], n_symbols: int) -> NDArray[np.int64]:
    """Match a batch of motif maps with the true sites and count the pairs.

    Parameters
    ----------
    maps : (n, C, *spatial) float
        Motif maps after the sparsity layer; one or more spatial axes. Exactly zero means inactive.
    sites : (S, 2 + 2 * spatial axes) int
        Rows (image in 0..n-1, symbol in 0..K-1, start, stop per axis), half-open boxes in map positions, visited in row
        order. Boxes are clipped to the map; an empty box is a missed site.
    n_symbols
        Number of symbols K.

    Returns
    -------
    (K + 1, C + 1) int64, see :class:`MotifCounts`.

    Raises
    ------
    ValueError
        If a map holds a negative number or NaN, or a site has the wrong number of axes or an image or symbol that does
        not exist.

    Examples
    --------
    >>> maps = np.zeros((1, 2, 5, 5))
    >>> maps[0, 1, 2, 2] = 1.0  # channel 1 fires in the box of a symbol 0
    >>> match_motifs(maps, np.array([[0, 0, 1, 4, 1, 4]]), n_symbols=1).tolist()
    [[0, 1, 0], [0, 0, 0]]
    """
    counts = MotifCounts(n_symbols, maps.shape[1])
    counts.add(maps, sites)
    return counts.matrix


def match_pairs(maps: NDArray[np.floating], sites: NDArray[np.integer], n_symbols: int) -> MotifPairs:
    """List the pairs behind :func:`match_motifs`, image by image: sites in order, then other activations by channel.

    Intended for sparse maps (one entry per remaining activation). Arguments and errors are those of
    :func:`match_motifs`.
    """
    predicted, outside, _ = _match(maps, sites, n_symbols)
    left_image, left_channel = np.nonzero(outside)[:2]
    nothing = np.full(len(left_image), NONE)
    image = np.concatenate([sites[:, 0], left_image])
    order = np.argsort(image, kind="stable")
    return MotifPairs(
        image[order].astype(np.int64),
        np.concatenate([predicted, left_channel])[order].astype(np.int64),
        np.concatenate([sites[:, 1], nothing])[order].astype(np.int64),
    )


def motif_errors(
    counts: MotifCounts,
    channel_map: ChannelMap = "one_to_one",
    fpe_denominator: FpeDenominator = "hits_plus_outside",
) -> MotifErrors:
    """Compute the three motif errors from counts.

    FNE = missed sites / sites. FPE = activations outside every box / predictions, where the predictions are the sites
    that were hit plus the activations outside (as the published numbers were computed), or all active entries (as in
    the paper's text). CE = fraction of hit sites whose channel is not assigned to their symbol.

    Parameters
    ----------
    counts
        Counts of all test items.
    channel_map
        Assignment of symbols to channels: ``one_to_one``, the one with the fewest errors in which no two channels have
        the same symbol (DigitCircle, splicing), or ``many_to_one``, each channel's most frequent symbol (LaTeX-OCR,
        audio).
    fpe_denominator
        ``hits_plus_outside`` or ``all_active``.

    Returns
    -------
    MotifErrors
        Fractions in [0, 1]. Without sites FNE is NaN, without predictions FPE is NaN, without hit sites CE is NaN.

    Examples
    --------
    >>> from sparseid.metrics.motifs import MotifCounts
    >>> counts = MotifCounts(n_symbols=1, n_channels=1)
    >>> maps = np.zeros((1, 1, 5))
    >>> maps[0, 0, 1] = 1.0  # one of the two sites below is hit
    >>> counts.add(maps, np.array([[0, 0, 0, 2], [0, 0, 3, 5]]))
    >>> errors = motif_errors(counts)
    >>> errors.fpe, errors.fne, errors.ce
    (0.0, 0.5, 0.0)
    """
    hits = counts.matrix[:-1, :-1]
    n_hits, n_outside, n_missed = int(hits.sum()), int(counts.matrix[NONE].sum()), int(counts.matrix[:-1, NONE].sum())
    predictions = counts.active if fpe_denominator == "all_active" else n_hits + n_outside
    if channel_map == "one_to_one":
        n_right = int(hits[linear_sum_assignment(hits, maximize=True)].sum())
    else:
        n_right = int(hits.max(axis=0, initial=0).sum())
    return MotifErrors(
        fpe=_share(n_outside, predictions),
        fne=_share(n_missed, n_missed + n_hits),
        ce=_share(n_hits - n_right, n_hits),
    )


def channel_symbols(matrix: NDArray[np.integer], channel_map: ChannelMap = "one_to_one") -> NDArray[np.int64]:
    """Return the symbol assigned to each channel, (C,) int64; :data:`NONE` for a channel without a symbol.

    Parameters
    ----------
    matrix : (K + 1, C + 1) int
        Counts as in :class:`MotifCounts`.
    channel_map
        As in :func:`motif_errors`. Ties go to the smaller symbol. A channel has no symbol if it never hit a site, or if
        there are more channels than symbols and it is one of the surplus.
    """
    hits = np.asarray(matrix)[:-1, :-1]
    symbols = np.full(hits.shape[1], NONE, np.int64)
    if channel_map == "one_to_one":
        rows, columns = linear_sum_assignment(hits, maximize=True)
        symbols[columns] = rows
    elif hits.size:
        symbols = hits.argmax(axis=0)
    return np.where(hits.any(axis=0), symbols, NONE)


def symbols_by_counts(
    activations: NDArray[np.integer], symbols: NDArray[np.integer], channel_map: ChannelMap = "one_to_one"
) -> NDArray[np.int64]:
    """Return the symbol that each channel goes with, judged by counts alone: for items without known sites.

    Parameters
    ----------
    activations : (n, C) int
        Activations of each channel in each item.
    symbols : (n, K) int
        How often each symbol occurs in the item's label.
    channel_map
        ``one_to_one``: the assignment with the largest sum of correlations over items; ``many_to_one``: each channel's
        largest.

    Returns
    -------
    (C,) int64; :data:`NONE` for a channel whose counts rise with no symbol's, or that is one too many.

    Examples
    --------
    >>> labels = np.array([[1, 0], [0, 1], [2, 1], [1, 1]])
    >>> symbols_by_counts(labels[:, [1, 0]] * 3, labels).tolist()
    [1, 0]
    """
    fired, known = (values - values.mean(axis=0) for values in (np.asarray(activations), np.asarray(symbols)))
    scale = np.sqrt(np.outer((known**2).sum(axis=0), (fired**2).sum(axis=0)))
    correlation = np.divide(known.T @ fired, scale, out=np.zeros_like(scale), where=scale > 0)
    found = np.full(fired.shape[1], NONE, np.int64)
    if channel_map == "one_to_one":
        rows, columns = linear_sum_assignment(correlation, maximize=True)
        found[columns] = rows
    else:
        found = correlation.argmax(axis=0)
    own = correlation[found, np.arange(len(found))]
    return np.where((found != NONE) & (own > 0), found, NONE)


def boxes_in_cells(sites: NDArray[np.integer], stride: int) -> NDArray[np.int64]:
    """Convert boxes from pixels to map positions of `stride` pixels a side; a box covers every position it touches."""
    cells = np.array(sites, np.int64)
    cells[:, 2::2] //= stride
    cells[:, 3::2] = -(-cells[:, 3::2] // stride)
    return cells


def _match(
    maps: NDArray[np.floating], sites: NDArray[np.integer], n_symbols: int
) -> tuple[NDArray[np.int64], NDArray[np.floating], int]:
    """Return each site's predicted channel, the maps with boxes emptied, and the count of active entries in boxes."""
    axes = maps.ndim - 2
    if sites.ndim != 2 or sites.shape[1] != 2 + 2 * axes:
        raise ValueError(f"sites must have shape (S, {2 + 2 * axes}) for maps of shape {maps.shape}, got {sites.shape}")
    if maps.size and not maps.min() >= 0:
        raise ValueError("motif maps must be non-negative and free of NaN")
    for column, limit, what in ((0, len(maps), "image"), (1, n_symbols, "symbol")):
        if len(sites) and not (sites[:, column].min() >= 0 and sites[:, column].max() < limit):
            raise ValueError(f"a site has {what} {sites[:, column].max()} outside 0..{limit - 1}")
    left = maps.copy()
    predicted = np.full(len(sites), NONE, np.int64)
    in_boxes = 0
    for row, (image, _, *box) in enumerate(np.maximum(sites, 0).tolist()):
        inside = left[(image, slice(None), *(slice(box[2 * axis], box[2 * axis + 1]) for axis in range(axes)))]
        if not inside.size:
            continue
        peaks = inside.reshape(len(inside), -1).max(axis=1)
        channel = int(peaks.argmax())
        if peaks[channel] > 0:
            predicted[row] = channel
            in_boxes += int(np.count_nonzero(inside))
            inside[...] = 0
    return predicted, left, in_boxes


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
