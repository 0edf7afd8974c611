"""Losses of FactorVAE, as in disentanglement_lib."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax

from sparseid.methods.sparse_vae.losses import standard_divergence

JOINT, PERMUTED = 0, 1
"""Classes of the discriminator: samples of q(z), and of the product of its marginals."""


def bernoulli_error(logits: Tensor, images: Tensor) -> Tensor:
    """Return the cross-entropy (batch,) of pixels in [0, 1] and the probabilities of logits, summed over each image.

    Parameters
    ----------
    logits, images
        (batch, channels, height, width)
    """
    return binary_cross_entropy_with_logits(logits, images, reduction="none").flatten(1).sum(dim=1)


def divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return the divergence of N(mean, variance) from N(0, 1), summed over latents and averaged over the batch.

    Parameters
    ----------
    mean, log_variance
        (batch, latents)
    """
    return standard_divergence(mean[None], log_variance[None], "sum")[0]


def total_correlation(joint: Tensor) -> Tensor:
    """Return the discriminator's estimate of the total correlation of q(z): its mean log ratio of the two densities.

    Parameters
    ----------
    joint
        (batch, 2) logits of samples of q(z).
    """
    return (joint[:, JOINT] - joint[:, PERMUTED]).mean()


def discriminator_loss(joint: Tensor, permuted: Tensor) -> Tensor:
    """Return the cross-entropy of the discriminator, the mean over both classes.

    Parameters
    ----------
    joint, permuted
        (batch, 2) logits of samples of q(z), and of such with permuted latents.
    """
    return -0.5 * (log_softmax(joint, 1)[:, JOINT].mean() + log_softmax(permuted, 1)[:, PERMUTED].mean())


def permute_latents(latents: Tensor, order: Tensor) -> Tensor:
    """Return latents (batch, latents) with each of them permuted over the batch by itself.

    Parameters
    ----------
    latents
        (batch, latents)
    order
        (batch, latents) int64: column j is a permutation of the batch for latent j.
    """
    return latents.gather(0, order)
