"""Scores and pictures of encoders that are known: of the true factors, collapsed, not finite."""

import numpy as np
import pytest
import torch

from sparseid.data.factors import FactorGrid
from sparseid.methods.factor_vae.evaluation import (
    TRAVERSED,
    encoded,
    measure,
    pictures_of,
    pixels_of,
    scores_of,
)
from sparseid.methods.factor_vae.settings import ScoreSettings

FEW = ScoreSettings(200, 200, 16, 300, 100, 100)


GRID = FactorGrid(("left", "right"), (3, 2))


def bars(factors):
    """Images of 4 pixels whose first row shows the factors."""
    pixels = torch.zeros(len(factors), 1, 4, 4)
    pixels[:, 0, 0, :2] = torch.from_numpy(factors) * 50 / 255
    return pixels


def true_factors(images):
    return 5 * images[:, 0, 0, :2]


def values(encode):
    return {m.metric: m.value for m in measure(scores_of(encode, bars, GRID, FEW), FEW, np.array([2.0, 4.0]))}


def test_an_encoder_of_the_true_factors_has_perfect_scores():
    found = values(lambda images: true_factors(images)[:, [1, 0]])
    assert found.pop("active_dims") == 2
    assert found.pop("image_error") == 3
    assert all(value == pytest.approx(1, abs=1e-6) for value in found.values())


def test_a_collapsed_encoder_scores_0():
    found = values(lambda images: 1e-3 * true_factors(images))
    assert found["factorvae_score"] == found["active_dims"] == 0


def test_an_encoder_whose_codes_are_not_finite_has_no_score():
    found = values(lambda images: torch.full((len(images), 2), torch.nan))
    assert np.isnan([found["factorvae_score"], found["dci_disentanglement"], found["dci_test_accuracy"]]).all()


def test_each_observation_is_encoded_once_and_found_again():
    seen = []

    def encode(images):
        seen.extend(images)
        return true_factors(images)

    drawn = [np.random.default_rng(0).integers((3, 2), size=shape) for shape in ((5, 6, 2), (7, 2))]
    codes, index = encoded(encode, bars, GRID, drawn)
    assert len(seen) == len(codes) == 6
    for factors, rows in zip(drawn, index, strict=True):
        np.testing.assert_allclose(codes[rows], factors * 50 / 51, rtol=1e-6)


def test_pixels_are_those_of_the_factors():
    assert pixels_of(bars(np.array([[2, 1]])))[0, 0, :, 0].tolist() == [100, 50, 0, 0]


def test_a_traversal_changes_one_dimension_and_keeps_the_others():
    def decode(codes):
        return torch.nn.functional.pad((codes / 10 + 0.5)[:, None, None], (0, 2, 0, 3))

    found = pictures_of(true_factors, decode, bars, GRID)
    codes = true_factors(torch.from_numpy(found["examples"]).movedim(3, 1) / 255)
    assert found["traversals"].shape == (2, 2, 9, 4, 4, 1)
    np.testing.assert_array_equal(found["traversal_values"], np.float32(TRAVERSED))
    for image, code in enumerate(codes):
        for varied in range(2):
            for place, value in enumerate(TRAVERSED):
                moved = code.clone()
                moved[varied] = value
                wanted = pixels_of(decode(moved[None]))[0]
                np.testing.assert_array_equal(found["traversals"][image, varied, place], wanted)
    np.testing.assert_array_equal(found["reconstructions"], pixels_of(decode(codes)))
