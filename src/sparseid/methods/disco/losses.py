"""Losses of DisCo, as in its authors' code, and the secant estimate of the dependency penalty."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, normalize

TINY = 1e-5
"""Added to probabilities before their logarithm."""


def variation(shifted: Tensor, plain: Tensor) -> Tensor:
    """Return the absolute differences of representations (batch, dims), scaled to unit length."""
    return normalize((shifted - plain).abs(), dim=1)


def contrastive_loss(queries: Tensor, positives: Tensor, negatives: Tensor, flipped_above: float) -> Tensor:
    """Return the cross-entropy of similarities: 1 with pairs of the same direction, 0 with those of others.

    A negative that is more similar than `flipped_above` gets its similarity as label, a constant: it may be a direction
    with the same effect. Negatives are constants.

    Parameters
    ----------
    queries, positives, negatives
        (any number, dims) variations of unit length.
    flipped_above
        Similarity above which labels of negatives are flipped.
    """
    alike, other = queries @ positives.T, queries @ negatives.detach().T
    flipped = torch.where(other > flipped_above, other, 0.0).detach()
    labels = torch.cat([torch.ones_like(alike), flipped], dim=1)
    return binary_cross_entropy_with_logits(torch.cat([alike, other], dim=1), labels)


def entropy_loss(queries: Tensor) -> Tensor:
    """Return the entropy of the softmax over dimensions of variations (batch, dims), averaged over the batch."""
    probabilities = queries.softmax(dim=1)
    return -(probabilities * (probabilities + TINY).log()).sum(dim=1).mean()


def secant_sparsity(plain: Tensor, shifted: Tensor, lengths: Tensor, directions: int) -> Tensor:
    """Return an estimate of the L1 norm of the Jacobian of images by all directions, averaged over pixels and batch.

    The images along a direction are differenced over the whole shift in place of derivatives.

    Parameters
    ----------
    plain, shifted
        (batch, ...) images before and after a shift along one direction each.
    lengths
        (batch,) signed lengths of the shifts.
    directions
        Number of directions, each equally likely.
    """
    changes = (shifted - plain).abs().flatten(1).mean(dim=1)
    return directions * (changes / lengths.abs()).mean()
