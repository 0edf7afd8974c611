"""Evidence lower bound of a stack's autoencoders, one value per member."""

from __future__ import annotations

from torch import Tensor

from sparseid.methods.sparse_vae.losses import standard_divergence


def squared_error(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the squared differences (members,), summed over features and averaged over the batch.

    Parameters
    ----------
    outputs, targets
        (members, batch, features)
    """
    return (outputs - targets).square().sum(dim=2).mean(dim=1)


def negative_elbo(outputs: Tensor, targets: Tensor, mean: Tensor, log_variance: Tensor, beta: float) -> Tensor:
    """Return the squared error plus beta times the divergence of the posterior from a standard normal, (members,).

    Parameters
    ----------
    outputs, targets
        (members, batch, features)
    mean, log_variance
        Posterior, (members, batch, latents); the divergence is summed over latents and averaged over the batch.
    beta
        Weight of the divergence; the squared error is that of a Gaussian of variance 1/2.
    """
    return squared_error(outputs, targets) + beta * standard_divergence(mean, log_variance, "sum")
