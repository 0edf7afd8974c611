"""Losses of the flow: likelihood with empirical deviations, and a Jacobian's norm from weighted coordinates."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from sparseid.methods.ddl.image_penalties import dependency_sparsity

CONSTANT = 0.5 * (1 + math.log(2 * math.pi))
SMALLEST_VARIANCE = 1e-12
"""Keeps the logarithm finite where a latent is constant."""


def deviations(latents: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Return the population standard deviation (classes, latents) of each latent in each class of a batch.

    Parameters
    ----------
    latents, labels
        (batch, latents), and their classes (batch,) int64.
    classes
        Number of classes; the deviation of one without samples is about 0.
    """
    of_class = torch.nn.functional.one_hot(labels, classes).to(latents)
    shares = of_class / of_class.sum(dim=0).clamp(min=1)
    means = shares.T @ latents
    variances = shares.T @ (latents - means[labels]).square()
    return variances.clamp(min=SMALLEST_VARIANCE).sqrt()


def negative_log_likelihood(spread: Tensor, labels: Tensor) -> Tensor:
    """Return the negative log likelihood of a batch per sample and latent, for a flow that preserves volume.

    With means and deviations of the batch itself it is 1/2 + log(2 pi)/2 + mean log deviation. Classes with a single
    sample, which have no deviation, are left out.

    Parameters
    ----------
    spread
        (classes, latents) from `deviations`.
    labels
        (batch,) classes of the samples.
    """
    classes = torch.arange(len(spread), device=labels.device)
    counts = (labels == classes[:, None]).sum(dim=1).to(spread)
    counts = torch.where(counts > 1, counts, 0.0)
    return CONSTANT + (counts @ spread.log().mean(dim=1)) / counts.sum().clamp(min=1)


def weighted_coordinates(weights: Tensor, batch: int, chosen: int, generator: torch.Generator) -> Tensor:
    """Draw coordinates (batch, chosen) int64 in proportion to weights, with replacement, on the weights' device.

    The sum of the weights times the mean over drawn columns of their L1 norms is then an unbiased estimate of the sum
    of the norms times the weights. With deviations as weights, latents that hardly vary cost no draws.

    Parameters
    ----------
    weights
        (latents,) non-negative.
    batch, chosen
        Samples, and coordinates of each.
    generator
        Source of the coordinates, on the CPU.
    """
    sums = weights.detach().cumsum(dim=0)
    drawn = torch.rand(batch, chosen, generator=generator).to(weights)
    return torch.searchsorted(sums / sums[-1], drawn, right=True)  # on the device: nobody waits for the weights


def weighted_dependency(tangents: Tensor, weights: Tensor, coordinates: Tensor) -> Tensor:
    """Return an estimate of the L1 norm of a Jacobian with weighted columns, a scalar.

    The norm is the sum over latents j of ``weights[j]`` times the mean absolute derivative of the outputs by latent j,
    averaged over the batch. Estimate and gradient are unbiased, that by the weights included: with deviations as
    weights, a flow gains nothing by scaling its latents up, which it would with constant weights.

    Parameters
    ----------
    tangents
        (batch, s, ...) derivatives by the coordinates.
    weights
        (latents,)
    coordinates
        (batch, s) drawn with these weights by `weighted_coordinates`.
    """
    drawn = weights[coordinates]
    ones = drawn / drawn.detach()  # with the gradient of the weights, which the probabilities cancel
    return dependency_sparsity(tangents.flatten(2) * ones[..., None], 1) * weights.detach().sum()
