"""Losses of EncDiff's autoencoder against plain code."""

import pytest
import torch
from torch import nn

from sparseid.methods.encdiff.losses import adaptive_weight, critics_loss, scales


def test_the_critics_loss_is_the_hinge_of_both_classes():
    real, made = torch.tensor([0.5, 2.0, -1.0]), torch.tensor([-0.5, 1.0, -3.0])
    wanted = (0.5 + 0.0 + 2.0) / 3 / 2 + (0.5 + 2.0 + 0.0) / 3 / 2
    assert critics_loss(real, made).item() == pytest.approx(wanted)


def test_the_adaptive_weight_gives_both_gradients_the_same_norm():
    last = nn.Parameter(torch.tensor([3.0, 4.0]))
    pixels, adversarial = (2 * last).sum(), (last**2).sum() / 2
    weight = adaptive_weight(pixels, adversarial, last)
    assert weight.item() == pytest.approx(2 * 2**0.5 / 5, rel=1e-4)
    assert adaptive_weight(pixels, 0 * adversarial, last).item() == pytest.approx(1e4)


def test_the_scale_of_a_code_is_its_standard_deviation_and_differentiable_for_a_constant_unit():
    codes = torch.randn(6, 3)
    codes[:, 1] = 2.0
    codes.requires_grad_()
    found = scales(codes)
    torch.testing.assert_close(found, codes.std(dim=0, correction=0), atol=2e-6, rtol=1e-5)
    found.sum().backward()
    assert codes.grad.isfinite().all()
