"""Swaps and traversals of a model whose units are the factors."""

import numpy as np
import pytest
import torch

from sparseid.data.factors import FactorGrid
from sparseid.methods.encdiff.evaluation import accuracy_of, measure_swaps, swap_units, swapped, traversed
from sparseid.methods.encdiff.reader import trained_reader
from sparseid.methods.encdiff.settings import SwapSettings
from sparseid.methods.factor_vae.evaluation import TRAVERSED

GRID = FactorGrid(("left", "right"), (3, 2))


def bars(factors):
    """Images of 8 pixels whose halves show the factors."""
    pixels = torch.zeros(len(factors), 1, 8, 8)
    levels = torch.from_numpy(np.asarray(factors)).float()
    pixels[:, :, :, :4] = levels[:, :1, None, None] / 4
    pixels[:, :, :, 4:] = levels[:, 1:, None, None] / 4
    return pixels


def encode(images):
    """Units: the right factor, the left one, and one that has no effect."""
    left, right = 4 * images[:, 0, 0, 0], 4 * images[:, 0, 0, 7]
    return torch.stack([right, left, 0 * left], dim=1)


def decode(codes):
    levels = codes[..., [1, 0]].round().clamp(min=0)
    levels = torch.minimum(levels, torch.tensor([2.0, 1.0]))
    return bars(levels.flatten(0, -2).numpy()).unflatten(0, codes.shape[:-1])


SETTINGS = SwapSettings(steps=1, images=6, batches=4, reader_steps=150, reader_width=4)


@pytest.fixture(scope="module")
def reader():
    return trained_reader(bars, GRID, SETTINGS)


def test_a_reader_learns_the_factors_and_is_the_same_each_time(reader):
    assert accuracy_of(reader, bars, GRID).tolist() == [1, 1]
    again = trained_reader(bars, GRID, SETTINGS)
    assert all(torch.equal(one, two) for one, two in zip(reader.parameters(), again.parameters(), strict=True))


def test_a_reader_is_trained_where_gradients_are_off(reader):
    with torch.inference_mode():
        again = trained_reader(bars, GRID, SETTINGS)
    assert torch.equal(next(reader.parameters()), next(again.parameters()))


def test_units_that_are_factors_are_swapped_without_leak(reader):
    found = swap_units(encode, decode, reader, bars, GRID, SETTINGS)
    np.testing.assert_array_equal(found.true, found.decoded)
    measured = measure_swaps(found, np.array([1, 0]), np.array([1.0, 1.0]), GRID)
    values = {(m.metric, m.keys["factor"]): m.value for m in measured}
    wanted = {"reader_accuracy": 1, "decoded_accuracy": 1, "transfer": 1, "leak": 0, "selectivity": 1}
    assert values == {(name, factor): value for factor in GRID.names for name, value in wanted.items()}
    wrong = {(m.metric, m.keys["factor"]): m.value for m in measure_swaps(found, np.array([0, 1]), np.ones(2), GRID)}
    assert wrong["transfer", "left"] == 0
    assert wrong["leak", "left"] > 0
    assert wrong["selectivity", "left"] == 0
    idle = {(m.metric, m.keys["factor"]): m.value for m in measure_swaps(found, np.array([2, 2]), np.ones(2), GRID)}
    assert idle["transfer", "left"] == idle["leak", "left"] == idle["selectivity", "left"] == 0


def test_the_pictures_show_what_was_decoded(reader):
    found = swap_units(encode, decode, reader, bars, GRID, SETTINGS)
    shown, first = found.pictures, found.true[0]
    images = [np.uint8(np.round(255 * bars(factors).movedim(1, 3).numpy())) for factors in (first, first[:2])]
    for name, wanted in zip(("swap_examples", "swap_decoded", "examples"), (images[0], *images), strict=True):
        np.testing.assert_array_equal(shown[name], wanted)
    assert shown["swaps"].shape == (3, 6, 8, 8, 1)
    np.testing.assert_array_equal(shown["swaps"][:, 0], shown["swap_decoded"][None, 0].repeat(3, axis=0))
    assert (shown["swaps"][0, :, 0, 7] == shown["swap_decoded"][0, 0, 7]).all()
    assert (shown["swaps"][0, :, 0, 0] == shown["swap_decoded"][:, 0, 0]).all()
    assert shown["traversals"].shape == (2, 3, 9, 8, 8, 1)
    assert (shown["traversals"][:, 2] == shown["reconstructions"][:, None]).all()


def test_codes_are_changed_one_unit_at_a_time():
    codes, mean, sd = torch.randn(4, 3), torch.randn(3), torch.rand(3)
    for unit, part in enumerate(swapped(codes)):
        for image in range(4):
            wanted = codes[image].clone()
            wanted[unit] = codes[0, unit]
            torch.testing.assert_close(part[image], wanted)
    values = torch.tensor(TRAVERSED)
    for unit, of_values in enumerate(traversed(codes, mean, sd, values)):
        for value, part in zip(values, of_values, strict=True):
            wanted = codes.clone()
            wanted[:, unit] = mean[unit] + value * sd[unit]
            torch.testing.assert_close(part, wanted)
