"""Bits carried by an activation, from motif values quantised to a few bins (Sparling, appendix I)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Overflow = Literal["last", "zero"]


@dataclass(frozen=True)
class Bins:
    """Equal-count bins of the active values of each channel.

    Attributes
    ----------
    upper
        (C, B) upper end of each bin (its largest value), ascending. NaN for a channel that was never active.
    means
        (C, B) mean value of each bin.
    """

    upper: NDArray[np.float64]
    means: NDArray[np.float64]

    def apply(self, maps: NDArray[np.floating], overflow: Overflow = "last") -> NDArray[np.floating]:
        """Replace every active entry by the mean of its bin; zeros stay zero.

        Parameters
        ----------
        maps
            (n, C, *spatial) non-negative motif maps.
        overflow
            Bin of values above all bins: ``last``, or ``zero``, the first bin, to which the authors' code assigns them
            (and the largest value itself).

        Returns
        -------
        Maps of the same shape and type. Entries of a channel without bins are unchanged.
        """
        binned = maps.copy()
        for channel, (upper, means) in enumerate(zip(self.upper, self.means, strict=True)):
            if np.isnan(upper).any():
                continue
            values = binned[:, channel]
            active = values > 0
            # the first bin whose upper end is not below the value; the authors take the first strictly above it
            index = np.searchsorted(upper, values[active], side="left" if overflow == "last" else "right")
            beyond = len(upper) - 1 if overflow == "last" else 0
            values[active] = means[np.where(index < len(upper), index, beyond)]
        return binned


def equal_count_bins(values: Sequence[NDArray[np.floating]], bins: int) -> Bins:
    """Cut the active values of each channel into `bins` bins of equal count.

    Parameters
    ----------
    values
        The active (positive) values of each channel, in any order. A channel with fewer values than bins has some
        bins twice.
    bins
        Number of bins B, at least 1.

    Raises
    ------
    ValueError
        If `bins` is below 1.

    Examples
    --------
    >>> bins = equal_count_bins([np.array([1.0, 2.0, 3.0, 6.0])], 2)
    >>> bins.means.tolist()
    [[1.5, 4.5]]
    >>> bins.apply(np.array([[[0.0, 1.2, 2.0, 2.5, 99.0]]])).tolist()
    [[[0.0, 1.5, 1.5, 4.5, 4.5]]]
    """
    if bins < 1:
        raise ValueError(f"bins={bins} must be at least 1")
    upper, means = np.full((len(values), bins), np.nan), np.full((len(values), bins), np.nan)
    for channel, of_channel in enumerate(values):
        ordered = np.sort(np.asarray(of_channel, float))
        if not len(ordered):
            continue
        for number in range(bins):
            start, stop = number * len(ordered) // bins, (number + 1) * len(ordered) // bins
            within = ordered[start:stop] if stop > start else ordered[start : start + 1]
            upper[channel, number], means[channel, number] = within[-1], within.mean()
    return Bins(upper, means)


def bits_needed(deltas: Mapping[int, float], tolerance: float = 0.1) -> float:
    """Return eta, the bits that an activation carries: log2 of the fewest bins that cost no accuracy.

    Parameters
    ----------
    deltas
        Number of bins -> accuracy lost, in percent.
    tolerance
        Largest loss that is ignored, in percent; 0.1 % as published.

    Returns
    -------
    float
        NaN if every number of bins costs more.

    Examples
    --------
    >>> bits_needed({2: 0.50, 4: 0.15, 8: 0.06, 16: 0.02})
    3.0
    """
    enough = [bins for bins, delta in deltas.items() if abs(delta) <= tolerance]
    return math.log2(min(enough)) if enough else math.nan


def entropy_bound(channels: int, density: float, bits: float) -> float:
    r"""Return a bound on the entropy of one position of the motif map, in bits (appendix I.1).

    .. math:: n (H_b(\delta) + \delta \eta)

    Parameters
    ----------
    channels
        n.
    density
        delta, the fraction of active entries.
    bits
        eta, the bits of an active value.
    """
    absent = 1 - density
    entropy = -sum(p * math.log2(p) for p in (density, absent) if p > 0)
    return channels * (entropy + density * bits)
