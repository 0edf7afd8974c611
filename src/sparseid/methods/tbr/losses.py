"""Loss and penalty of TBR (Eq. 4 with the L1 norm, App. A.4), one value per member of the stack."""

from __future__ import annotations

from torch import Tensor

TINY = 1e-12
"""Added to a variance, so that the standard deviation of a constant latent has a gradient."""


def mean_squared_error(predictions: Tensor, labels: Tensor) -> Tensor:
    """Return the mean squared error (members,) over the batch; arguments (members, batch)."""
    return (predictions - labels).square().mean(dim=1)


def l1_penalty(deltas: Tensor, weight: Tensor, scale: Tensor | None = None) -> Tensor:
    """Return the weighted sum (members,) of absolute deltas, optionally in units of their latents.

    Parameters
    ----------
    deltas
        (members, arcs, latents)
    weight
        Weight lambda, (members,).
    scale
        (members, latents) standard deviations of the latents. With them the penalty does not change when a latent grows
        and its weights shrink; without them it decreases, and training scales the latents up without bound.
    """
    absolute = deltas.abs().sum(dim=1)  # (members, latents)
    return weight * (absolute if scale is None else absolute * scale).sum(dim=1)


def latent_scale(latents: Tensor) -> Tensor:
    """Return the standard deviations (members, latents) over the batch of latents (members, batch, latents)."""
    return (latents.var(dim=1, correction=0) + TINY).sqrt()


def soft_threshold(values: Tensor, threshold: Tensor) -> Tensor:
    """Return values shrunk towards zero by the threshold; smaller values become exactly zero.

    This is the proximal step of the L1 norm: argmin over v of (v - value)^2 / 2 + threshold |v|.

    Examples
    --------
    >>> import torch
    >>> soft_threshold(torch.tensor([-3.0, 0.5, 2.0]), torch.tensor(1.0)).tolist()
    [-2.0, 0.0, 1.0]
    """
    return values - values.clamp(-threshold, threshold)
