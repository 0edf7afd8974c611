import math

import numpy as np
import pytest
import torch
from scipy.stats import invgamma, norm

from sparseid.methods.sparse_vae.losses import (
    gaussian_error,
    initial_log_sigma,
    multinomial_error,
    sigma_loss,
    sigma_scale,
    standard_divergence,
)


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_gaussian_error_and_sigma_loss_are_likelihood_and_prior_as_the_authors_weigh_them():
    outputs, targets, log_sigma = random(2, 6, 5), random(2, 6, 5, seed=1), 0.3 * random(2, 5, seed=2)
    sigma = log_sigma.exp()
    likelihood = norm.logpdf(targets, outputs, sigma[:, None]).sum(axis=(1, 2))
    logarithms = 6 * (log_sigma.sum(dim=1) + 2.5 * math.log(2 * math.pi))
    squares = gaussian_error(outputs, targets, log_sigma) * 6 * 5
    np.testing.assert_allclose(-squares - logarithms, likelihood)

    scale = torch.tensor([0.4, 1.3], dtype=torch.float64)
    moved = log_sigma + 0.1
    prior = [
        invgamma.logpdf(s.exp() ** 2, 1.5, scale=1.5 * scale[:, None]).sum(axis=1) for s in (log_sigma, moved)
    ]  # of the variances; constants cancel in the difference
    found = [sigma_loss(s, scale, 6) * 6 - 6 * s.sum(dim=1) for s in (log_sigma, moved)]
    np.testing.assert_allclose(found[1] - found[0], prior[0] - prior[1])


def test_multinomial_error_is_the_log_loss_of_the_softmax():
    outputs, counts = random(2, 3, 4), torch.tensor([2.0, 0.0, 1.0, 0.0]).double().expand(2, 3, 4)
    probabilities = np.exp(outputs) / np.exp(outputs).sum(dim=2, keepdims=True)
    expected = -(counts * np.log(probabilities + 1e-6)).sum(dim=2).mean(dim=1)
    torch.testing.assert_close(multinomial_error(outputs, counts), expected)


def test_the_divergence_is_that_of_gaussians_and_its_mean_a_share_of_the_sum():
    mean, log_variance = random(2, 5, 3), random(2, 5, 3, seed=1)
    first = torch.distributions.Normal(mean, (0.5 * log_variance).exp())
    each = torch.distributions.kl_divergence(first, torch.distributions.Normal(0.0, 1.0))
    torch.testing.assert_close(standard_divergence(mean, log_variance, "sum"), each.sum(dim=2).mean(dim=1))
    torch.testing.assert_close(standard_divergence(mean, log_variance), each.mean(dim=(1, 2)))


def test_the_scale_of_the_sigma_prior_is_a_share_of_the_small_variances():
    sd = torch.linspace(1, 3, 21)[None].repeat(2, 1)
    sd[1] *= 2
    scale = sigma_scale(sd)  # the 5 % quantile is the second of 21
    np.testing.assert_allclose(scale, np.square([1.1, 2.2]) * 0.1948, rtol=1e-3)


def test_features_that_do_not_vary_have_a_small_standard_deviation():
    sd = torch.tensor([[0.0, 0.0, 2.0]])
    assert sigma_scale(sd).item() == pytest.approx(1e-6 * 0.1948, rel=1e-3)
    np.testing.assert_allclose(initial_log_sigma(sd).exp(), [[1e-3, 1e-3, 2.0]], rtol=1e-6)


def test_the_stationary_standard_deviation_is_the_one_the_terms_imply():
    """sigma^2 = (sum_i error^2 / features + nu xi) / (B + nu + 2), of a full batch."""
    errors = random(1, 8, 3).abs() + 0.5
    log_sigma = torch.zeros(1, 3, dtype=torch.float64, requires_grad=True)
    variance = (errors.square().sum(dim=1) / 3 + 3 * 0.7) / (8 + 3 + 2)
    log_sigma.data = 0.5 * variance.log()
    total = gaussian_error(errors, torch.zeros_like(errors), log_sigma) + sigma_loss(
        log_sigma, torch.tensor([0.7], dtype=torch.float64), 8
    )
    (gradient,) = torch.autograd.grad(total.sum(), log_sigma)
    torch.testing.assert_close(gradient, torch.zeros_like(gradient), rtol=0, atol=1e-12)
