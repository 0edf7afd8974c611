"""FactorVAE score (Kim and Mnih 2018), computed as in disentanglement_lib.

A vote is a batch of observations in which one factor is the same for all. It goes to the dimension of the code that
varies least in the batch, relative to its variance over the data. A majority classifier, from dimensions to factors, is
fitted to some votes and scored on others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAST_SD = 0.05
"""Dimensions with a smaller standard deviation over the data are inactive (disentanglement_lib's three users)."""
CHUNK = 1000
"""Number of votes whose codes are looked up at a time."""

Values = NDArray[np.floating]
Numbers = NDArray[np.integer]


class Votes(NamedTuple):
    """Votes: what each needs to know of its batch of codes.

    Attributes
    ----------
    variances
        (votes, dims) variance of each dimension in the batch, with one degree of freedom less than its size.
    factors
        (votes,) the factor that is the same for all of the batch.
    """

    variances: Values
    factors: Numbers


class FactorVAEScore(NamedTuple):
    """FactorVAE score.

    Attributes
    ----------
    train_accuracy, eval_accuracy
        Accuracy of the majority classifier on the votes that it is fitted to and on the others, whose value is the
        score. 0 without an active dimension; NaN for codes that are not finite.
    active
        (dims,) bool: the dimensions that can be voted for.
    votes
        (factors, dims) number of votes to fit the classifier.
    """

    train_accuracy: float
    eval_accuracy: float
    active: NDArray[np.bool_]
    votes: NDArray[np.int64]


def votes_of(batches: Values, factors: Numbers) -> Votes:
    """Return the votes of batches of codes.

    Parameters
    ----------
    batches
        (votes, batch, dims) codes; two or more in a batch.
    factors
        (votes,) the factor that is the same for all of a batch.
    """
    return Votes(_variances(batches), np.asarray(factors))


def looked_up_votes(codes: Values, index: Numbers, factors: Numbers) -> Votes:
    """Return the votes of batches whose codes are rows of a table, so that each observation is encoded once only.

    Parameters
    ----------
    codes
        (points, dims) codes of observations.
    index
        (votes, batch) rows of each vote's batch.
    factors
        (votes,) the factor that is the same for all of a batch.
    """
    parts = [_variances(codes[index[start : start + CHUNK]]) for start in range(0, len(index), CHUNK)]
    return Votes(np.concatenate(parts), np.asarray(factors))


def code_variances(codes: Values) -> Values:
    """Return the variance (dims,) of codes (samples, dims) over the data, as `factor_vae_score` needs it."""
    return _variances(codes[None])[0]


def factor_vae_score(
    train: Votes, evaluation: Votes, variances: Values, factors: int | None = None, least_sd: float = LEAST_SD
) -> FactorVAEScore:
    """Return the FactorVAE score of votes.

    Parameters
    ----------
    train, evaluation
        Votes to fit the classifier, and votes to score it.
    variances
        (dims,) variance of the codes over the data, see `code_variances`.
    factors
        Number of factors; by default that of the factors which occur.
    least_sd
        Standard deviation over the data below which a dimension is inactive.

    Examples
    --------
    >>> votes = Votes(variances=1 - np.eye(3), factors=np.arange(3))
    >>> score = factor_vae_score(votes, votes, variances=np.ones(3))
    >>> score.eval_accuracy, int(score.active.sum())
    (1.0, 3)
    """
    known = factors or 1 + int(max(train.factors.max(), evaluation.factors.max()))
    parts = (variances, train.variances, evaluation.variances)
    active = np.sqrt(variances) >= least_sd
    if not all(np.isfinite(part).all() for part in parts):
        return FactorVAEScore(np.nan, np.nan, active, np.zeros((known, len(variances)), int))
    if not active.any():
        return FactorVAEScore(0.0, 0.0, active, np.zeros((known, len(variances)), int))
    fitted, scored = (_counts(votes, variances, active, known) for votes in (train, evaluation))
    majority = fitted.argmax(axis=0)
    train_accuracy, eval_accuracy = (
        float(counts[majority, np.arange(len(active))].sum() / counts.sum()) for counts in (fitted, scored)
    )
    return FactorVAEScore(train_accuracy, eval_accuracy, active, fitted)


def _variances(batches: Values) -> Values:
    """Return the variances (votes, dims) of batches (votes, batch, dims)."""
    return np.var(np.asarray(batches, dtype=np.float64), axis=1, ddof=1)


def _counts(votes: Votes, variances: Values, active: NDArray[np.bool_], factors: int) -> NDArray[np.int64]:
    """Return the number of votes (factors, dims)."""
    chosen = np.flatnonzero(active)[(votes.variances[:, active] / variances[active]).argmin(axis=1)]
    counts = np.zeros((factors, len(variances)), np.int64)
    np.add.at(counts, (votes.factors, chosen), 1)
    return counts
