"""Networks of DisCo: navigator and encoder, as in its authors' code."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn


class Navigator(nn.Module):
    """Orthonormal directions in the latents of a generator, the first columns of a rotation.

    The rotation is the matrix exponential of an antisymmetric matrix.

    Parameters
    ----------
    latents
        Dimensions of the space.
    directions
        Number of directions, at most `latents`.
    """

    def __init__(self, latents: int, directions: int) -> None:
        super().__init__()
        self.logarithm = nn.Parameter(torch.randn(latents, latents))
        self.latents, self.directions = latents, directions

    @property
    def matrix(self) -> Tensor:
        """Directions (latents, directions), one a column."""
        return torch.matrix_exp(self.logarithm - self.logarithm.T)[:, : self.directions]

    def forward(self, shifts: Tensor) -> Tensor:
        """Return the shifts (batch, latents) with coordinates (batch, directions)."""
        return shifts @ self.matrix.T


def contrastor(side: int, channels: int, widths: Sequence[int], hidden: int, dims: int) -> nn.Sequential:
    """Return the encoder from images (batch, channels, side, side) in [0, 1] to representations (batch, dims).

    Parameters
    ----------
    side, channels
        Size of the images.
    widths
        Channels after each convolution; the first has a kernel of 7 pixels and keeps the side, the others halve it.
    hidden
        Units of the two fully connected layers.
    dims
        Size of the representation.
    """
    parts: list[nn.Module] = [nn.Conv2d(channels, widths[0], 7, padding=3), nn.LeakyReLU()]
    for inputs, outputs in pairwise(widths):
        parts += [nn.Conv2d(inputs, outputs, 4, 2, 1), nn.LeakyReLU()]
    top = widths[-1] * (side // 2 ** (len(widths) - 1)) ** 2
    parts.append(nn.Flatten())
    for inputs, outputs in pairwise([top, hidden, hidden]):
        parts += [nn.Linear(inputs, outputs), nn.LeakyReLU()]
    network = nn.Sequential(*parts, nn.Linear(hidden, dims))
    for layer in network:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.kaiming_normal_(layer.weight)
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
    return network
