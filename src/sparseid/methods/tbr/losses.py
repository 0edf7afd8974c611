"""Loss and penalty of TBR (Eq. 4 with the L1 norm, App. A.4), one value per member of the stack."""

from __future__ import annotations

from torch import Tensor

TINY = 1e-12
"""Added to a variance, so that the root of a constant latent's has a gradient."""


def mean_squared_error(predictions: Tensor, labels: Tensor) -> Tensor:
    """Return (members,) the mean over the batch of the squared error; arguments (members, batch)."""
    return (predictions - labels).square().mean(dim=1)


def l1_penalty(deltas: Tensor, weight: Tensor, scale: Tensor | None = None) -> Tensor:
    """Return (members,) weight times the sum of absolute deltas, each in units of its latent where `scale` gives them.

    Parameters
    ----------
    deltas
        (members, arcs, latents)
    weight
        (members,) lambda.
    scale
        (members, latents) standard deviations of the latents. With them the penalty stays the same when a latent grows
        and its weights shrink; without them it falls, and training inflates the latents for ever.
    """
    absolute = deltas.abs().sum(dim=1)  # (members, latents)
    return weight * (absolute if scale is None else absolute * scale).sum(dim=1)


def latent_scale(latents: Tensor) -> Tensor:
    """Return (members, latents) the standard deviations over the batch of latents (members, batch, latents)."""
    return (latents.var(dim=1, correction=0) + TINY).sqrt()


def soft_threshold(values: Tensor, threshold: Tensor) -> Tensor:
    """Return values moved towards zero by the threshold, and exactly zero where they are smaller.

    That is the proximal step of the L1 norm: argmin over v of (v - value)^2 / 2 + threshold |v|.

    Examples
    --------
    >>> import torch
    >>> soft_threshold(torch.tensor([-3.0, 0.5, 2.0]), torch.tensor(1.0)).tolist()
    [-2.0, 0.0, 1.0]
    """
    return values - values.clamp(-threshold, threshold)
