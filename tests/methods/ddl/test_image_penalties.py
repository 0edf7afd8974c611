"""Penalties on a small decoder of images against its exact Jacobian and against plain loops."""

import itertools

import pytest
import torch
from torch import nn
from torch.func import jacfwd, vmap

from sparseid.methods.ddl import image_penalties as penalties
from sparseid.methods.ddl.penalties import STEP

LATENTS, BATCH = 3, 4


def decoder_of(*end, dtype=torch.float64):
    torch.manual_seed(0)
    layers = [nn.Linear(LATENTS, 16), nn.ReLU(), nn.Unflatten(1, (4, 2, 2)), nn.ConvTranspose2d(4, 5, 4, 2, 1)]
    return nn.Sequential(*layers, nn.LeakyReLU(0.2), nn.ConvTranspose2d(5, 3, 4, 2, 1), *end).to(dtype)


def latents_of(dtype=torch.float64):
    return torch.randn(BATCH, LATENTS, generator=torch.Generator().manual_seed(1), dtype=dtype)


def jacobian(decoder, latents):
    """The exact Jacobian (batch, latents, channels, height, width)."""
    return vmap(jacfwd(lambda z: decoder(z[None])[0]))(latents).movedim(-1, 1)


def gradients(value, decoder):
    return torch.autograd.grad(value, list(decoder.parameters()), allow_unused=True)


def every_set(chosen):
    return [torch.tensor(each).expand(BATCH, -1) for each in itertools.combinations(range(LATENTS), chosen)]


@pytest.mark.parametrize("end", [(), (nn.Sigmoid(),)])
def test_values_and_tangents_are_columns_of_the_exact_jacobian(end):
    decoder, latents = decoder_of(*end), latents_of()
    coordinates = torch.tensor([[0, 1], [2, 0], [1, 1], [2, 1]])
    values, tangents = penalties.value_and_tangents(decoder, latents, coordinates)
    torch.testing.assert_close(values, decoder(latents))
    exact = jacobian(decoder, latents)
    for sample, chosen in enumerate(coordinates):
        torch.testing.assert_close(tangents[sample], exact[sample, chosen])
    differences = penalties.finite_differences(decoder, latents, values, coordinates, step=1e-6)
    torch.testing.assert_close(differences, tangents, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("chosen", [1, 2, 3])
def test_random_coordinates_estimate_the_l1_norm_and_its_gradient_without_bias(chosen, reduction):
    """Averaged over all sets of coordinates the estimate is exact."""
    decoder, latents = decoder_of(nn.Sigmoid()), latents_of()
    estimate = torch.stack(
        [
            penalties.dependency_sparsity(penalties.value_and_tangents(decoder, latents, each)[1], LATENTS, reduction)
            for each in every_set(chosen)
        ]
    ).mean()
    absolute = jacobian(decoder, latents).abs()
    exact = (absolute.sum(dim=1).mean() if reduction == "mean" else absolute.sum() / BATCH).squeeze()
    torch.testing.assert_close(estimate, exact)
    for ours, theirs in zip(gradients(estimate, decoder), gradients(exact, decoder), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_finite_differences_have_the_gradient_of_the_penalty():
    decoder, latents = decoder_of(nn.Sigmoid()), latents_of().requires_grad_()
    coordinates = torch.zeros(BATCH, 1, dtype=torch.int64)
    values, tangents = penalties.value_and_tangents(decoder, latents, coordinates)
    differences = penalties.finite_differences(decoder, latents, values, coordinates, step=1e-6)
    exact, near = (penalties.dependency_sparsity(each, LATENTS) for each in (tangents, differences))
    torch.testing.assert_close(near, exact, rtol=1e-4, atol=0)
    inputs = [latents, *decoder.parameters()]  # gradients go through the latents, too
    of_both = [torch.autograd.grad(each, inputs, retain_graph=True) for each in (near, exact)]
    assert of_both[1][0].abs().max() > 0
    for ours, theirs in zip(*of_both, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-2, atol=1e-6)


def test_the_default_step_is_accurate_in_single_precision():
    decoder, latents = decoder_of(nn.Sigmoid(), dtype=torch.float32), latents_of(torch.float32)
    coordinates = torch.arange(LATENTS).expand(BATCH, -1)
    values, tangents = penalties.value_and_tangents(decoder, latents, coordinates)
    differences = penalties.finite_differences(decoder, latents, values, coordinates)
    exact, near = (penalties.dependency_sparsity(each, LATENTS) for each in (tangents, differences))
    torch.testing.assert_close(near, exact, rtol=0.02, atol=0)


def test_random_coordinates_differ_within_a_sample_and_repeat_with_the_generator():
    first, second = (penalties.random_coordinates(2000, 5, 2, torch.Generator().manual_seed(seed)) for seed in (3, 3))
    assert torch.equal(first, second)
    assert (first[:, 0] != first[:, 1]).all()
    torch.testing.assert_close(first.flatten().bincount() / 2000, torch.full((5,), 0.4), atol=0.05, rtol=0)


def test_latent_sparsity_is_the_mean_l1_norm():
    assert penalties.latent_sparsity(torch.tensor([[1.0, -2.0], [0.0, 3.0]])).item() == 3.0


def test_orojar_and_the_hessian_penalty_are_those_of_plain_loops():
    decoder, latents = decoder_of(nn.Sigmoid()), latents_of()
    signs = torch.randint(0, 2, (BATCH, 3, LATENTS), generator=torch.Generator().manual_seed(2)) * 2.0 - 1

    def decode(z):
        return decoder(z[None])[0]

    lengths, bends = [], []
    for z, directions in zip(latents, signs, strict=True):
        steps = [STEP * v for v in directions]
        lengths.append(torch.stack([((decode(z + v) - decode(z)) / STEP).square().sum() for v in steps]))
        bends.append(torch.stack([(decode(z + v) - 2 * decode(z) + decode(z - v)) / STEP**2 for v in steps]))
    values = decoder(latents)
    ours = penalties.orojar(decoder, latents, values, signs)
    torch.testing.assert_close(ours, torch.stack([each.var() for each in lengths]).max())
    ours = penalties.hessian_penalty(decoder, latents, values, signs)
    torch.testing.assert_close(ours, torch.stack([each.var(dim=0) for each in bends]).max())
    assert all(gradient is not None for gradient in gradients(ours, decoder))
