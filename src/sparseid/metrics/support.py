"""Recovery of the true support (dependence of features on factors) by a selector matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.metrics.mcc import UNMATCHED, matching

THRESHOLD = 0.01
"""Selectors below this count as 0, as in the scripts of the Sparse VAE's authors."""

Values = NDArray[np.floating]


class SupportRecovery(NamedTuple):
    """Distance of the selectors from the truth.

    Attributes
    ----------
    mse
        Mean squared difference of the rows, each with absolute sum 1 (or 0), from those of the truth.
    hamming
        Number of entries that are zero in only one of the two.
    """

    mse: float
    hamming: float


def support_recovery(
    selector: Values, codes: Values, factors: Values, support: Values, slab_probability: Values | None = None
) -> SupportRecovery:
    """Compare selectors with the true support, latents matched with factors by their correlations.

    Selectors below 0.01, or more probably of the spike than of the slab, are 0; each row is divided by its absolute
    sum. Latents without a factor must have no features. The authors take for each factor the latent that correlates
    most with it, possibly the same one twice; here latents and factors are matched one to one.

    Parameters
    ----------
    selector
        (features, latents)
    codes
        (samples, latents)
    factors
        (samples, true factors)
    support
        (features, true factors) fraction of each factor in a feature; rows sum to 1.
    slab_probability
        (features, latents) probability of the slab, if the selector has one.

    Returns
    -------
    SupportRecovery
        NaN if selectors or codes are not finite.

    Examples
    --------
    >>> z = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> support_recovery(np.array([[0.0, 3.0], [-2.0, 0.001]]), z[:, ::-1], z, np.eye(2))
    SupportRecovery(mse=0.0, hamming=0.0)
    """
    permutation = matching(factors, codes).permutation
    if not np.isfinite(selector).all() or not np.isfinite(codes).all():
        return SupportRecovery(np.nan, np.nan)
    size = np.where(np.abs(selector) < THRESHOLD, 0.0, np.abs(selector))
    if slab_probability is not None:
        size = np.where(slab_probability < 0.5, 0.0, size)
    total = size.sum(axis=1, keepdims=True)
    shares = size / np.where(total > 0, total, 1)
    true = np.zeros((len(support), max(shares.shape[1], support.shape[1])))
    found = np.zeros_like(true)
    true[:, : support.shape[1]] = support
    matched = permutation[permutation != UNMATCHED]
    rest = np.setdiff1d(np.arange(shares.shape[1]), matched)
    found[:, np.flatnonzero(permutation != UNMATCHED)] = shares[:, matched]
    found[:, support.shape[1] : support.shape[1] + len(rest)] = shares[:, rest]
    return SupportRecovery(float(np.square(found - true).mean()), float(((found > 0) != (true > 0)).sum()))
