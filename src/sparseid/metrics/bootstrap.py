"""Summary of one metric over replicates (seeds): mean, spread and the interval that tables print."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

RESAMPLES = 1000


class SeedSummary(NamedTuple):
    """Mean, standard deviation, median, bootstrap interval of the mean, and the number of values behind them."""

    mean: float
    sd: float
    median: float
    low: float
    high: float
    n: int


def bootstrap_interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean over replicates.

    1000 resamples of the values, drawn in one call from a fixed generator (Sparling's own choice, so that its
    intervals can be reproduced digit by digit); the interval lies between the (1 - confidence) / 2 quantiles of their
    means.

    Parameters
    ----------
    values : (n,)
        One number per replicate; NaN are dropped.
    confidence
        Share of resampled means inside the interval.

    Returns
    -------
    low, high
        NaN for fewer than two values: one replicate says nothing about the spread.
    """
    kept = _without_nan(values)
    if len(kept) < 2:
        return float("nan"), float("nan")
    # The legacy generator, because the published intervals were drawn from it.
    resampled = np.random.RandomState(0).choice(kept, size=(RESAMPLES, len(kept)))
    tail = (1 - confidence) / 2
    low, high = np.quantile(resampled.mean(axis=1), [tail, 1 - tail])
    return float(low), float(high)


def summarise(values: ArrayLike, confidence: float = 0.95) -> SeedSummary:
    """Summarise a metric over replicates.

    Parameters
    ----------
    values : (n,)
        One number per replicate; NaN are dropped.
    confidence
        Of the bootstrap interval of the mean.

    Returns
    -------
    SeedSummary
        The standard deviation has n - 1 in the denominator. With one value sd and interval are NaN; with none
        everything is NaN.

    Examples
    --------
    >>> summarise([1.0, 3.0]).mean, summarise([1.0, 3.0]).n
    (2.0, 2)
    """
    kept = _without_nan(values)
    if not len(kept):
        nan = float("nan")
        return SeedSummary(nan, nan, nan, nan, nan, 0)
    sd = float(kept.std(ddof=1)) if len(kept) > 1 else float("nan")
    return SeedSummary(float(kept.mean()), sd, float(np.median(kept)), *bootstrap_interval(kept, confidence), len(kept))


def _without_nan(values: ArrayLike) -> np.ndarray:
    array = np.asarray(values, float).ravel()
    return array[~np.isnan(array)]
