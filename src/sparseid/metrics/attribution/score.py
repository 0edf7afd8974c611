"""Scores of an attribution map against the features that each latent acts on: area under the ROC curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from sparseid.metrics.attribution.inverse import inverted
from sparseid.metrics.tensors import as_tensor

if TYPE_CHECKING:
    from torch import Tensor

Rows = slice | Sequence[int]
ALL_ROWS = slice(None)


def attribution_auc(maps: ArrayLike, truth: ArrayLike, rows: Rows = ALL_ROWS) -> NDArray[np.float64]:
    """Return the area under the ROC curve of the entries of each map, all rows together (RegCL, appendix B.1).

    This is the fraction of pairs (connected, not connected) in which the connected entry is larger; ties count one
    half.

    Parameters
    ----------
    maps
        (..., outputs, D): larger means "depends more"; leading axes are members.
    truth
        (outputs, D) bool, or one per member: whether the latent acts on the feature.
    rows
        Rows of map and truth that are scored.

    Returns
    -------
    NDArray
        (...,) in [0, 1], a float for one map. NaN if the rows hold only one of the two kinds of entries, or a value of
        the map is NaN.

    Raises
    ------
    ValueError
        If map and truth have different outputs or features, or the truth is not boolean.

    Examples
    --------
    >>> float(attribution_auc([[0.1, 0.9, 0.5]], [[False, True, True]]))
    1.0
    >>> float(attribution_auc([[0.5, 0.5, 0.5]], [[False, True, True]]))
    0.5
    """
    values, connected = _block(maps, truth, rows)
    ranks = np.where(np.isnan(values).any(axis=-1, keepdims=True), np.nan, rankdata(values, axis=-1))
    positives = connected.sum(axis=-1)
    negatives = connected.shape[-1] - positives
    above = np.where(connected, ranks, 0.0).sum(axis=-1) - positives * (positives + 1) / 2
    with np.errstate(invalid="ignore"):  # only one kind of entries: 0 / 0
        return above / (positives * negatives)


def map_statistics(maps: ArrayLike, truth: ArrayLike, rows: Rows = ALL_ROWS) -> dict[str, NDArray[np.float64]]:
    """Return statistics of the connected and other entries of a map, and the gaps between them.

    Arguments and errors are those of :func:`attribution_auc`.

    Returns
    -------
    dict
        Each (...,): ``max``, ``mean`` and ``min`` followed by ``_connected`` and ``_nonconnected``; ``max_jacobian``
        and ``min_jacobian`` over all entries; ``gap_max``, ``gap_mean`` and ``gap_min``, connected minus not connected;
        ``gap_minmax``, the smallest connected minus the largest other entry. NaN without such entries.

    Examples
    --------
    >>> float(map_statistics([[0.1, 0.9, 0.5]], [[False, True, True]])["gap_minmax"])
    0.4
    """
    values, connected = _block(maps, truth, rows)
    result = {"max_jacobian": values.max(axis=-1), "min_jacobian": values.min(axis=-1)}
    for name, chosen in (("connected", connected), ("nonconnected", ~connected)):
        some, unknown = chosen.any(axis=-1), np.isnan(values).any(axis=-1)
        lost = ~some | unknown
        result[f"max_{name}"] = np.where(lost, np.nan, np.where(chosen, values, -np.inf).max(axis=-1))
        result[f"min_{name}"] = np.where(lost, np.nan, np.where(chosen, values, np.inf).min(axis=-1))
        total = np.where(chosen, values, 0.0).sum(axis=-1)
        result[f"mean_{name}"] = np.where(lost, np.nan, total / np.maximum(chosen.sum(axis=-1), 1))
    for kind in ("max", "mean", "min"):
        result[f"gap_{kind}"] = result[f"{kind}_connected"] - result[f"{kind}_nonconnected"]
    result["gap_minmax"] = result["min_connected"] - result["max_nonconnected"]
    return result


def minimum_norm_auc(
    jacobians: Tensor | NDArray[np.floating], truth: ArrayLike, rows: Rows = ALL_ROWS
) -> NDArray[np.float64]:
    """Return the AUC of a generator's minimum-norm inverse, the limit of a regularised encoder, without training.

    Encoders that invert the generator g have J_f J_g = 1; among them the Jacobian penalty selects the one of minimum
    norm, J_f = J_g^+ (RegCL, theorem 2). Its mean absolute value over samples is scored. This is the limit of the
    *neuron gradient* of every regularised model; the limit of its inverted Jacobian is J_g itself, whose AUC is 1.

    Parameters
    ----------
    jacobians
        (..., samples, D, d): Jacobians of the generator that maps d latents to D features; leading axes are members.
    truth, rows
        As in :func:`attribution_auc`; the rows are latents.

    Returns
    -------
    NDArray
        (...,) in [0, 1].

    Examples
    --------
    >>> mixing = np.array([[[1.0, 0.0], [1.0, 1.0]]])  # the second feature mixes both latents
    >>> truth = [[True, True], [False, True]]
    >>> float(minimum_norm_auc(mixing, truth, rows=[1]))  # its inverse subtracts the first feature as much
    0.5
    """
    encoders = inverted(as_tensor(jacobians).mT)  # (..., samples, d, D): the pseudo-inverse itself
    return attribution_auc(encoders.abs().mean(dim=-3).cpu().numpy(), truth, rows)


def _block(maps: ArrayLike, truth: ArrayLike, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the entries (..., n) of the scored rows, and whether each is connected."""
    values, connected = np.asarray(maps, np.float64), np.asarray(truth)
    if connected.dtype != bool:
        raise ValueError(f"truth must be boolean, got {connected.dtype}")
    if values.ndim < 2 or values.shape[-2:] != connected.shape[-2:]:
        raise ValueError(f"map and truth must have the same outputs and features: {values.shape}, {connected.shape}")
    chosen = rows if isinstance(rows, slice) else list(rows)
    values, connected = np.broadcast_arrays(values[..., chosen, :], connected[..., chosen, :])
    flat = (*values.shape[:-2], -1)
    return values.reshape(flat), connected.reshape(flat)
