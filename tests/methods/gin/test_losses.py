"""Likelihood and penalty against plain code."""

import math

import pytest
import torch

from sparseid.methods.gin.losses import deviations, negative_log_likelihood, weighted_coordinates, weighted_dependency


def latents_of(batch=12, latents=5):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(batch, latents, generator=generator) * torch.arange(1, latents + 1)


@pytest.mark.parametrize("classes", [1, 3])
def test_the_likelihood_is_that_of_normal_latents_of_each_class(classes):
    latents, labels = latents_of(), torch.arange(12) % classes
    plain = torch.zeros(())
    for label in range(classes):
        of_class = latents[labels == label]
        mean, sd = of_class.mean(dim=0), of_class.std(dim=0, correction=0)
        plain = plain - torch.distributions.Normal(mean, sd).log_prob(of_class).sum()
    spread = deviations(latents, labels, classes)
    torch.testing.assert_close(negative_log_likelihood(spread, labels), plain / latents.numel())


def test_a_class_with_one_sample_or_none_is_left_out():
    latents, labels = latents_of(), torch.tensor([0] * 11 + [1])
    spread = deviations(latents, labels, 3)
    alone = deviations(latents[:11], labels[:11], 1)
    torch.testing.assert_close(negative_log_likelihood(spread, labels), negative_log_likelihood(alone, labels[:11]))
    assert math.isfinite(negative_log_likelihood(spread, labels))


def test_the_penalty_estimates_the_weighted_norm_of_the_jacobian():
    """Exactly, if a column alone has a weight; on average, else."""
    generator = torch.Generator().manual_seed(1)
    jacobian = torch.randn(4, 5, 7, generator=generator)  # of 4 samples, by 5 latents
    columns = jacobian.abs().mean(dim=(0, 2))

    def estimate(weights, chosen):
        coordinates = weighted_coordinates(weights, 4, chosen, generator)
        return weighted_dependency(jacobian.gather(1, coordinates[..., None].expand(-1, -1, 7)), weights, coordinates)

    torch.testing.assert_close(estimate(torch.tensor([0.0, 3.0, 0.0, 0.0, 0.0]), 2), 3 * columns[1])
    weights = torch.tensor([0.1, 2.0, 0.0, 0.5, 1.0])
    drawn = torch.stack([estimate(weights, 3) for _ in range(400)])
    error = drawn.std() / len(drawn) ** 0.5
    assert (drawn.mean() - weights @ columns).abs() < 4 * error
    assert error < 0.02 * drawn.mean()


def test_the_gradient_of_the_penalty_is_that_of_the_weighted_norm_by_weights_and_derivatives():
    generator = torch.Generator().manual_seed(1)
    jacobian = torch.randn(4, 5, 7, generator=generator).requires_grad_()
    weights = torch.tensor([0.1, 2.0, 0.3, 0.5, 1.0], requires_grad=True)
    exact = torch.autograd.grad(weights @ jacobian.abs().mean(dim=(0, 2)), (weights, jacobian))
    coordinates = weighted_coordinates(weights, 4, 4000, generator)
    found = weighted_dependency(jacobian.gather(1, coordinates[..., None].expand(-1, -1, 7)), weights, coordinates)
    for ours, theirs in zip(torch.autograd.grad(found, (weights, jacobian)), exact, strict=True):
        assert (ours - theirs).abs().max() < 0.1 * theirs.abs().max()


def test_scaling_latents_up_changes_nothing_if_their_deviations_are_the_weights():
    latents, scale = latents_of(), torch.tensor(3.0, requires_grad=True)
    weights = (scale * latents).std(dim=0)
    coordinates = weighted_coordinates(weights, 12, 2, torch.Generator().manual_seed(0))
    tangents = torch.randn(12, 2, 7, generator=torch.Generator().manual_seed(0)) / scale
    (gradient,) = torch.autograd.grad(weighted_dependency(tangents, weights, coordinates), scale)
    assert gradient.abs() < 1e-5
