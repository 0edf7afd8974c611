"""Disentanglement, completeness and informativeness of codes: DCI (Eastwood and Williams 2018)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingRegressor

TINY = 1e-11
"""Added to importances before their entropy."""
ROWS_SEED = 42
"""Seed of NumPy's legacy generator, which chooses the samples of the published evaluation."""

Values = NDArray[np.floating]


class DCI(NamedTuple):
    """The three scores of DCI.

    Attributes
    ----------
    disentanglement, completeness
        In [0, 1], higher is better.
    informativeness
        Mean squared error of the factors predicted on the test samples, averaged over factors; lower is better.
    """

    disentanglement: float
    completeness: float
    informativeness: float


def dci(
    train_codes: Values,
    train_factors: Values,
    test_codes: Values,
    test_factors: Values,
    samples: int | None = None,
    seed: int = 0,
) -> DCI:
    """Return DCI with importances from gradient boosting, computed as by the authors of the Sparse VAE.

    Parameters
    ----------
    train_codes, test_codes
        (n, codes) and (m, codes).
    train_factors, test_factors
        (n, factors) and (m, factors) true factors.
    samples
        Number of train and of test samples to use, or None for all; the published evaluation uses 16 and is very noisy.
    seed
        Seed of the regression, which breaks ties at random.

    Returns
    -------
    DCI
        NaN for codes that are not finite.

    Raises
    ------
    ValueError
        If codes and factors have different numbers of samples.
    """
    for codes, factors in ((train_codes, train_factors), (test_codes, test_factors)):
        if len(codes) != len(factors):
            raise ValueError(f"codes of {len(codes)} samples, factors of {len(factors)}")
    if not (np.isfinite(train_codes).all() and np.isfinite(test_codes).all()):
        return DCI(np.nan, np.nan, np.nan)
    if samples is not None:
        train, test = chosen_rows(len(train_codes), len(test_codes), samples)
        train_codes, train_factors = train_codes[train], train_factors[train]
        test_codes, test_factors = test_codes[test], test_factors[test]
    columns, errors = [], []
    for true, held_out in zip(train_factors.T, test_factors.T, strict=True):
        model = GradientBoostingRegressor(random_state=seed).fit(train_codes, true)
        columns.append(np.abs(model.feature_importances_))
        errors.append(np.square(model.predict(test_codes) - held_out).mean())
    importance = np.stack(columns, axis=1)
    return DCI(disentanglement(importance), completeness(importance), float(np.mean(errors)))


def chosen_rows(train: int, test: int, samples: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the published evaluation: `samples` of each set without replacement, or all if it has fewer.

    Examples
    --------
    >>> [len(rows) for rows in chosen_rows(100, 10, 16)]
    [16, 10]
    """
    generator = np.random.RandomState(ROWS_SEED)
    return (
        generator.choice(train, min(samples, train), replace=False).astype(np.int64),
        generator.choice(test, min(samples, test), replace=False).astype(np.int64),
    )


def disentanglement(importance: Values) -> float:
    """Return the mean over codes, weighted by their importance, of 1 - the entropy of a code's factors.

    Parameters
    ----------
    importance
        (codes, factors), at least 0.

    Returns
    -------
    float
        1 if every code is important for one factor only, 0 if each is equally important for all factors or
        unimportant for all. 1 with a single factor.

    Examples
    --------
    >>> round(disentanglement(np.array([[1.0, 0.0], [0.0, 3.0], [0.0, 0.0]])), 6)
    1.0
    >>> round(disentanglement(np.array([[1.0, 1.0], [2.0, 2.0]])), 6)
    0.0
    """
    return _concentration(importance)


def completeness(importance: Values) -> float:
    """Return the mean over factors, weighted by importance, of 1 - the entropy of a factor's codes.

    Parameters
    ----------
    importance
        (codes, factors), at least 0.
    """
    return _concentration(importance.T)


def _concentration(rows: Values) -> float:
    """Return the weighted mean over rows of 1 - entropy to the base of the number of columns."""
    weights = rows.sum(axis=1)
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(rows), 1 / len(rows))
    shares = rows + TINY
    shares = shares / shares.sum(axis=1, keepdims=True)
    scale = np.log(rows.shape[1]) if rows.shape[1] > 1 else 1.0
    return float(weights @ (1 + (shares * np.log(shares)).sum(axis=1) / scale))
