"""Terms of the objective as in the authors' code, one value per member of the stack.

The divergence is averaged over latents and the Gaussian reconstruction over features, while the logarithms of its
standard deviations are summed, as for the published numbers. Priors count once per batch, divided by the configured
batch size and not by the size of the data.
"""

from __future__ import annotations

import torch
from scipy.stats import chi2
from torch import Tensor

DEGREES = 3
"""Degrees of freedom nu of the prior of a feature's variance, Inverse-Gamma(nu / 2, nu xi / 2)."""
TINY = 1e-6
"""Added to a probability before its logarithm (authors' code)."""
LEAST_SD = 1e-3
"""Replaces the standard deviation of a constant feature (authors' code, for the quantile)."""


def gaussian_error(outputs: Tensor, targets: Tensor, log_sigma: Tensor) -> Tensor:
    """Return half the mean (members,) over batch and features of ((x - output) / sigma)^2.

    Parameters
    ----------
    outputs, targets
        (members, batch, features); the mean over some of the features estimates that over all.
    log_sigma
        (members, features) logarithms of the standard deviations.
    """
    return 0.5 * ((targets - outputs) * (-log_sigma).exp()[:, None]).square().mean(dim=(1, 2))


def multinomial_error(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the mean (members,) over the batch of - sum_j x_j log(p_j + 1e-6), p the softmax of the outputs."""
    return -(targets * (outputs.softmax(dim=-1) + TINY).log()).sum(dim=-1).mean(dim=1)


def standard_divergence(mean: Tensor, log_variance: Tensor, reduction: str = "mean") -> Tensor:
    """Return the divergence (members,) of N(mean, variance) from N(0, 1), averaged over the batch.

    The reduction over latents is their mean or sum. With the mean the effective beta is one over the number of latents.
    """
    each = -0.5 * (1 + log_variance - mean.square() - log_variance.exp())
    return (each.mean(dim=2) if reduction == "mean" else each.sum(dim=2)).mean(dim=1)


def sigma_loss(log_sigma: Tensor, scale: Tensor, batch_size: int) -> Tensor:
    """Return the terms (members,) of a batch's objective in the standard deviations, in addition to the error.

    ((B + nu + 2) sum_j log sigma_j + nu xi / 2 sum_j sigma_j^-2) / B

    Parameters
    ----------
    log_sigma
        (members, features)
    scale
        (members,) xi, see :func:`sigma_scale`.
    batch_size
        B as configured, even for a smaller last batch.
    """
    precisions = (-2 * log_sigma).exp().sum(dim=1)
    logarithms = log_sigma.sum(dim=1)
    return ((batch_size + DEGREES + 2) * logarithms + 0.5 * DEGREES * scale * precisions) / batch_size


def sigma_scale(column_sd: Tensor) -> Tensor:
    """Return the scale xi (members,) of the prior of the variances, whose 90 % quantile is their 5 % quantile.

    Parameters
    ----------
    column_sd
        (members, features) standard deviations of the features over all data. If their 5 % quantile is 0, 1e-3
        replaces it.
    """
    low = torch.quantile(column_sd.double(), 0.05, dim=1)
    low = torch.where(low == 0, LEAST_SD, low)
    return (low.square() * float(chi2.ppf(0.1, DEGREES)) / DEGREES).to(column_sd)


def initial_log_sigma(column_sd: Tensor) -> Tensor:
    """Return the initial log standard deviations (members, features): those of the data, at least 1e-3."""
    return column_sd.clamp(min=LEAST_SD).log()
