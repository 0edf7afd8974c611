"""Traversals and measurements of a flow whose answers are known."""

import numpy as np
import pytest
import torch
from torch import nn

from sparseid.methods.gin.evaluation import (
    STEPS,
    Traversals,
    distribution,
    factor_correlations,
    inverse_error,
    log_abs_dets,
    measure,
    moved_share,
    traverse,
)


class Scaling(nn.Module):
    """A flow of images of 2 x 2 pixels that scales each pixel."""

    def __init__(self, scales):
        super().__init__()
        self.register_buffer("scales", torch.tensor(scales))

    def forward(self, images):
        return images.flatten(1) * self.scales

    def inverse(self, latents):
        return (latents / self.scales).view(-1, 1, 2, 2)


FLOW = Scaling([1.0, 4.0, 0.5, 2.0])
IMAGES = torch.rand(50, 1, 2, 2, generator=torch.Generator().manual_seed(0))


def test_latents_are_traversed_by_decreasing_deviation_around_their_mean():
    of = distribution(FLOW, IMAGES.split(20))
    torch.testing.assert_close(of.deviation, FLOW(IMAGES).std(dim=0, correction=0))
    found = traverse(FLOW, of, 3)
    assert found.latents.tolist() == [1, 3, 0]
    assert found.images.shape == (3, 9, 2, 2)
    mean, sd = (IMAGES.mean(dim=0)[0], IMAGES.std(dim=0, correction=0)[0])
    for row, place in enumerate([(0, 1), (1, 1), (0, 0)]):
        for step, image in zip(STEPS, found.images[row], strict=True):
            wanted = mean.clone()
            wanted[place] += step * sd[place]
            np.testing.assert_allclose(image, wanted.clamp(0, 1), atol=1e-6)
        change = np.zeros((2, 2))
        change[place] = 2 * sd[place]
        np.testing.assert_allclose(found.changes[row], change, atol=1e-6)


def test_determinant_and_inverse_are_measured():
    torch.testing.assert_close(log_abs_dets(FLOW, IMAGES[:2]), torch.full((2,), np.log(4), dtype=torch.float64))
    assert inverse_error(FLOW, IMAGES) < 1e-6
    broken = Scaling([1.0, 4.0, 0.5, 2.0])
    broken.inverse = lambda latents: FLOW.inverse(latents) + 0.25
    assert inverse_error(broken, IMAGES) == pytest.approx(0.25, abs=1e-6)


def test_the_share_of_moved_pixels():
    one, all_alike = np.array([[0.0, -3.0], [0.0, 0.0]]), np.full((2, 2), 0.1)
    assert moved_share(np.stack([one, all_alike])) == pytest.approx((0.25 + 1) / 2)
    assert moved_share(np.stack([one, np.zeros((2, 2))])) == 0.25
    assert moved_share(np.zeros((1, 2, 2))) == 0


def test_a_factor_is_found_in_the_latent_that_varies_with_it():
    rng = np.random.default_rng(0)
    factor, other = rng.random(200), rng.random(200)
    codes = np.stack([other, 1 - 2 * factor + 0.1 * other, np.zeros(200)], axis=1)
    known = factor.copy()
    known[150:] = np.nan
    found = factor_correlations(codes, {"heel": known, "noise": rng.random(200)})
    assert found["heel"] == (pytest.approx(abs(np.corrcoef(factor[:150], codes[:150, 1])[0, 1])), 150)
    assert found["heel"][0] > 0.99
    assert found["noise"][0] < 0.3


def test_measurements_are_largest_errors_and_means():
    traversals = Traversals(np.array([4, 1]), np.array([0.5, 0.2]), np.zeros((2, 9, 2, 2)), np.ones((2, 2, 2)))
    measured = measure(torch.tensor([1.0, 3.0]), 0.5, torch.tensor([-0.3, 0.1]), traversals, {"heel": (0.9, 7)})
    assert {(m.metric, *m.keys.values()): (m.value, m.n) for m in measured} == {
        ("flow_nll",): (2.0, 2),
        ("log_abs_det_max",): (pytest.approx(0.3), 2),
        ("inverse_error",): (0.5, 2),
        ("moved_share",): (1.0, 2),
        ("largest_deviation",): (0.5, 1),
        ("factor_correlation", "heel"): (0.9, 7),
    }
