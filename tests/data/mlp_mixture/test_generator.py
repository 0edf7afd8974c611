import numpy as np
import pytest
import torch
from torch.func import jacfwd, vmap

from sparseid.data.mlp_mixture import generator
from sparseid.data.mlp_mixture.generator import draw_latents, draw_mixture, injective, stack
from sparseid.data.mlp_mixture.masks import mask_of
from sparseid.errors import InputError
from sparseid.methods.ddl.structure import dependency_structure
from sparseid.streams import Streams

MASKS = ("circulant", "lower_triangular", "ones_minus_identity", "dense", "dense_minus_edge", "random")


def drawn(config, seed=0):
    latents = draw_latents(config, seed, "train", config.samples)
    mask = mask_of(config, seed)
    return mask, latents, draw_mixture(config, mask, seed, latents)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("outputs", "injective"), [(1, "dominant"), (2, "check"), (2, "dominant")])
def test_the_support_of_the_jacobian_is_the_mask(mixture_config, mask, outputs, injective):
    config = mixture_config(mask=mask, outputs_per_row=outputs, injective=injective)
    true, latents, mixture = drawn(config)
    jacobian = mixture.jacobian(latents[None])[0]
    assert (dependency_structure(jacobian.numpy()) == true).all()
    assert torch.linalg.svdvals(jacobian)[:, -1].min() > generator.LEAST_SINGULAR
    for read, row in zip(true, jacobian.numpy().swapaxes(0, 1), strict=True):  # Assumption 1: derivatives span I_k
        spectrum = np.linalg.svd(row[:, read], compute_uv=False)
        assert spectrum[-1] > 1e-2 * spectrum[0]


@pytest.mark.parametrize("activation", ["leaky_relu", "smooth_leaky"])
@pytest.mark.parametrize("injective", ["check", "dominant"])
def test_the_jacobian_is_that_of_automatic_differentiation(mixture_config, activation, injective):
    _, latents, mixture = drawn(mixture_config(activation=activation, injective=injective, layers=3))
    points = latents[:20]
    expected = vmap(jacfwd(lambda z: mixture(z[None, None])[0, 0]))(points)
    torch.testing.assert_close(mixture.jacobian(points[None])[0], expected)


def test_observations_of_training_samples_have_mean_0_and_variance_1(mixture_config):
    _, latents, mixture = drawn(mixture_config(mask="dense"))
    x = mixture(latents[None])[0].numpy()
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(x.std(axis=0), 1)
    linear = np.linalg.lstsq(np.c_[latents, np.ones(len(x))], x, rcond=None)
    assert (linear[1] / len(x)).min() > 0.01  # nowhere linear


def test_what_one_observation_reads_is_all_that_it_depends_on(mixture_config):
    mask, latents, mixture = drawn(mixture_config())
    before = mixture(latents[None])[0]
    moved = latents.clone()
    moved[:, 1] += 1.0
    changed = (mixture(moved[None])[0] != before).any(dim=0).numpy()
    assert changed.tolist() == mask[:, 1].tolist()


def test_a_stack_computes_what_its_members_do_alone(mixture_config):
    config = mixture_config(mask="random", latents=4)
    members = [drawn(config, seed) for seed in (0, 3)]
    latents = torch.stack([latents for _, latents, _ in members])
    both = stack([mixture for *_, mixture in members])
    for number, (_, own, mixture) in enumerate(members):
        torch.testing.assert_close(both(latents)[number], mixture(own[None])[0])
        torch.testing.assert_close(both.jacobian(latents)[number], mixture.jacobian(own[None])[0])


@pytest.mark.parametrize("mask", ["circulant", "dense"])
def test_a_dominant_mixture_separates_all_points(mixture_config, mask):
    config = mixture_config(mask=mask, outputs_per_row=1, injective="dominant")
    _, latents, mixture = drawn(config)
    apart = torch.pdist(mixture(latents[None])[0, :500]) / torch.pdist(latents[:500])
    assert apart.min() > 0.02


def test_no_axis_of_a_block_is_preferred(mixture_config):
    config = mixture_config(mask="dense", outputs_per_row=1, injective="dominant")
    largest = [drawn(config, seed)[2].skip[0].abs().argmax(dim=1).tolist() for seed in range(4)]
    assert len(set(map(tuple, largest))) > 1
    circulant_config = mixture_config(outputs_per_row=1, injective="dominant")
    assert (drawn(circulant_config)[2].skip[0] != 0).sum() == 3  # one latent of its own for each observation


def test_a_fold_is_rejected():
    def one(weight):  # x = |z| - like, or monotone, by the sign of the outer weight of the negative side
        layers = (
            (torch.tensor([[[[1.0, -1.0]]]]).double(), torch.zeros(1, 1, 1, 2).double()),
            (torch.tensor([[[[1.0], [weight]]]]).double(), torch.zeros(1, 1, 1, 1).double()),
        )
        column = torch.zeros(1, 1, 1).double()
        return generator.Mixture(layers, column, column, column + 1, slope=0.2, smooth=False)

    points = torch.linspace(-2, 2, 40).double()[:, None]
    assert injective(one(-1.0), points)
    assert not injective(one(1.0), points)  # no small derivative, but another sign
    assert not injective(one(0.2), points)  # a derivative of 0 for negative latents


def test_mixtures_are_drawn_again_until_one_is_injective_and_given_up_in_the_end(mixture_config, monkeypatch, tmp_path):
    config = mixture_config(samples=200)
    answers = iter([False, False, True, True])
    seen = []
    monkeypatch.setattr(generator, "injective", lambda mixture, points: seen.append(mixture) or next(answers))
    _, _, found = drawn(config)
    assert len({id(mixture) for mixture in seen}) == 3
    assert found is seen[-1]
    assert not torch.equal(seen[0].layers[0][0], seen[1].layers[0][0])
    monkeypatch.setattr(generator, "injective", lambda *_: False)
    with pytest.raises(InputError, match="none of 100 mixtures") as error:
        drawn(config)
    assert "data.injective=dominant, or data.outputs_per_row=3" in str(error.value)
    path = tmp_path / "mask.csv"
    path.write_text("1,0,0\n1,1,0\n1,1,1\n0,0,1\n")
    with pytest.raises(InputError) as error:
        drawn(mixture_config(samples=200, mask=str(path)))
    assert "4 networks of 3 latents fold them" in str(error.value)
    assert str(error.value).endswith(f"data.injective=dominant, or more lines in {path}")


def test_as_many_free_networks_as_latents_fold_them(mixture_config):
    config = mixture_config(outputs_per_row=1, samples=500)
    with pytest.raises(InputError, match="none of 100 mixtures"):
        drawn(config)


def test_free_networks_are_the_first_that_are_drawn(mixture_config):
    mask, latents, free = drawn(mixture_config(injective="none", outputs_per_row=1))
    networks = generator._networks(mixture_config(), mask, Streams(0).torch("data/networks", 0))
    for (weight, bias), (drawn_weight, drawn_bias) in zip(free.layers, networks.layers, strict=True):
        assert torch.equal(weight, drawn_weight)
        assert torch.equal(bias, drawn_bias)
    assert not free.skip.any()
    assert not injective(free, latents)
    assert (dependency_structure(free.jacobian(latents[None])[0].numpy()) == mask).all()
    x = free(latents[None])[0].numpy()
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(x.std(axis=0), 1)


def test_a_free_network_folds_two_points_onto_one(mixture_config):
    _, latents, free = drawn(mixture_config(injective="none", outputs_per_row=1, mask="identity"), seed=1)
    x = free(latents[None])[0]
    backwards = [(x[z.argsort(), i].diff() < 0).any().item() for i, z in enumerate(latents.T)]
    forwards = [(x[z.argsort(), i].diff() > 0).any().item() for i, z in enumerate(latents.T)]
    assert any(map(all, zip(backwards, forwards, strict=True)))  # one observation both rises and falls


@pytest.mark.parametrize("dominance", [0.9, 0.5])
def test_the_dominant_latent_outweighs_the_network_by_the_dominance(mixture_config, dominance):
    changes = {"injective": "dominant", "outputs_per_row": 1, "dominance": dominance}
    _, latents, mixture = drawn(mixture_config(**changes))
    jacobian = mixture.jacobian(latents[None])[0] * mixture.sd[0, :, 0, None]
    network = (jacobian - mixture.skip[0]).abs().sum(dim=2).amax(dim=0)
    torch.testing.assert_close(network, dominance * mixture.skip[0].abs().sum(dim=1))


def test_a_dominance_of_1_or_more_leaves_injectivity_to_the_draw(mixture_config):
    changes = {"injective": "dominant", "outputs_per_row": 1, "samples": 500}
    _, latents, weak = drawn(mixture_config(**changes, dominance=1.5))
    assert injective(weak, latents)
    with pytest.raises(InputError, match="none of 100 mixtures") as error:
        drawn(mixture_config(**changes, dominance=1000.0))
    assert "Set data.dominance below 1, or" in str(error.value)


@pytest.mark.parametrize("distribution", ["normal", "laplace", "uniform"])
def test_latents_have_their_moments(mixture_config, distribution):
    kurtosis = {"normal": 3, "laplace": 6, "uniform": 1.8}[distribution]
    z = draw_latents(mixture_config(latent_distribution=distribution), 0, "train", 40_000).numpy()
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(np.cov(z.T), np.eye(3), atol=0.03)
    np.testing.assert_allclose((z**4).mean(axis=0), kurtosis, rtol=0.1)


def test_correlated_latents_correlate_all_alike(mixture_config):
    z = draw_latents(mixture_config(latents=4, rho=0.8), 0, "train", 40_000).numpy()
    np.testing.assert_allclose(np.cov(z.T), 0.2 * np.eye(4) + 0.8, atol=0.03)
