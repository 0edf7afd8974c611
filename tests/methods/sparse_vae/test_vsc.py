import math

import pytest
import torch
from torch.distributions import Bernoulli, Normal, kl_divergence

from sparseid.methods.sparse_vae.networks import Noise, Posterior
from sparseid.methods.sparse_vae.vsc import original_divergence


def posterior(*shape, seed):
    parts = torch.randn(3, *shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return Posterior(parts[0], parts[1], -parts[2].abs())


def test_the_original_divergence_is_that_of_its_densities():
    batch, components = posterior(2, 5, 3, seed=0), posterior(2, 4, 3, seed=1)
    scores = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    gamma, gamma_p = batch.log_gamma.exp()[:, :, None], (10 * (components.log_gamma.exp() - 0.5)).sigmoid()[:, None]
    first = Normal(batch.mean[:, :, None], (0.5 * batch.log_variance).exp()[:, :, None])
    second = Normal(components.mean[:, None], (0.5 * components.log_variance).exp()[:, None])
    both = torch.broadcast_tensors(gamma, gamma_p)
    each = gamma * kl_divergence(first, second) + kl_divergence(*map(Bernoulli, both))
    weights = scores.sigmoid() / scores.sigmoid().sum(dim=2, keepdim=True)
    chosen = (weights * gamma_p.mean(dim=-1)).sum(dim=2)
    expected = (weights * each.sum(dim=3)).sum(dim=2) + 3 * kl_divergence(
        Bernoulli(chosen), Bernoulli(torch.full_like(chosen, 0.01))
    )
    found = original_divergence(batch, components, scores)
    torch.testing.assert_close(found, expected.mean(dim=1), rtol=2e-4, atol=1e-4)  # they add 1e-6 here and there


@pytest.mark.parametrize(("variant", "slope"), [("authors", 10), ("original", 100)])
def test_a_latent_is_on_with_probability_gamma(made, variant, slope):
    module = made("vsc", vsc={"variant": variant}, given={"steps": 100})
    noise = Noise(torch.zeros(1, 1, 3), torch.tensor([[[0.2, 0.7, 0.75]]]))
    mean = torch.full((1, 1, 3), 2.0)
    sample = module.sample(Posterior(mean, torch.zeros_like(mean), torch.full_like(mean, math.log(0.3))), noise, 100)
    expected = [2 / (1 + math.exp(-slope * (u - 0.7))) for u in (0.2, 0.7, 0.75)]
    assert sample.flatten().tolist() == pytest.approx(expected, rel=1e-5)


def test_the_original_encoder_comes_into_force_from_45_to_50_percent_of_training(made):
    module = made("vsc", vsc={"variant": "original"}, given={"steps": 100})
    noise = Noise(torch.ones(1, 1, 1), torch.ones(1, 1, 1))
    said = Posterior(torch.full((1, 1, 1), 3.0), torch.full((1, 1, 1), 2 * math.log(2)), torch.zeros(1, 1, 1))
    values = [module.sample(said, noise, step).item() for step in (0, 45, 47.5, 50, 100)]
    assert values == pytest.approx([1, 1, 1.5 + math.sqrt(2), 5, 5])


@pytest.mark.parametrize("trained", [True, False])
def test_pseudo_inputs_are_trained_only_if_asked_for(made, trained):
    module = made("vsc", vsc={"train_pseudo_inputs": trained})
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    left = set(names.values()) - {names[id(parameter)] for parameter in module.trained()}
    pseudo = {"pseudo_inputs.weight", "pseudo_selector.weight", "pseudo_selector.bias"}
    assert left == (set() if trained else pseudo)
