import numpy as np
import pytest
import torch

from sparseid.data.trees import perfect_binary_tree
from sparseid.methods.tbr.rotation import (
    contrasts,
    environment_weights,
    pooled_covariance,
    second_moments,
    sparsest_basis,
)
from sparseid.metrics.mcc import mcc


def entangled(depth=6, leaves_only=False, samples=60, seed=0, noise=0.01):
    """Latents of two members behind a linear map, labels whose weights change one at a time along the arcs."""
    rng = np.random.default_rng(seed)
    tree = perfect_binary_tree(depth, leaves_only)
    count, k = len(tree.observed), 4
    latents, mixed, labels = [], [], []
    environments = np.repeat(np.arange(count), samples)
    for _ in range(2):
        deltas = np.zeros((tree.arcs, k))
        deltas[np.arange(tree.arcs), rng.integers(0, k, tree.arcs)] = rng.normal(0, 0.5, tree.arcs)
        weights = rng.normal(size=k) + tree.incidence @ deltas
        z = np.tanh(2 * rng.normal(size=(count * samples, k)))
        latents.append(z)
        mixed.append(z @ rng.normal(size=(k, k)))
        labels.append((z * weights[environments]).sum(axis=1) + noise * rng.normal(size=len(z)))
    tensors = [torch.tensor(np.stack(values)) for values in (mixed, labels)]
    return tree, latents, *tensors, torch.from_numpy(environments).expand(2, -1)


def test_moments_add_up_and_give_least_squares_and_covariance():
    _, _, z, y, e = entangled(depth=2, samples=30)
    halves = [second_moments(z[:, part], y[:, part], e[:, part], 6) for part in (slice(0, 70), slice(70, 180))]
    moments = halves[0] + halves[1]
    weights = environment_weights(moments)
    for member in range(2):
        here = e[0] == 4
        expected = np.linalg.lstsq(z[member, here].numpy(), y[member, here].numpy(), rcond=None)[0]
        np.testing.assert_allclose(weights[member, 4], expected, rtol=1e-3)
        np.testing.assert_allclose(pooled_covariance(moments)[member], np.cov(z[member].T, bias=True), atol=1e-9)
    constant = second_moments(torch.zeros_like(z), y, e, 6)
    assert not environment_weights(constant).any()


@pytest.mark.parametrize("leaves_only", [False, True])
def test_the_sparsest_basis_disentangles(leaves_only):
    tree, latents, z, y, e = entangled(leaves_only=leaves_only)
    moments = second_moments(z, y, e, len(tree.observed))
    differences = contrasts(tree).double() @ environment_weights(moments)
    basis = sparsest_basis(differences, pooled_covariance(moments), seeds=[0, 1])
    for member in range(2):
        assert mcc(latents[member], z[member].numpy()) < 0.9
        assert mcc(latents[member], (z[member] @ basis[member].T).numpy()) > 0.995
        variance = basis[member] @ pooled_covariance(moments)[member] @ basis[member].T
        torch.testing.assert_close(variance.diagonal(), torch.ones(4).double())


def test_contrasts_are_arcs_or_siblings():
    nodes = contrasts(perfect_binary_tree(2))  # nodes 1 to 6; arcs to 3, 4 (from 1) and 5, 6 (from 2) have both ends
    assert nodes.shape == (4, 6)
    assert nodes[0].tolist() == [-1.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    leaves = contrasts(perfect_binary_tree(2, leaves_only=True))
    assert leaves.tolist() == [[-1.0, 1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 1.0]]


def test_a_member_that_is_not_finite_leaves_the_other_alone():
    tree, _, z, y, e = entangled(depth=3)
    moments = second_moments(z, y, e, len(tree.observed))
    differences, covariance = contrasts(tree).double() @ environment_weights(moments), pooled_covariance(moments)
    alone = sparsest_basis(differences[1:], covariance[1:], seeds=[1])
    differences[0], covariance[0] = torch.nan, torch.nan
    together = sparsest_basis(differences, covariance, seeds=[0, 1])
    assert torch.equal(together[0], torch.eye(4).double())
    torch.testing.assert_close(together[1], alone[0], rtol=1e-5, atol=1e-6)
