"""Recovery of the true dependency structure, up to the order of the latents (DDL, Theorem 2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

THRESHOLD = 0.1
"""Entries below this fraction of the largest in their row count as 0; the paper gives no value."""

Values = NDArray[np.floating]


class StructureRecovery(NamedTuple):
    """Agreement of the estimated support with the true one.

    Attributes
    ----------
    f1
        Harmonic mean of precision and recall of the edges; in [0, 1], 1 is perfect. 1 if neither has any edges.
    shd
        Structural Hamming distance: number of edges in only one of the two.
    """

    f1: float
    shd: float


def support_of(strength: Values, threshold: float = THRESHOLD) -> NDArray[np.bool_]:
    """Return the support (m, n) bool: dependence of each observation on each latent; False in a row of zeros.

    An L1 penalty yields small entries, not zeros: an entry counts from a fraction of the largest in its row.

    Parameters
    ----------
    strength
        (m, n) nonnegative strength of the dependence of observation k on latent i, in units in which latents can be
        compared, such as the mean absolute derivative times the latent's standard deviation.
    threshold
        That fraction.

    Examples
    --------
    >>> support_of(np.array([[2.0, 0.1], [0.0, 0.0]])).tolist()
    [[True, False], [False, False]]
    """
    return (strength >= threshold * strength.max(axis=1, keepdims=True)) & (strength > 0)


def structure_recovery(strength: Values, mask: ArrayLike) -> StructureRecovery:
    """Compare the support of an estimated Jacobian with the true mask, columns matched for the fewest differences.

    Parameters
    ----------
    strength
        (m, n) as in `support_of`.
    mask
        (m, n) of 0 and 1, the true structure.

    Returns
    -------
    StructureRecovery
        NaN if a strength is not finite.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> structure_recovery(np.array([[0.0, 2.0], [1.0, 0.01]]), np.eye(2))
    StructureRecovery(f1=1.0, shd=0.0)
    """
    true = np.asarray(mask) != 0
    if strength.shape != true.shape:
        raise ValueError(f"the estimated structure {strength.shape} and the mask {true.shape} must have the same shape")
    if not np.isfinite(strength).all():
        return StructureRecovery(np.nan, np.nan)
    found = support_of(strength)
    differences = (found[:, :, None] != true[:, None, :]).sum(axis=0)  # (estimated, true) columns
    shd = float(differences[linear_sum_assignment(differences)].sum())
    edges = int(found.sum() + true.sum())  # 2 TP + FP + FN
    return StructureRecovery(1 - shd / edges if edges else 1.0, shd)


def forbidden_entry(transition: Values, mask: ArrayLike) -> float:
    """Return the largest entry of a transition matrix that the true structure forbids.

    Let T be the derivative of the true latents with respect to the estimated ones. If both have the same dependency
    structure under the matching pi of latents, T[i, pi(j)] is zero unless every observation that depends on latent i
    also depends on latent j. pi is the matching with the largest sum of entries.

    Parameters
    ----------
    transition
        (n, n) nonnegative mean absolute entries of T, scaled to be comparable.
    mask
        (m, n) of 0 and 1, the true structure.

    Returns
    -------
    float
        NaN if the structure forbids no entry (for example if every observation depends on every latent), or if an
        entry is not finite.

    Raises
    ------
    ValueError
        If the numbers of latents differ.

    Examples
    --------
    >>> forbidden_entry(np.array([[0.0, 1.0], [1.0, 0.2]]), [[1, 0], [1, 1]])  # 0.0 is forbidden, 0.2 is not
    0.0
    """
    true = np.asarray(mask) != 0
    if transition.shape != (true.shape[1],) * 2:
        shapes = f"transition matrix {transition.shape} and mask {true.shape}"
        raise ValueError(f"{shapes} must have the same number of latents")
    contained = (true[:, :, None] <= true[:, None, :]).all(axis=0)  # (i, j): children of i are among those of j
    if not np.isfinite(transition).all() or contained.all():
        return np.nan
    _, matched = linear_sum_assignment(transition, maximize=True)
    return float(transition[:, matched][~contained].max())
