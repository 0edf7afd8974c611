"""Reconstruction of a user's items from predicted probabilities: log loss, recall and NDCG of every row."""

from __future__ import annotations

import torch
from torch import Tensor

TINY = 1e-6
"""Added to a probability before its logarithm."""


def log_loss(probabilities: Tensor, counts: Tensor) -> Tensor:
    """Return the log loss (...,) of each row, - sum_j x_j log(p_j + 1e-6), in nats; 0 for an empty row.

    Parameters
    ----------
    probabilities, counts
        (..., items)

    Examples
    --------
    >>> round(log_loss(torch.tensor([0.5, 0.25, 0.25]), torch.tensor([2.0, 0.0, 1.0])).item(), 3)
    2.773
    """
    return -(counts * (probabilities + TINY).log()).sum(dim=-1)


def recall_at(scores: Tensor, targets: Tensor, length: int) -> Tensor:
    """Return the recall (...,) of each row: positives among its `length` highest scores / min(length, positives).

    Parameters
    ----------
    scores, targets
        (..., items); items with a target above 0 are positive.
    length
        Length of the list.

    Returns
    -------
    Tensor
        NaN for rows without positives or with a score that is not finite.

    Examples
    --------
    >>> recall_at(torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.0, 1.0, 1.0]), 2).item()
    0.5
    """
    positives = targets > 0
    hits = _listed(scores, positives, length).sum(dim=-1)
    return _defined(scores, positives, hits / positives.sum(dim=-1).clamp(max=length))


def ndcg_at(scores: Tensor, targets: Tensor, length: int) -> Tensor:
    """Return the normalised discounted cumulative gain (...,) of each row's list, with binary relevance.

    The gain of rank r is 1 / log2(r + 1) if its item is positive, divided by that of the best list.

    Parameters
    ----------
    scores, targets, length
        As in :func:`recall_at`, with NaN for the same rows.

    Examples
    --------
    >>> round(ndcg_at(torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.0, 1.0, 1.0]), 3).item(), 4)
    0.6934
    """
    positives = targets > 0
    listed = _listed(scores, positives, length)
    discounts = 1 / torch.arange(2, listed.shape[-1] + 2, device=scores.device, dtype=torch.float64).log2()
    best = discounts.cumsum(0)[positives.sum(dim=-1).clamp(1, len(discounts)) - 1]
    return _defined(scores, positives, (listed * discounts).sum(dim=-1) / best)


def _listed(scores: Tensor, positives: Tensor, length: int) -> Tensor:
    """Return (..., length) float64: 1 if the item of a rank is positive."""
    order = scores.topk(min(length, scores.shape[-1]), dim=-1).indices
    return positives.gather(-1, order).double()


def _defined(scores: Tensor, positives: Tensor, values: Tensor) -> Tensor:
    return torch.where(positives.any(dim=-1) & torch.isfinite(scores).all(dim=-1), values.double(), torch.nan)
