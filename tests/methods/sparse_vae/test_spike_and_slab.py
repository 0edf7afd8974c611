import numpy as np
import pytest
import torch
from scipy.stats import beta, laplace

from sparseid.methods.sparse_vae.spike_and_slab import selector_penalty, slab_probability, slab_share


def selectors(members=2, features=6, latents=3):
    return torch.randn(members, features, latents, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("normalised", [True, False])
def test_the_e_step_is_bayes_rule(normalised):
    w, share = selectors(), torch.linspace(0.1, 0.6, 6, dtype=torch.float64).view(2, 3)
    slab, spike = laplace.pdf(w, scale=1 / 0.5), laplace.pdf(w, scale=1 / 8)
    if not normalised:
        slab, spike = slab / 0.5, spike / 8
    eta = share[:, None].numpy()
    expected = eta * slab / (eta * slab + (1 - eta) * spike)
    np.testing.assert_allclose(slab_probability(w, share, 8.0, 0.5, normalised), expected, rtol=1e-10)


def test_large_selectors_do_not_overflow():
    found = slab_probability(torch.tensor([[[1e4, 0.0]]]), torch.tensor([[0.5, 1e-10]]), 10.0, 1.0)
    assert found[0, 0].tolist() == pytest.approx([1.0, 1e-10])


def test_the_m_step_maximises_the_expected_log_prior():
    probability = selectors().sigmoid()
    share = slab_share(probability, 2.0, 5.0)

    def objective(eta):
        counts = probability.sum(dim=1)
        return counts * np.log(eta) + (6 - counts) * np.log(1 - eta) + beta.logpdf(eta, 2.0, 5.0)

    for moved in (share - 1e-3, share + 1e-3):
        assert (objective(share) > objective(moved)).all()


def test_with_the_authors_beta_prior_at_most_about_half_comes_from_the_slab():
    assert slab_share(torch.ones(1, 7, 2), 1.0, 7.0).tolist() == [[pytest.approx(7 / 13)] * 2]
    assert slab_share(torch.zeros(1, 7, 2), 0.5, 7.0).tolist() == [[pytest.approx(1e-10)] * 2]


def test_the_penalty_is_between_those_of_slab_and_spike():
    w = selectors()
    for probability, rate in ((torch.zeros_like(w), 10.0), (torch.ones_like(w), 1.0), (torch.full_like(w, 0.5), 5.5)):
        expected = rate * w.abs().sum(dim=(1, 2)) / 4
        torch.testing.assert_close(selector_penalty(w, probability, 10.0, 1.0, 4), expected)
