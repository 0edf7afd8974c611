"""Summary of a metric over replicates (seeds, splits, data sets): centre and interval of a chosen kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

CONFIDENCE = 0.95
RESAMPLES = 1000

Centre = Literal["mean", "median"]
IntervalKind = Literal["bootstrap", "student", "sd", "population_sd", "quartiles"]
"""The keys of :data:`INTERVALS`."""


class Summary(NamedTuple):
    """Centre and interval of a metric over replicates; mean, standard deviation, median and number of values."""

    centre: float
    low: float
    high: float
    mean: float
    sd: float
    median: float
    n: int


def summarise(values: ArrayLike, centre: Centre = "mean", interval: IntervalKind = "bootstrap") -> Summary:
    """Summarise a metric over replicates.

    Parameters
    ----------
    values : (n,)
        One number per replicate; NaN values are dropped.
    centre
        ``mean`` or ``median``.
    interval
        Kind of interval, see :data:`INTERVALS`.

    Returns
    -------
    Summary
        `sd` has n - 1 in the denominator. With one value sd and interval are NaN (a single replicate has no spread);
        without values everything is NaN. Equal values have sd 0, without the rounding of their mean.

    Examples
    --------
    >>> summarise([1.0, 3.0, 8.0]).centre, summarise([1.0, 3.0, 8.0], "median", "quartiles")[:3]
    (4.0, (3.0, 2.0, 5.5))
    """
    array = np.asarray(values, float).ravel()
    kept = array[~np.isnan(array)]
    nan = float("nan")
    if not len(kept):
        return Summary(nan, nan, nan, nan, nan, nan, 0)
    several = len(kept) > 1
    if several and (kept == kept[0]).all():
        value = float(kept[0])
        return Summary(value, value, value, value, 0.0, value, len(kept))
    mean, median = float(kept.mean()), float(np.median(kept))
    low, high = INTERVALS[interval](kept) if several else (nan, nan)
    sd = float(kept.std(ddof=1)) if several else nan
    return Summary(median if centre == "median" else mean, low, high, mean, sd, median, len(kept))


def bootstrap_interval(values: ArrayLike, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean over replicates.

    It lies between the (1 - confidence) / 2 quantiles of the means of 1000 resamples, drawn in one call from a fixed
    generator (the choice of Sparling's authors, so that their intervals are reproduced to the last digit).

    Parameters
    ----------
    values : (n,)
        One number per replicate, without NaN.
    confidence
        Fraction of resampled means inside the interval.

    Examples
    --------
    >>> low, high = bootstrap_interval([1.0, 2.0, 3.0, 4.0])
    >>> f"[{low:.2f}, {high:.2f}]"
    '[1.50, 3.50]'
    """
    array = np.asarray(values, float)
    resampled = array[_resamples(len(array))]
    tail = (1 - confidence) / 2
    low, high = np.quantile(resampled.mean(axis=1), [tail, 1 - tail])
    return float(low), float(high)


@lru_cache(maxsize=64)
def _resamples(n: int) -> np.ndarray:
    """Return the places of n values in each resample; the published intervals were drawn from the legacy generator."""
    return np.random.RandomState(0).choice(n, size=(RESAMPLES, n))


def student_interval(values: ArrayLike) -> tuple[float, float]:
    """Return the 95 % interval of the mean by Student's t: mean -+ t(n - 1) sd / sqrt(n), for two or more values."""
    from scipy.stats import t

    array = np.asarray(values, float)
    n = len(array)
    return _around_mean(array, float(t.ppf((1 + CONFIDENCE) / 2, n - 1)) * float(array.std(ddof=1)) / n**0.5)


def sd_interval(values: ArrayLike) -> tuple[float, float]:
    """Return mean -+ sample standard deviation (n - 1 in the denominator)."""
    array = np.asarray(values, float)
    return _around_mean(array, float(array.std(ddof=1)))


def population_sd_interval(values: ArrayLike) -> tuple[float, float]:
    """Return mean -+ standard deviation with n in the denominator (NumPy's default)."""
    array = np.asarray(values, float)
    return _around_mean(array, float(array.std()))


def quartiles(values: ArrayLike) -> tuple[float, float]:
    """Return the first and the third quartile, interpolated linearly (the box of a box plot)."""
    low, high = np.quantile(np.asarray(values, float), [0.25, 0.75])
    return float(low), float(high)


INTERVALS: dict[IntervalKind, Callable[[ArrayLike], tuple[float, float]]] = {
    "bootstrap": bootstrap_interval,
    "student": student_interval,
    "sd": sd_interval,
    "population_sd": population_sd_interval,
    "quartiles": quartiles,
}
"""Kind of interval -> function that returns its (low, high) from two or more values without NaN."""


def _around_mean(values: np.ndarray, half_width: float) -> tuple[float, float]:
    mean = float(values.mean())
    return mean - half_width, mean + half_width
