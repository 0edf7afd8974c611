"""Losses of sparse autoencoders, means over tokens and entries."""

from __future__ import annotations

from torch import Tensor


def squared_error(reconstructions: Tensor, targets: Tensor) -> Tensor:
    """Return the mean squared error of reconstructions (tokens, width)."""
    return (reconstructions - targets).square().mean()


def idle_error(from_idle: Tensor | None, reconstructions: Tensor, targets: Tensor) -> Tensor:
    """Return the error with which idle features reconstruct what the others have left.

    Its gradient brings features back that no token uses (BatchTopK's code calls it the auxiliary loss).

    Parameters
    ----------
    from_idle
        (tokens, width) reconstruction by idle features; None without any, and then the error is 0.
    reconstructions, targets
        (tokens, width)
    """
    if from_idle is None:
        return targets.new_zeros(())
    return squared_error(from_idle, targets - reconstructions)


def ramp(step: int, steps: float) -> float:
    """Return the factor of a weight that rises linearly from 0 to 1 in the first `steps` steps.

    Examples
    --------
    >>> ramp(5, 20), ramp(20, 20), ramp(0, 0)
    (0.25, 1.0, 1.0)
    """
    return min(1.0, step / steps) if steps > 0 else 1.0
