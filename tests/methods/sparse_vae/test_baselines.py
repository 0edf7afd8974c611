"""OI-VAE and NMF, which have no arrays of other code."""

import math

import numpy as np
import pytest
import torch
from sklearn.decomposition import NMF
from torch.distributions import Normal, kl_divergence

from sparseid.errors import InputError
from sparseid.methods.sparse_vae.model import Given
from sparseid.methods.sparse_vae.networks import Noise, drawn
from sparseid.methods.sparse_vae.nmf import Factorisation
from sparseid.methods.sparse_vae.oi_vae import OIVAE
from sparseid.stacking.members import generators


@pytest.fixture
def oi_vae(made):
    method = made("vae", oi_vae={"units": 4, "selector_lr": 0.1, "penalty_weight": 2.0}).method
    return OIVAE(method, Given(6, True, False, 5, 100), generators([0, 1], "init"))


@pytest.fixture
def inputs():
    return 10 + 5 * torch.rand(2, 30, 6, generator=torch.Generator().manual_seed(0))


def test_the_objective_of_oi_vae_is_the_negative_elbo_and_the_prior_of_its_networks(oi_vae, inputs):
    oi_vae.prepare(inputs, inputs.std(dim=1))
    scaled = (inputs - inputs.amin(dim=1, keepdim=True)) / (inputs.amax(dim=1) - inputs.amin(dim=1))[:, None]
    noise = drawn(generators([0, 1], "noise"), (30, 3), torch.device("cpu"))
    terms = oi_vae.terms(inputs, noise, step=50)
    posterior = Normal(oi_vae.mean(scaled), oi_vae.log_sd(scaled).exp() + 1e-3)
    z = posterior.loc + noise.normal * posterior.scale
    for j in range(6):
        hidden = (z @ oi_vae.selector[:, :, j]).tanh()
        mean = (hidden * oi_vae.heads[:, None, j, :-1]).sum(dim=2) + oi_vae.heads[:, None, j, -1]
        torch.testing.assert_close(oi_vae.decode(z)[..., j], mean)
    likelihood = Normal(oi_vae.decode(z), torch.tensor(0.011)).log_prob(scaled).sum(dim=2).mean(dim=1)
    torch.testing.assert_close(terms.reconstruction, -likelihood)
    divergence = kl_divergence(posterior, Normal(0.0, 1.0)).sum(dim=2).mean(dim=1)
    torch.testing.assert_close(terms.divergence, divergence)
    constant = oi_vae.heads[0].numel() * 0.5 * math.log(2 * math.pi)
    torch.testing.assert_close(terms.prior + constant, -Normal(0.0, 1.0).log_prob(oi_vae.heads).sum(dim=(1, 2)))


def test_posteriors_are_narrow_at_the_beginning(oi_vae, inputs):
    early, late = (oi_vae.posterior(inputs, step).log_variance.mul(0.5).exp() for step in (9, 10))
    torch.testing.assert_close(early, 0.1 * (late - 1e-3) + 1e-3)


def test_reconstructions_are_in_the_units_of_the_data(oi_vae, inputs):
    oi_vae.prepare(inputs, inputs.std(dim=1))
    oi_vae.heads.data.zero_()
    noise = drawn(generators([0, 1], "noise"), (30, 3), torch.device("cpu"))
    lowest = inputs.amin(dim=1, keepdim=True).expand(2, 30, 6)
    torch.testing.assert_close(oi_vae.reconstruct(inputs, noise), lowest)


def test_selectors_make_a_gradient_step_and_shrink_to_exact_zeros(oi_vae):
    oi_vae.selector.data[0, 0, 0] = torch.tensor([0.1, 0.0, -0.1, 0.0])  # shorter than the step of 0.2
    before = oi_vae.selector.detach().clone()
    gradient = torch.randn(before.shape, generator=torch.Generator().manual_seed(0)) / 10
    gradient[0, 0, 0] = 0
    oi_vae.selector.grad = gradient
    oi_vae.after_step()
    moved = before - 0.1 * gradient
    norms = moved.norm(dim=-1)
    torch.testing.assert_close(oi_vae.selector.norm(dim=-1), (norms - 0.2).clamp(min=0))
    torch.testing.assert_close(torch.cosine_similarity(oi_vae.selector[1], moved[1], dim=-1), torch.ones(3, 6))
    assert (oi_vae.selector[0, 0, 0] == 0).all()
    assert oi_vae.selector.grad is None
    assert oi_vae.loadings()["selector"].shape == (2, 6, 3)
    assert all(parameter is not oi_vae.selector for parameter in oi_vae.trained())


def test_nmf_is_scikit_learns(made, inputs):
    model = Factorisation(made("vae").method, Given(6, True, False, 5, 1), generators([0, 1], "init"))
    model.prepare(inputs, inputs.std(dim=1))
    noise = Noise(torch.zeros(2, 30, 3), torch.zeros(2, 30, 3))
    for member in (0, 1):
        fitted = NMF(n_components=3, random_state=0)
        codes = fitted.fit_transform(inputs[member].numpy())
        expected = codes @ fitted.components_
        np.testing.assert_allclose(model.reconstruct(inputs, noise)[member], expected, rtol=0.02, atol=0.05)
        np.testing.assert_allclose(model.encode(inputs)[member], fitted.transform(inputs[member].numpy()), atol=1e-4)
    assert model.loadings()["selector"].shape == (2, 6, 3)


def test_nmf_refuses_negative_data(made, inputs):
    model = Factorisation(made("vae").method, Given(6, True, False, 5, 1), generators([0, 1], "init"))
    with pytest.raises(InputError, match="non-negative data"):
        model.prepare(inputs - 11, inputs.std(dim=1))
