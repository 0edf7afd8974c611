"""Disentanglement, completeness and informativeness of codes: DCI (Eastwood and Williams 2018).

`dci` is for continuous factors, as by the authors of the Sparse VAE; `dci_of_classes` for factors that are classes, as
in disentanglement_lib. They differ in the trees that predict a factor, and in the measure of informativeness.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

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


class ClassDCI(NamedTuple):
    """The scores of DCI for factors that are classes; all are in [0, 1], higher is better.

    Attributes
    ----------
    disentanglement, completeness
        As in `DCI`.
    train_accuracy, test_accuracy
        Informativeness: accuracy of the predicted classes, averaged over factors. (disentanglement_lib calls them
        errors.)
    importance
        (codes, factors) importance of each code for the prediction of each factor.
    """

    disentanglement: float
    completeness: float
    train_accuracy: float
    test_accuracy: float
    importance: Values


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

    Examples
    --------
    >>> factors = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = dci(factors, factors, factors, factors, samples=40)
    >>> bool(found.disentanglement > 0.9)
    True
    """
    if not _comparable(train_codes, train_factors, test_codes, test_factors):
        return DCI(np.nan, np.nan, np.nan)
    if samples is not None:
        train, test = chosen_rows(len(train_codes), len(test_codes), samples)
        train_codes, train_factors = train_codes[train], train_factors[train]
        test_codes, test_factors = test_codes[test], test_factors[test]

    def boosted(true: Values) -> Any:
        return GradientBoostingRegressor(random_state=seed).fit(train_codes, true)

    importance, models = _importance(boosted, train_factors)
    errors = [
        np.square(model.predict(test_codes) - true).mean() for model, true in zip(models, test_factors.T, strict=True)
    ]
    return DCI(disentanglement(importance), completeness(importance), float(np.mean(errors)))


def dci_of_classes(
    train_codes: Values,
    train_factors: NDArray[np.integer],
    test_codes: Values,
    test_factors: NDArray[np.integer],
    seed: int = 0,
) -> ClassDCI:
    """Return DCI with importances from gradient boosting of classes, computed as in disentanglement_lib.

    Classes may be missing from the samples; a factor that is constant in the train samples needs no code.

    Parameters
    ----------
    train_codes, test_codes
        (n, codes) and (m, codes).
    train_factors, test_factors
        (n, factors) and (m, factors) classes of the true factors.
    seed
        Seed of the classification, which breaks ties at random (disentanglement_lib sets none).

    Returns
    -------
    ClassDCI
        NaN for codes that are not finite.

    Raises
    ------
    ValueError
        If codes and factors have different numbers of samples.

    Examples
    --------
    >>> factors = np.random.default_rng(0).integers(3, size=(60, 2))
    >>> scores = dci_of_classes(2.0 * factors, factors, 2.0 * factors, factors)
    >>> round(scores.disentanglement, 6), scores.test_accuracy
    (1.0, 1.0)
    """
    if not _comparable(train_codes, train_factors, test_codes, test_factors):
        return ClassDCI(np.nan, np.nan, np.nan, np.nan, np.full((train_codes.shape[1], train_factors.shape[1]), np.nan))

    def boosted(true: NDArray[np.integer]) -> Any:
        if (true == true[0]).all():
            return DummyClassifier().fit(train_codes, true)
        return GradientBoostingClassifier(random_state=seed).fit(train_codes, true)

    importance, models = _importance(boosted, train_factors)
    train, test = (
        float(np.mean([model.score(codes, true) for model, true in zip(models, factors.T, strict=True)]))
        for codes, factors in ((train_codes, train_factors), (test_codes, test_factors))
    )
    return ClassDCI(disentanglement(importance), completeness(importance), train, test, importance)


def _comparable(train_codes: Values, train_factors: Any, test_codes: Values, test_factors: Any) -> bool:
    """Return False for codes that are not finite; refuse codes and factors of different samples."""
    for codes, factors in ((train_codes, train_factors), (test_codes, test_factors)):
        if len(codes) != len(factors):
            raise ValueError(f"codes of {len(codes)} samples, factors of {len(factors)}")
    return bool(np.isfinite(train_codes).all() and np.isfinite(test_codes).all())


def _importance(fit: Callable[[Any], Any], factors: Any) -> tuple[Values, list[Any]]:
    """Return the importance (codes, factors) of each code for each factor, and the models that predict the factors."""
    models = [fit(true) for true in factors.T]
    columns = [np.abs(getattr(model, "feature_importances_", np.zeros(model.n_features_in_))) for model in models]
    return np.stack(columns, axis=1), models


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
