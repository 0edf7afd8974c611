"""Error of average treatment effects: least squares on learned latents against least squares on the true ones.

TBR, section 4 and Table 3. In a linear model the effect of raising a latent by one unit is its coefficient, so within
an environment the label is regressed on the true and on the learned latents, and the absolute coefficients of matched
latents are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparseid.metrics.mcc import CONSTANT, UNMATCHED, matching

Standardise = Literal["pooled", "within"]

RANK_TOLERANCE = 1e-10
"""Singular values below this fraction of the largest count as 0 (latents collinear or constant in an environment)."""


def ate_errors(
    truth: NDArray[np.floating],
    estimate: NDArray[np.floating],
    labels: NDArray[np.floating],
    environments: NDArray[np.integer],
    chosen: Sequence[int],
    standardise: Standardise = "pooled",
    intercept: bool = True,
) -> NDArray[np.float64]:
    """Return the mean squared error of absolute treatment effects in each chosen environment.

    Parameters
    ----------
    truth
        (..., n, k) true latents; leading axes are members.
    estimate
        (..., n, m) learned latents, matched with the true ones by the MCC of all n samples.
    labels
        (..., n) labels.
    environments
        (n,) the environment of each sample, the same for every member.
    chosen
        Environments to report.
    standardise
        Samples over which a latent is scaled to mean 0 and standard deviation 1 (ddof 0): all n (``pooled``) or those
        of the environment (``within``).
    intercept
        Whether the regression has an intercept; the latents are centred either way.

    Returns
    -------
    NDArray
        (..., chosen): the mean over the k true latents of the squared difference between the absolute coefficients of
        the matched and of the true latent. A latent that is constant or has no match has coefficient 0.
        NaN for members with a value that is not finite.

    Raises
    ------
    ValueError
        If a chosen environment has no sample, or as :func:`sparseid.metrics.mcc.matching`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(200, 2))
    >>> y, e = z @ [1.0, -2.0], np.repeat([0, 1], 100)
    >>> bool(np.allclose(ate_errors(z, -5 * z[:, ::-1], y, e, [0, 1]), 0))  # order, sign and scale do not count
    True
    """
    if standardise not in ("pooled", "within"):
        raise ValueError(f"standardise must be pooled or within, got {standardise!r}")
    permutation = matching(truth, estimate).permutation
    finite = np.isfinite(labels).all(axis=-1) & (permutation != UNMATCHED).any(axis=-1)
    truth, estimate = (np.where(finite[..., None, None], latents, 0.0) for latents in (truth, estimate))
    labels = np.where(finite[..., None], labels, 0.0)
    if standardise == "pooled":
        truth, estimate = standardised(truth), standardised(estimate)
    errors = []
    for environment in chosen:
        here = environments == environment
        if not here.any():
            raise ValueError(f"environment {environment} has no sample")
        pair = truth[..., here, :], estimate[..., here, :]
        if standardise == "within":
            pair = standardised(pair[0]), standardised(pair[1])
        true, learned = (treatment_effects(latents, labels[..., here], intercept) for latents in pair)
        matched = np.take_along_axis(learned, np.maximum(permutation, 0), axis=-1)
        matched = np.where(permutation == UNMATCHED, 0.0, matched)
        errors.append(np.mean((np.abs(matched) - np.abs(true)) ** 2, axis=-1))
    return np.where(finite[..., None], np.stack(errors, axis=-1), np.nan)


def treatment_effects(
    latents: NDArray[np.floating], labels: NDArray[np.floating], intercept: bool = True
) -> NDArray[np.float64]:
    """Return the least-squares coefficients of labels on latents.

    Parameters
    ----------
    latents
        (..., n, k).
    labels
        (..., n).
    intercept
        Whether to fit a constant as well (not returned).

    Returns
    -------
    NDArray
        (..., k): of several solutions (collinear or constant latents) the one of minimum norm.

    Examples
    --------
    >>> treatment_effects(np.array([[0.0], [1.0], [2.0]]), np.array([5.0, 8.0, 11.0])).round(6).tolist()
    [3.0]
    """
    x, y = np.asarray(latents, np.float64), np.asarray(labels, np.float64)[..., None]
    if intercept:  # equals a column of ones, but with minimum norm in the coefficients returned
        x, y = x - x.mean(axis=-2, keepdims=True), y - y.mean(axis=-2, keepdims=True)
    return (np.linalg.pinv(x, RANK_TOLERANCE) @ y)[..., 0]


def standardised(latents: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return columns (..., n, k) with mean 0 and standard deviation 1 (ddof 0) over n; constant columns become 0."""
    values = np.asarray(latents, np.float64)
    mean, spread = values.mean(axis=-2, keepdims=True), values.std(axis=-2, keepdims=True)
    constant = spread <= CONSTANT * np.abs(mean)
    return np.where(constant, 0.0, (values - mean) / np.where(constant, 1.0, spread))
