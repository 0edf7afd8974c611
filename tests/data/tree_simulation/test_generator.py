from dataclasses import replace

import numpy as np
import pytest
import torch

from sparseid.data.tree_simulation.generator import simulate, split_sizes, tree_of
from sparseid.data.tree_simulation.settings import TreeSimulationSettings

CONFIG = TreeSimulationSettings(
    depth=4, samples=200, features=16, latents=5, delta_std=0.5, noise_std_z=0.1, noise_std_y=0.1
)


def draw(seed=0, **changes):
    config = replace(CONFIG, **changes)
    return simulate(config, tree_of(config), seed)


def test_shapes_and_trees():
    drawn = draw()
    assert drawn.inputs.shape == (30, 200, 16)
    assert drawn.latents.shape == (30, 200, 5)
    assert drawn.labels.shape == (30, 200)
    assert drawn.deltas.shape == (30, 5)
    assert draw(observed="leaves").inputs.shape == (16, 200, 16)
    assert draw(observed="leaves").deltas.shape == (30, 5)
    assert {tensor.dtype for tensor in vars(drawn).values()} == {torch.float32}


def test_labels_are_what_the_equations_say():
    drawn = draw(noise_std_z=0.0, noise_std_y=0.0)
    latents = torch.tanh(drawn.inputs @ drawn.mixing)
    torch.testing.assert_close(drawn.latents, latents)
    for environment, node in enumerate(tree_of(CONFIG).observed):
        weights, at = drawn.root_weights.clone(), int(node)
        while at > 0:  # up to the root, arc by arc: arc a leads to node a + 1
            weights += drawn.deltas[at - 1]
            at = (at - 1) // 2
        torch.testing.assert_close(drawn.labels[environment], latents[environment] @ weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("changes", range(6))
def test_exactly_s_weights_change_along_every_arc_and_all_of_them_alike(changes):
    deltas = draw(depth=9, samples=4, S=changes).deltas
    changed = deltas != 0
    assert (changed.sum(dim=1) == changes).all()
    torch.testing.assert_close(changed.double().mean(dim=0), torch.full((5,), changes / 5).double(), atol=0.06, rtol=0)


def test_bernoulli_changes_have_probability_pi():
    changed = draw(depth=9, samples=4, changes="bernoulli", pi=0.3).deltas != 0
    assert changed.double().mean().item() == pytest.approx(0.3, abs=0.025)
    assert changed.sum(dim=1).unique().tolist() == [0, 1, 2, 3, 4, 5]
    assert not draw(changes="bernoulli", pi=0.0).deltas.any()
    assert draw(changes="bernoulli", pi=1.0).deltas.all()


def test_moments():
    drawn = draw(depth=6, samples=400, S=5)
    deltas = torch.cat([draw(seed, depth=8, samples=4, S=5).deltas for seed in range(4)])
    assert deltas.std().item() == pytest.approx(0.5, rel=0.02)
    assert deltas.mean().item() == pytest.approx(0.0, abs=0.02)
    assert drawn.inputs.mean().item() == pytest.approx(0.0, abs=0.01)
    assert drawn.inputs.std().item() == pytest.approx(1.0, rel=0.01)
    noise = drawn.latents - torch.tanh(drawn.inputs @ drawn.mixing)
    assert noise.std().item() == pytest.approx(0.1, rel=0.01)
    weights = drawn.root_weights + torch.from_numpy(tree_of(replace(CONFIG, depth=6)).incidence) @ drawn.deltas
    left = drawn.labels - (drawn.latents @ weights[:, :, None])[..., 0]
    assert left.std().item() == pytest.approx(0.1, rel=0.01)
    # pre-activations have variance 16: the map saturates, and the MCC's ceiling is sqrt(v / (v + 0.01)) = 0.994
    assert np.mean([draw(seed).latents.var(dim=(0, 1)).mean() for seed in range(5)]) == pytest.approx(0.81, abs=0.03)


def test_linear_map():
    drawn = draw(map="linear", noise_std_z=0.0)
    torch.testing.assert_close(drawn.latents, drawn.inputs @ drawn.mixing)


def test_seeds_differ_and_a_curve_against_s_compares_like_with_like():
    one, two, other = draw(0, S=1), draw(0, S=2), draw(1, S=1)
    assert torch.equal(one.inputs, two.inputs)
    assert torch.equal(one.latents, two.latents)
    kept = one.deltas != 0
    assert torch.equal(one.deltas[kept], two.deltas[kept])
    assert not torch.equal(one.inputs, other.inputs)
    assert not torch.equal(one.mixing, other.mixing)
    assert torch.equal(draw(0, S=1).labels, one.labels)


@pytest.mark.parametrize("samples", [4, 5, 7, 40, 3000])
def test_every_sample_is_in_one_split(samples):
    sizes = split_sizes(samples)
    assert sum(sizes) == samples
    assert min(sizes) >= 1
