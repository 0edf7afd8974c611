"""Networks of FactorVAE as in disentanglement_lib: convolutional autoencoder and discriminator."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from torch import Tensor, nn

SLOPE = 0.2
"""Slope of the discriminator's leaky ReLUs for negative inputs."""


class Posterior(NamedTuple):
    """Mean and log variance of the latents, (batch, latents) each."""

    mean: Tensor
    log_variance: Tensor


class ImageVAE(nn.Module):
    """Encoder and decoder of square images; each convolution halves their side, each transposed one doubles it.

    The decoder mirrors the encoder's widths and always has kernels of 4 pixels.

    Parameters
    ----------
    side, channels
        Size of the images.
    latents
        Size of the code.
    widths
        Channels after each convolution.
    kernels
        Side of the kernel of each convolution, 2 or 4.
    hidden
        Units of the fully connected layer of encoder and decoder each.

    Attributes
    ----------
    decoder
        Maps latents (batch, latents) to logits of images (batch, channels, side, side).

    Raises
    ------
    ValueError
        If the side cannot be halved that often.
    """

    def __init__(
        self,
        side: int,
        channels: int,
        latents: int,
        widths: Sequence[int] = (32, 32, 64, 64),
        kernels: Sequence[int] = (4, 4, 2, 2),
        hidden: int = 256,
    ) -> None:
        super().__init__()
        smallest, remainder = divmod(side, 2 ** len(widths))
        if remainder or not smallest:
            raise ValueError(f"images of {side} pixels cannot be halved {len(widths)} times")
        top = widths[-1] * smallest**2
        convolutions: list[nn.Module] = []
        for (inputs, outputs), kernel in zip(pairwise([channels, *widths]), kernels, strict=True):
            convolutions += [nn.Conv2d(inputs, outputs, kernel, 2, (kernel - 2) // 2), nn.ReLU()]
        self.encoder = nn.Sequential(
            *convolutions, nn.Flatten(), nn.Linear(top, hidden), nn.ReLU(), nn.Linear(hidden, 2 * latents)
        )
        transposed: list[nn.Module] = []
        for inputs, outputs in pairwise([*reversed(widths), channels]):
            transposed += [nn.ConvTranspose2d(inputs, outputs, 4, 2, 1), nn.ReLU()]
        self.decoder = nn.Sequential(
            *(nn.Linear(latents, hidden), nn.ReLU(), nn.Linear(hidden, top), nn.ReLU()),
            nn.Unflatten(1, (widths[-1], smallest, smallest)),
            *transposed[:-1],
        )
        initialise(self)

    def encode(self, images: Tensor) -> Posterior:
        """Return the posterior of images (batch, channels, side, side) in [0, 1]."""
        return Posterior(*self.encoder(images).chunk(2, dim=1))


def discriminator(latents: int, hidden: int = 1000, layers: int = 6) -> nn.Sequential:
    """Return a perceptron from latents (batch, latents) to logits (batch, 2): joint (0), or permuted (1)."""
    sizes = [latents, *[hidden] * layers]
    parts: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        parts += [nn.Linear(inputs, outputs), nn.LeakyReLU(SLOPE)]
    network = nn.Sequential(*parts, nn.Linear(sizes[-1], 2))
    initialise(network)
    return network


def initialise(network: nn.Module) -> None:
    """Draw weights as TensorFlow does by default, which disentanglement_lib keeps: Glorot's uniform, zero biases."""
    for layer in network.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
