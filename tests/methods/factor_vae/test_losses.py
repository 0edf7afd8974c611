"""FactorVAE's losses against plain loops."""

import math

import pytest
import torch

from sparseid.methods.factor_vae.losses import (
    bernoulli_error,
    discriminator_loss,
    divergence,
    permute_latents,
    total_correlation,
)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def sigmoid(value):
    return 1 / (1 + math.exp(-value))


def test_the_error_is_the_cross_entropy_summed_over_each_image():
    logits, images = drawn(3, 2, 4, 5), drawn(3, 2, 4, 5, seed=1).sigmoid()
    totals = []
    for logit, image in zip(logits, images, strict=True):
        total = 0.0
        for one, pixel in zip(logit.flatten().tolist(), image.flatten().tolist(), strict=True):
            total -= pixel * math.log(sigmoid(one)) + (1 - pixel) * math.log(1 - sigmoid(one))
        totals.append(total)
    assert bernoulli_error(logits, images).tolist() == pytest.approx(totals)


def test_the_divergence_is_summed_over_latents_and_averaged_over_images():
    mean, log_variance = drawn(3, 4), drawn(3, 4, seed=1)
    total = 0.0
    for m, v in zip(mean.flatten().tolist(), log_variance.flatten().tolist(), strict=True):
        total += 0.5 * (m**2 + math.exp(v) - v - 1)
    assert divergence(mean, log_variance).item() == pytest.approx(total / 3)


def test_total_correlation_and_the_discriminators_loss_are_those_of_two_classes():
    joint, permuted = drawn(5, 2), drawn(5, 2, seed=1)
    ratio, loss = 0.0, 0.0
    for (j0, j1), (p0, p1) in zip(joint.tolist(), permuted.tolist(), strict=True):
        ratio += (j0 - j1) / 5
        loss -= 0.5 * (math.log(sigmoid(j0 - j1)) + math.log(sigmoid(p1 - p0))) / 5
    assert total_correlation(joint).item() == pytest.approx(ratio)
    assert discriminator_loss(joint, permuted).item() == pytest.approx(loss)


def test_the_best_discriminator_estimates_the_total_correlation():
    """Of two Gaussians with correlation r it is - log(1 - r^2) / 2; the best logits are the log densities."""
    r, z = 0.8, drawn(200_000, 2)
    z = torch.stack([z[:, 0], r * z[:, 0] + math.sqrt(1 - r**2) * z[:, 1]], dim=1)
    joint = -0.5 * (z[:, 0] ** 2 + z[:, 1] ** 2 - 2 * r * z[:, 0] * z[:, 1]) / (1 - r**2) - 0.5 * math.log(1 - r**2)
    logits = torch.stack([joint, -0.5 * z.square().sum(dim=1)], dim=1)
    assert total_correlation(logits).item() == pytest.approx(-0.5 * math.log(1 - r**2), abs=0.01)


def test_each_latent_is_permuted_by_itself():
    latents = torch.tensor([[1, 10], [2, 20], [3, 30]])
    found = permute_latents(latents, torch.tensor([[2, 1], [0, 0], [1, 2]]))
    assert found.tolist() == [[3, 20], [1, 10], [2, 30]]
