"""The evidence lower bound of a stack's autoencoders, one value per member."""

from __future__ import annotations

from torch import Tensor

from sparseid.methods.sparse_vae.losses import standard_divergence


def squared_error(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return (members,) the sum over features of squared differences, a mean over the batch.

    Parameters
    ----------
    outputs, targets
        (members, batch, features)
    """
    return (outputs - targets).square().sum(dim=2).mean(dim=1)


def negative_elbo(outputs: Tensor, targets: Tensor, mean: Tensor, log_variance: Tensor, beta: float) -> Tensor:
    """Return (members,) squared error plus beta times the divergence of the posterior from a standard normal.

    Parameters
    ----------
    outputs, targets
        (members, batch, features)
    mean, log_variance
        (members, batch, latents) of the posterior; the divergence is summed over latents and averaged over the batch.
    beta
        Its weight; the squared error is that of a Gaussian of variance 1/2.
    """
    return squared_error(outputs, targets) + beta * standard_divergence(mean, log_variance, "sum")
