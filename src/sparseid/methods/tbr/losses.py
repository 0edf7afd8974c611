"""Loss and penalty of TBR (Eq. 4 with the L1 norm, App. A.4), one value per member of the stack."""

from __future__ import annotations

from torch import Tensor


def mean_squared_error(predictions: Tensor, labels: Tensor) -> Tensor:
    """Return (members,) the mean over the batch of the squared error; arguments (members, batch)."""
    return (predictions - labels).square().mean(dim=1)


def l1_penalty(deltas: Tensor, weight: Tensor) -> Tensor:
    """Return (members,) weight times the sum of absolute deltas.

    Parameters
    ----------
    deltas
        (members, arcs, latents)
    weight
        (members,) lambda.
    """
    return weight * deltas.abs().sum(dim=(1, 2))


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
