"""Losses of EncDiff's autoencoder, and the scale of its code; the error of the noise is a mean absolute difference."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import relu

from sparseid.methods.batch_statistics import mean_over_processes

LARGEST = 1e4
"""Upper bound of the adaptive weight."""
SMALLEST = 1e-12
"""Added to the variance of a unit, so that the gradient of a constant one is finite."""


def critics_loss(real: Tensor, made: Tensor) -> Tensor:
    """Return the hinge loss of the discriminator of patches, the mean over both classes.

    Parameters
    ----------
    real, made
        Its outputs for images and for reconstructions.
    """
    return 0.5 * (relu(1 - real).mean() + relu(1 + made).mean())


def adaptive_weight(pixels: Tensor, adversarial: Tensor, last: Tensor) -> Tensor:
    """Return the ratio of two losses' gradients at the decoder's last layer: with it both have the same norm.

    Parameters
    ----------
    pixels, adversarial
        Scalar losses.
    last
        Weights of the last layer.
    """
    norms = [torch.autograd.grad(loss, last, retain_graph=True)[0].norm() for loss in (pixels, adversarial)]
    return (norms[0] / (norms[1] + 1 / LARGEST)).clamp(max=LARGEST)


def scales(codes: Tensor) -> Tensor:
    """Return the standard deviation (units,) of codes (batch, units) over the batch of all processes."""
    centred = codes - mean_over_processes(codes.mean(dim=0))
    return (mean_over_processes(centred.square().mean(dim=0)) + SMALLEST).sqrt()
