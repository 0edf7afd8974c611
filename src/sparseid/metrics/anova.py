"""Analysis of variance over full-factorial designs, and Tukey's test of all pairs of groups (RegCL, tables 3 to 5).

The variance that a term explains is the difference between two nested least-squares fits, and its degrees of freedom
the difference between their ranks. If every combination of levels has a value, this equals statsmodels' `anova_lm`; if
one is missing (a failed run, an unfinished sweep), `anova_lm` counts degrees of freedom that the data do not have, and
returns NaN or wrong sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

Kind = Literal[1, 2, 3]
Term = frozenset[str]

_gauss_legendre = cache(np.polynomial.legendre.leggauss)
RANK_TOLERANCE = 1e-9
"""Singular values of a design below this fraction of the largest count as 0."""


class Anova(NamedTuple):
    """An analysis of variance.

    Attributes
    ----------
    table
        One row per term, named by its factors ("A", "D", "A:D", ...), by number of factors; the last is ``residual``.
        Columns ``sum_sq``, ``df``, ``F`` and ``p``, the last two NaN for the residual.
    F, p
        Test of the whole model against the mean.
    df_model, df_residual
        Degrees of freedom of F.
    r_squared
        Fraction of the variance that the model explains.
    n
        Number of values used.
    """

    table: pd.DataFrame
    F: float
    p: float
    df_model: int
    df_residual: int
    r_squared: float
    n: int


def anova(frame: pd.DataFrame, value: str, factors: Sequence[str], kind: Kind = 2) -> Anova:
    """Analyse the variance of a value over all combinations of factors, with all interactions.

    Parameters
    ----------
    frame
        One row per value; rows without a value (NaN) are dropped. The design need not be balanced.
    value
        Column of the values.
    factors
        Columns of the factors, each taken as categorical.
    kind
        Type of the sums of squares: the terms that a term is adjusted for. 1: the terms before it. 2: all terms that do
        not contain it. 3: all other terms, each summing to zero over its factors' levels.

    Returns
    -------
    Anova
        A combination of levels without a value takes degrees of freedom from the terms that it leaves undetermined; a
        term without any left (or a factor with a single level) has df and sum_sq 0, F and p NaN. Without residual
        degrees of freedom (one value per combination) every F and p is NaN.

    Raises
    ------
    ValueError
        If there are no factors, no values, or the kind is not 1, 2 or 3.

    Examples
    --------
    >>> frame = pd.DataFrame({"a": [0, 0, 1, 1], "y": [1.0, 2.0, 4.0, 5.0]})
    >>> anova(frame, "y", ["a"]).table["sum_sq"].round(6).to_dict()
    {'a': 9.0, 'residual': 1.0}
    """
    if kind not in get_args(Kind) or not factors:
        raise ValueError(f"need one or more factors and kind 1, 2 or 3; got {list(factors)} and {kind!r}")
    used = frame.dropna(subset=[value])
    if used.empty:
        raise ValueError(f"no value in column {value!r}")
    cells = used.groupby(list(factors), observed=True)[value].agg(["mean", "size"])
    values, mean = used[value].to_numpy(np.float64), float(used[value].mean())
    # The full model fits every cell by its mean, so all fits can use the cell means, weighted by their counts.
    weights = np.sqrt(cells["size"].to_numpy(np.float64))
    means = weights * (cells["mean"].to_numpy(np.float64) - mean)
    total, explained = float(np.sum((values - mean) ** 2)), float(np.sum(means**2))
    residual, df_residual, df_model = max(total - explained, 0.0), len(used) - len(cells), len(cells) - 1
    designs = _designs(cells.index.to_frame(index=False), factors)

    def fit(terms: Sequence[Term]) -> tuple[float, int]:
        return _fit(np.hstack([np.ones((len(cells), 1)), *(designs[term] for term in terms)]), means, weights)

    rows = {}
    for term in designs:
        adjusted_for = [other for other in designs if _comes_first(other, term, list(designs), kind)]
        (less, rank_less), (more, rank_more) = fit(adjusted_for), fit([*adjusted_for, term])
        rows[":".join(name for name in factors if name in term)] = (more - less, rank_more - rank_less)
    rows["residual"] = residual, df_residual
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["sum_sq", "df"])
    table["F"], table["p"] = _f_test(table["sum_sq"].to_numpy(), table["df"].to_numpy(), residual, df_residual)
    table.loc["residual", ["F", "p"]] = np.nan
    overall = _f_test(np.array([explained]), np.array([df_model]), residual, df_residual)
    share = explained / total if total > 0 else float("nan")
    return Anova(table, float(overall[0][0]), float(overall[1][0]), df_model, df_residual, share, len(used))


def tukey_hsd(values: ArrayLike, groups: ArrayLike, alpha: float = 0.05) -> pd.DataFrame:
    """Compare the means of all pairs of groups by Tukey's honestly significant difference (Tukey-Kramer).

    Parameters
    ----------
    values : (n,)
        NaN values are dropped.
    groups : (n,)
        Name or number of each value's group.
    alpha
        Probability of any false rejection over all pairs.

    Returns
    -------
    DataFrame
        One row per pair, in sorted order: ``group1``, ``group2``, ``meandiff`` (mean of group2 minus that of group1),
        ``p_adj``, the interval ``lower`` to ``upper`` of the difference at 1 - alpha, and ``reject``. Empty for one
        group. Without residual degrees of freedom (one value per group) p and interval are NaN and nothing is rejected.

    Examples
    --------
    >>> pairs = tukey_hsd([1.0, 2.0, 3.0, 11.0, 12.0, 13.0], list("aaabbb"))
    >>> pairs[["group1", "group2", "meandiff", "reject"]].to_dict("records")
    [{'group1': 'a', 'group2': 'b', 'meandiff': 10.0, 'reject': True}]
    """
    frame = pd.DataFrame({"value": np.asarray(values, np.float64), "group": np.asarray(groups)}).dropna()
    grouped = frame.groupby("group")["value"]
    means, sizes, names = grouped.mean().to_numpy(), grouped.size().to_numpy(), grouped.mean().index
    number, df = len(names), len(frame) - len(names)
    mean_square = float(((frame["value"] - grouped.transform("mean")) ** 2).sum()) / df if df else float("nan")
    first, second = np.triu_indices(number, 1)
    difference = means[second] - means[first]
    error = np.sqrt(mean_square / 2 * (1 / sizes[first] + 1 / sizes[second]))
    with np.errstate(divide="ignore", invalid="ignore"):  # zero variance within groups
        p = studentized_range_sf(np.abs(difference) / error, number, df)
    half_width = (_studentized_range_isf(alpha, number, df) if number > 1 and df else np.nan) * error
    pairs = {"group1": names[first], "group2": names[second], "meandiff": difference, "p_adj": p}
    interval = {"lower": difference - half_width, "upper": difference + half_width}
    return pd.DataFrame({**pairs, **interval, "reject": p < alpha})


def studentized_range_sf(q: ArrayLike, groups: int, df: int) -> NDArray[np.float64]:
    """Return the probability that a studentized range exceeds q, to about 1e-11.

    SciPy's ``studentized_range.sf`` gives the same numbers, but integrates adaptively and for each q anew: two seconds
    for all pairs of 18 groups. This is one Gauss-Legendre rule in both variables, the standard deviation s of the mean
    of squares and the position z of the lowest mean::

        1 - integral ds f(s) integral dz k phi(z) [Phi(z) - Phi(z - q s)]^(k-1)

    Parameters
    ----------
    q : (n,)
        Ranges in units of the standard error; NaN gives NaN.
    groups
        Number of groups k, at least 2.
    df
        Degrees of freedom of the standard error; 0 gives NaN.
    """
    from scipy.special import gammainccinv, gammaincinv, gammaln, ndtr

    nodes, weights = _gauss_legendre(128)
    z, of_z = 8.5 * nodes, 8.5 * weights * np.exp(-((8.5 * nodes) ** 2) / 2) / np.sqrt(2 * np.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = np.sqrt(2 / np.float64(df) * np.array([gammaincinv(df / 2, 1e-17), gammainccinv(df / 2, 1e-17)]))
        nodes, weights = _gauss_legendre(96)
        s = low + (high - low) * (nodes + 1) / 2
        log_density = np.log(2) + df / 2 * np.log(df / 2) - gammaln(df / 2) + (df - 1) * np.log(s) - df * s**2 / 2
        of_s = (high - low) / 2 * weights * np.exp(log_density)
    between = ndtr(z) - ndtr(z - np.asarray(q, np.float64).reshape(-1, 1, 1) * s[:, None])
    return np.clip(1 - groups * (between ** (groups - 1) @ of_z) @ of_s, 0, 1)


def _studentized_range_isf(alpha: float, groups: int, df: int) -> float:
    """Return the studentized range that is exceeded with probability alpha."""
    from scipy.optimize import brentq

    def excess(q: float) -> float:
        return float(studentized_range_sf([q], groups, df)[0]) - alpha

    high = 1.0
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0, high))


def _designs(cells: pd.DataFrame, factors: Sequence[str]) -> dict[Term, NDArray[np.float64]]:
    """Return the columns (cells, df) of every term, in the order of a formula A*B*C: products of centred dummies."""
    dummies = {}
    for factor in factors:
        codes, levels = pd.factorize(cells[factor])
        centred = np.eye(len(levels)) - 1 / len(levels)
        dummies[factor] = centred[codes][:, 1:]
    terms: list[Term] = []
    for factor in factors:
        terms += [frozenset([factor]), *(term | {factor} for term in terms)]
    terms.sort(key=len)
    return {term: reduce(_products, [dummies[factor] for factor in factors if factor in term]) for term in terms}


def _products(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the products of every column of a with every column of b, (cells, columns of a * columns of b)."""
    return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)


def _comes_first(other: Term, term: Term, order: list[Term], kind: Kind) -> bool:
    """Return whether `term` is adjusted for `other`."""
    if kind == 1:
        return order.index(other) < order.index(term)
    return not term <= other if kind == 2 else other != term


def _fit(design: NDArray[np.float64], means: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, int]:
    """Return the sum of squares of the weighted cell means that a design explains, and its rank."""
    directions, sizes, _ = np.linalg.svd(weights[:, None] * design, full_matrices=False)
    rank = int(np.sum(sizes > RANK_TOLERANCE * sizes[0]))
    return float(np.sum((directions[:, :rank].T @ means) ** 2)), rank


def _f_test(
    sum_sq: NDArray[np.float64], df: NDArray[np.integer], residual: float, df_residual: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return F and its p value; NaN if either has no degrees of freedom."""
    from scipy.stats import f

    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(df > 0, sum_sq / df, np.nan) / (
            np.divide(residual, df_residual) if df_residual else np.nan
        )
    return statistic, f.sf(statistic, df, df_residual)
