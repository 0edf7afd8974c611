"""Navigator and encoder have the shapes of DisCo's code."""

import torch
from torch import nn

from sparseid.methods.disco.networks import Navigator, contrastor


def test_directions_are_orthonormal_and_columns():
    navigator = Navigator(7, 4)
    matrix = navigator.matrix
    torch.testing.assert_close(matrix.T @ matrix, torch.eye(4), rtol=1e-4, atol=1e-5)
    shifts = torch.zeros(1, 4)
    shifts[0, 2] = -1.5
    torch.testing.assert_close(navigator(shifts)[0], -1.5 * matrix[:, 2])
    matrix[0].sum().backward()
    assert navigator.logarithm.grad.abs().sum() > 0


def test_the_encoder_is_that_of_discos_code():
    network = contrastor(64, 3, [64, 128, 256, 256, 256], 256, 64)
    assert network(torch.rand(2, 3, 64, 64)).shape == (2, 64)
    sizes = [tuple(layer.weight.shape) for layer in network if isinstance(layer, nn.Conv2d | nn.Linear)]
    assert sizes == [
        (64, 3, 7, 7),
        (128, 64, 4, 4),
        (256, 128, 4, 4),
        (256, 256, 4, 4),
        (256, 256, 4, 4),
        (256, 4096),
        (256, 256),
        (64, 256),
    ]
    assert {layer.negative_slope for layer in network if isinstance(layer, nn.LeakyReLU)} == {0.01}
