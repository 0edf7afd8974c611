import torch
from torch.distributions import Normal, kl_divergence

from sparseid.methods.ddl.losses import negative_elbo, squared_error


def random(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_errors_are_summed_over_features_and_averaged_over_the_batch():
    assert squared_error(torch.tensor([[[1.0, 2.0], [0.0, 0.0]]]), torch.zeros(1, 2, 2)).tolist() == [2.5]


def test_the_bound_is_that_of_a_gaussian_of_variance_one_half():
    outputs, targets, mean, log_variance = (random(2, 6, size, seed=seed) for seed, size in enumerate((5, 5, 3, 3)))
    likelihood = Normal(outputs, 0.5**0.5).log_prob(targets) - Normal(0.0, 0.5**0.5).log_prob(torch.zeros(()))
    divergence = kl_divergence(Normal(mean, (0.5 * log_variance).exp()), Normal(0.0, 1.0))
    wanted = -likelihood.sum(dim=2).mean(dim=1) + 0.3 * divergence.sum(dim=2).mean(dim=1)
    torch.testing.assert_close(negative_elbo(outputs, targets, mean, log_variance, beta=0.3), wanted)
