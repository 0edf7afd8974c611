"""Mean correlation coefficient (MCC): agreement of true and learned latents up to order, sign and scale.

The absolute correlations of true and learned latents are matched one to one so that their sum is largest (TBR,
Eq. 21; the printed "arg max" means the maximum). All functions take arrays, or torch tensors on any device, with
leading member axes: one call scores a whole stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

if TYPE_CHECKING:
    import torch

    Latents = NDArray[np.floating] | torch.Tensor | Sequence[Sequence[float]]

Kind = Literal["pearson", "spearman"]

UNMATCHED = -1
"""Marks "no learned latent" in a permutation."""

CONSTANT = 1e-12
"""A column whose standard deviation is at most this fraction of its mean counts as constant: the rest is rounding."""


class Matching(NamedTuple):
    """One-to-one matching of true and learned latents; leading axes are members.

    Attributes
    ----------
    permutation
        (..., k) int64: the learned latent matched with each true one; -1 if none is left (fewer learned latents
        than true ones) or the latents are not finite.
    signs
        (..., k): +1 or -1, the sign of the matched correlation (+1 for zero and without a match).
    correlation
        (..., k, m): signed correlations of true (rows) and learned latents (columns).
    """

    permutation: NDArray[np.int64]
    signs: NDArray[np.float64]
    correlation: NDArray[np.float64]

    @property
    def matched(self) -> NDArray[np.float64]:
        """Absolute correlation (..., k) of each true latent with its match; 0 without one."""
        column = np.maximum(self.permutation, 0)[..., None]
        found = np.abs(np.take_along_axis(self.correlation, column, axis=-1)[..., 0])
        known = np.asarray(np.isfinite(self.correlation).all(axis=(-2, -1)))[..., None]
        return np.where(~known, np.nan, np.where(self.permutation == UNMATCHED, 0.0, found))


def mcc(truth: Latents, estimate: Latents, kind: Kind = "pearson") -> float:
    """Return the mean over true latents of the absolute correlation with the matched learned latent.

    Parameters
    ----------
    truth
        (n, k) true latents.
    estimate
        (n, m) learned latents.
    kind
        ``pearson``, or ``spearman``: correlation of ranks (ties get their mean rank).

    Returns
    -------
    float
        In [0, 1], 1 if every true latent equals a different learned one up to sign and scale. The mean is always over
        the k true latents: with m < k the k - m latents without a partner count 0, with m > k the surplus learned
        latents are ignored. A constant column has correlation 0 with every other. NaN if a value is not finite.

    Raises
    ------
    ValueError
        If there are no latents, fewer than two samples, or different numbers of samples.

    Examples
    --------
    >>> z = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> mcc(z, np.stack([-3 * z[:, 1], 2 * z[:, 0] + 5], axis=1))
    1.0
    >>> round(mcc(z, z[:, :1]), 3)  # one learned latent, two true ones
    0.5
    """
    return float(mcc_of_members(truth, estimate, kind))


def mcc_of_members(truth: Latents, estimate: Latents, kind: Kind = "pearson") -> NDArray[np.float64]:
    """Return the MCC (...,) of each member, for latents (..., n, k) and (..., n, m); otherwise as :func:`mcc`."""
    return matching(truth, estimate, kind).matched.mean(axis=-1)


def matching(truth: Latents, estimate: Latents, kind: Kind = "pearson") -> Matching:
    """Match true and learned latents one to one so that the sum of absolute correlations is largest.

    Parameters
    ----------
    truth
        (..., n, k) true latents; leading axes are members and broadcast with those of `estimate`.
    estimate
        (..., n, m) learned latents.
    kind
        As in :func:`mcc`.

    Raises
    ------
    ValueError
        As in :func:`mcc`.

    Examples
    --------
    >>> z = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> found = matching(z, np.stack([-3 * z[:, 1], 2 * z[:, 0] + 5], axis=1))
    >>> found.permutation.tolist(), found.signs.tolist()
    ([1, 0], [1.0, -1.0])
    """
    correlation = correlations(truth, estimate, kind)
    *members, k, _ = correlation.shape
    permutation = np.full((*members, k), UNMATCHED)
    for member in np.ndindex(*members):
        if np.isfinite(correlation[member]).all():
            rows, columns = linear_sum_assignment(np.abs(correlation[member]), maximize=True)
            permutation[member][rows] = columns
    signed = np.take_along_axis(correlation, np.maximum(permutation, 0)[..., None], axis=-1)[..., 0]
    signs = np.where((signed < 0) & (permutation != UNMATCHED), -1.0, 1.0)
    return Matching(permutation, signs, correlation)


def correlations(truth: Latents, estimate: Latents, kind: Kind = "pearson") -> NDArray[np.float64]:
    """Return the signed correlations (..., k, m) of columns; arguments and errors are those of :func:`matching`.

    Computed in double precision, on the device of the tensors (ranks: on the CPU).
    """
    _check(truth, estimate, kind)
    if kind == "spearman":
        truth, estimate = _ranks(truth), _ranks(estimate)
    a, b = _unit_columns(truth), _unit_columns(estimate)
    product = a.swapaxes(-1, -2) @ b  # (..., k, n) @ (..., n, m)
    return np.clip(_on_cpu(product), -1, 1)


def _check(truth: Latents, estimate: Latents, kind: str) -> None:
    if kind not in ("pearson", "spearman"):
        raise ValueError(f"kind must be pearson or spearman, got {kind!r}")
    shapes = [tuple(np.shape(values)) for values in (truth, estimate)]  # of tensors, too, wherever they are
    if min(map(len, shapes)) < 2:
        raise ValueError(f"latents must be tables (samples, latents); got the shapes {shapes[0]} and {shapes[1]}")
    (n, k), (n_too, m) = (shape[-2:] for shape in shapes)
    if n != n_too or n < 2 or not k or not m:
        text = f"need two or more samples of one or more latents, the same number in both; got {n} x {k} and "
        raise ValueError(text + f"{n_too} x {m}")


def _unit_columns(latents: Any) -> Any:
    """Return the columns centred and scaled to length 1, in double precision; constant columns become 0."""
    values = latents.double() if hasattr(latents, "double") else np.asarray(latents, np.float64)
    means = values.mean(axis=-2, keepdims=True)
    with np.errstate(invalid="ignore"):  # infinite values become NaN
        centred = values - means
    length = (centred**2).sum(axis=-2, keepdims=True) ** 0.5
    constant = length <= CONSTANT * abs(means) * values.shape[-2] ** 0.5
    return centred * ~constant / (length + constant)


def _ranks(latents: Any) -> NDArray[np.float64]:
    values = _on_cpu(latents)
    ranks = rankdata(values, axis=-2)
    return np.where(np.isfinite(values).all(axis=(-2, -1), keepdims=True), ranks, np.nan)


def _on_cpu(values: Any) -> NDArray[Any]:
    return values.detach().cpu().numpy() if hasattr(values, "detach") else np.asarray(values)
