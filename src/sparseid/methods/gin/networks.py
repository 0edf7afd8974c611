"""The flow GIN (Sorrenson, Rother and Koethe 2020): coupling blocks that preserve volume, on two sizes of images.

A coupling is 40 lines and therefore ours: the package FrEIA, in which the authors wrote it, has had no release since
2022. Arrays of its block are compared with ours in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import pixel_shuffle, pixel_unshuffle

Subnet = Callable[[int, int], nn.Module]
"""Makes a network from a number of input channels to a number of output channels."""
SOFT = 0.636
"""About 2 / pi: ``SOFT * atan`` is between -1 and 1."""


class Coupling(nn.Module):
    """A GIN coupling: each half of the channels is scaled and shifted by functions of the other half.

    The log scales sum to zero over the channels of a half, so that the determinant of the Jacobian is 1. The first
    half is transformed first.

    Parameters
    ----------
    channels
        Channels of the input (batch, channels, ...), 2 or more.
    subnet
        Makes the network that computes raw log scales and shifts, one after the other along the channels.
    clamp
        Bound of the log scales, before their mean is subtracted.

    Attributes
    ----------
    of_second, of_first
        Networks of the second half, for the first, and of the transformed first half, for the second.
    """

    def __init__(self, channels: int, subnet: Subnet, clamp: float = 2.0) -> None:
        super().__init__()
        first = channels // 2
        self.sizes, self.clamp = [first, channels - first], clamp
        self.of_second = subnet(channels - first, 2 * first)
        self.of_first = subnet(first, 2 * (channels - first))

    def forward(self, inputs: Tensor) -> Tensor:
        """Transform inputs (batch, channels, ...)."""
        first, second = inputs.split(self.sizes, dim=1)
        log_scale, shift = self._scale_and_shift(self.of_second(second))
        first = first * log_scale.exp() + shift
        log_scale, shift = self._scale_and_shift(self.of_first(first))
        return torch.cat([first, second * log_scale.exp() + shift], dim=1)

    def inverse(self, outputs: Tensor) -> Tensor:
        """Return the inputs of outputs (batch, channels, ...)."""
        first, second = outputs.split(self.sizes, dim=1)
        log_scale, shift = self._scale_and_shift(self.of_first(first))
        second = (second - shift) * (-log_scale).exp()
        log_scale, shift = self._scale_and_shift(self.of_second(second))
        return torch.cat([(first - shift) * (-log_scale).exp(), second], dim=1)

    def _scale_and_shift(self, raw: Tensor) -> tuple[Tensor, Tensor]:
        raw_scale, shift = raw.chunk(2, dim=1)
        log_scale = self.clamp * SOFT * raw_scale.atan()
        return log_scale - log_scale.mean(dim=1, keepdim=True), shift


class Permutation(nn.Module):
    """A fixed random order of the channels, drawn from the global generator."""

    order: Tensor

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.register_buffer("order", torch.randperm(channels))

    def forward(self, inputs: Tensor) -> Tensor:
        """Reorder inputs (batch, channels, ...)."""
        return inputs[:, self.order]

    def inverse(self, outputs: Tensor) -> Tensor:
        """Return the inputs of outputs (batch, channels, ...)."""
        return outputs[:, self.order.argsort()]


class Squeeze(nn.Module):
    """Pixels of 2 x 2 as channels: half the side, four times the channels."""

    def forward(self, inputs: Tensor) -> Tensor:
        """Return (batch, 4 channels, height / 2, width / 2)."""
        return pixel_unshuffle(inputs, 2)

    def inverse(self, outputs: Tensor) -> Tensor:
        """Return the inputs of outputs."""
        return pixel_shuffle(outputs, 2)


class Flatten(nn.Module):
    """Images (batch, channels, height, width) as vectors."""

    def __init__(self, channels: int, side: int) -> None:
        super().__init__()
        self.shape = (channels, side, side)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return (batch, values)."""
        return inputs.flatten(1)

    def inverse(self, outputs: Tensor) -> Tensor:
        """Return the inputs of outputs."""
        return outputs.unflatten(1, self.shape)


class GINFlow(nn.Module):
    """A flow from images to as many latents, whose Jacobian has determinant 1 everywhere (up to its sign).

    Levels of convolutional couplings, each after a `Squeeze`, and one of fully connected couplings; every coupling is
    followed by a `Permutation`. Untrained, it only reorders pixels.

    Parameters
    ----------
    side, channels
        Size of the images.
    widths
        Channels inside the subnetworks of each convolutional level.
    blocks
        Couplings of each of these levels.
    hidden, last_blocks
        Units inside the subnetworks of the last level, and its couplings.
    clamp
        See `Coupling`.

    Raises
    ------
    ValueError
        If the side cannot be halved that often.
    """

    def __init__(
        self,
        side: int,
        channels: int = 1,
        widths: Sequence[int] = (16, 32),
        blocks: int = 4,
        hidden: int = 392,
        last_blocks: int = 2,
        clamp: float = 2.0,
    ) -> None:
        super().__init__()
        parts: list[nn.Module] = []
        for width in widths:
            if side % 2:
                raise ValueError(f"images of {side} pixels cannot be halved")
            side, channels = side // 2, 4 * channels
            parts.append(Squeeze())
            for _ in range(blocks):
                parts += [Coupling(channels, convolutions(width), clamp), Permutation(channels)]
        parts.append(Flatten(channels, side))
        latents = channels * side**2
        for _ in range(last_blocks):
            parts += [Coupling(latents, perceptron(hidden), clamp), Permutation(latents)]
        self.parts, self.latents = nn.ModuleList(parts), latents

    def forward(self, images: Tensor) -> Tensor:
        """Return the latents (batch, latents) of images (batch, channels, side, side)."""
        for part in self.parts:
            images = part(images)
        return images

    def inverse(self, latents: Tensor) -> Tensor:
        """Return the images (batch, channels, side, side) of latents (batch, latents)."""
        for part in reversed(self.parts):
            latents = part.inverse(latents)  # type: ignore[operator]
        return latents


def convolutions(width: int) -> Subnet:
    """Return a maker of subnetworks with three convolutions of 3 x 3 pixels and `width` channels between them."""

    def make(inputs: int, outputs: int) -> nn.Module:
        sizes = ((inputs, width), (width, width), (width, outputs))
        return _with_relus([nn.Conv2d(*size, kernel_size=3, padding=1) for size in sizes])

    return make


def perceptron(hidden: int) -> Subnet:
    """Return a maker of subnetworks with three linear layers and `hidden` units between them."""

    def make(inputs: int, outputs: int) -> nn.Module:
        return _with_relus([nn.Linear(*size) for size in ((inputs, hidden), (hidden, hidden), (hidden, outputs))])

    return make


def _with_relus(layers: Sequence[nn.Conv2d | nn.Linear]) -> nn.Sequential:
    """Join layers by ReLUs; weights are Glorot's normal ones, those of the last layer zero, like all biases."""
    for layer in layers:
        nn.init.xavier_normal_(layer.weight)
        nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
    nn.init.zeros_(layers[-1].weight)
    return nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU())))[:-1]
