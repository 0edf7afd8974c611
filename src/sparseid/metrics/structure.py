"""How well an estimated dependency structure is the true one, up to the order of the latents (DDL, Theorem 2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

THRESHOLD = 0.1
"""Share of the largest entry of a row below which an entry is taken for 0; the paper does not say."""

Values = NDArray[np.floating]


class StructureRecovery(NamedTuple):
    """How near the estimated support is to the true one.

    Attributes
    ----------
    f1
        Harmonic mean of the shares of estimated and of true edges that are right; in [0, 1], 1 is perfect. 1 if there
        are no edges in either.
    shd
        Structural Hamming distance: edges that are in one of them only.
    """

    f1: float
    shd: float


def support_of(strength: Values, threshold: float = THRESHOLD) -> NDArray[np.bool_]:
    """Return (m, n) bool, which observation depends on which latent; a row of zeros depends on none.

    An L1 penalty makes small entries and no zeros: an entry counts from a share of the largest of its row on.

    Parameters
    ----------
    strength
        (m, n) nonnegative: how strongly observation k depends on latent i, in units in which latents can be compared,
        such as the mean absolute derivative times the latent's standard deviation.
    threshold
        That share.

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
        If the two differ in shape.

    Examples
    --------
    >>> structure_recovery(np.array([[0.0, 2.0], [1.0, 0.01]]), np.eye(2))
    StructureRecovery(f1=1.0, shd=0.0)
    """
    true = np.asarray(mask) != 0
    if strength.shape != true.shape:
        raise ValueError(f"an estimated structure {strength.shape} is compared with a mask {true.shape}")
    if not np.isfinite(strength).all():
        return StructureRecovery(np.nan, np.nan)
    found = support_of(strength)
    differences = (found[:, :, None] != true[:, None, :]).sum(axis=0)  # (estimated, true) columns
    shd = float(differences[linear_sum_assignment(differences)].sum())
    edges = int(found.sum() + true.sum())  # 2 TP + FP + FN
    return StructureRecovery(1 - shd / edges if edges else 1.0, shd)


def forbidden_entry(transition: Values, mask: ArrayLike) -> float:
    """Return the largest entry of a transition matrix that the true structure forbids.

    Let T be the derivative of the true latents by the estimated ones. Where both have the same dependency structure
    under the matching pi of latents, T[i, pi(j)] is zero unless every observation that depends on latent i depends on
    latent j as well. pi is the matching of the largest sum of entries.

    Parameters
    ----------
    transition
        (n, n) nonnegative: mean absolute entries of T, scaled so that they can be compared.
    mask
        (m, n) of 0 and 1, the true structure.

    Returns
    -------
    float
        NaN if the structure forbids nothing, as if every observation depends on every latent, or if an entry is not
        finite.

    Raises
    ------
    ValueError
        If there are not as many latents in one as in the other.

    Examples
    --------
    >>> forbidden_entry(np.array([[0.0, 1.0], [1.0, 0.2]]), [[1, 0], [1, 1]])  # 0.0 is forbidden, 0.2 is not
    0.0
    """
    true = np.asarray(mask) != 0
    if transition.shape != (true.shape[1],) * 2:
        raise ValueError(f"a transition matrix {transition.shape} cannot belong to a mask {true.shape}")
    contained = (true[:, :, None] <= true[:, None, :]).all(axis=0)  # (i, j): children of i are among those of j
    if not np.isfinite(transition).all() or contained.all():
        return np.nan
    _, matched = linear_sum_assignment(transition, maximize=True)
    return float(transition[:, matched][~contained].max())
