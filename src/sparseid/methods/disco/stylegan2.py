"""The generator of StyleGAN2 (Karras et al. 2020), for weights of rosinality/stylegan2-pytorch.

Parameters and fixed noise have the names and shapes of that repository, from which DisCo's published generators come. A
style scales the inputs of a convolution, and another factor its outputs, in place of the weights: the same numbers.
"""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from sparseid.errors import InputError

KEYS = ("method.generator.checkpoint",)
TAPS = (1.0, 3.0, 3.0, 1.0)
"""Low-pass filter of one axis, before it is normalised."""
SLOPE, GAIN = 0.2, math.sqrt(2)
"""Of the leaky ReLUs, whose outputs are multiplied by the gain."""
MAPPING_RATE = 0.01
"""Factor of the weights of the mapping, a smaller learning rate while it was trained."""
EPSILON = 1e-8
START = 4
"""Side of the learned constant, in pixels."""


class ScaledLinear(nn.Module):
    """A linear layer whose stored weights are scaled when they are used; followed by a leaky ReLU, if asked for."""

    def __init__(
        self, inputs: int, outputs: int, rate: float = 1.0, bias: float = 0.0, activated: bool = False
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / rate)
        self.bias = nn.Parameter(torch.full((outputs,), bias))
        self.rate, self.activated = rate, activated

    def forward(self, inputs: Tensor) -> Tensor:
        """Return (batch, outputs)."""
        weight = self.weight * (self.rate / math.sqrt(self.weight.shape[1]))
        outputs = functional.linear(inputs, weight, self.bias * self.rate)
        return functional.leaky_relu(outputs, SLOPE) * GAIN if self.activated else outputs


class PixelNorm(nn.Module):
    """Vectors scaled to a root mean square of 1."""

    def forward(self, inputs: Tensor) -> Tensor:
        """Return (batch, values)."""
        return inputs * torch.rsqrt(inputs.square().mean(dim=1, keepdim=True) + EPSILON)


class ModulatedConvolution(nn.Module):
    """A convolution whose weights depend on a style; it may double the side."""

    def __init__(self, inputs: int, outputs: int, kernel: int, latents: int, demodulate: bool, upsample: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, outputs, inputs, kernel, kernel))
        self.modulation = ScaledLinear(latents, inputs, bias=1.0)
        self.demodulate, self.upsample = demodulate, upsample

    def forward(self, images: Tensor, latents: Tensor) -> Tensor:
        """Return (batch, outputs, height, width), or twice the size."""
        style = self.modulation(latents)
        weight = self.weight[0] / math.sqrt(self.weight[0, 0].numel())
        images = images * style[..., None, None]
        if self.upsample:
            outputs = filtered(functional.conv_transpose2d(images, weight.transpose(0, 1), stride=2), 4.0, (1, 1))
        else:
            outputs = functional.conv2d(images, weight, padding=weight.shape[-1] // 2)
        if self.demodulate:
            squares = style.square() @ weight.square().sum(dim=(2, 3)).T
            outputs = outputs * torch.rsqrt(squares + EPSILON)[..., None, None]
        return outputs


class StyledConvolution(nn.Module):
    """A modulated convolution, noise and a leaky ReLU."""

    def __init__(self, inputs: int, outputs: int, latents: int, upsample: bool = False) -> None:
        super().__init__()
        self.conv = ModulatedConvolution(inputs, outputs, 3, latents, demodulate=True, upsample=upsample)
        self.noise = nn.ParameterDict({"weight": torch.zeros(1)})
        self.activate = nn.ParameterDict({"bias": torch.zeros(outputs)})

    def forward(self, images: Tensor, latents: Tensor, noise: Tensor) -> Tensor:
        """Return (batch, outputs, height, width), or twice the size."""
        outputs = self.conv(images, latents) + self.noise["weight"] * noise
        return functional.leaky_relu(outputs + self.activate["bias"][:, None, None], SLOPE) * GAIN


class ToRGB(nn.Module):
    """Colours of features, added to those of the smaller images."""

    def __init__(self, inputs: int, latents: int) -> None:
        super().__init__()
        self.conv = ModulatedConvolution(inputs, 3, 1, latents, demodulate=False, upsample=False)
        self.bias = nn.Parameter(torch.zeros(1, 3, 1, 1))

    def forward(self, images: Tensor, latents: Tensor, smaller: Tensor | None = None) -> Tensor:
        """Return (batch, 3, height, width)."""
        colours = self.conv(images, latents) + self.bias
        return colours if smaller is None else colours + upsampled(smaller)


class StyleGAN2(nn.Module):
    """Generator of images in [0, 1] from latents of its mapping's output space, W.

    The noise in its layers is fixed, so that an image is a function of its latents.

    Parameters
    ----------
    side
        Side of the images, a power of 2 from 8 on.
    latents
        Dimensions of W and of the noise that it is mapped from.
    channels
        Channels of every layer.
    mapping_layers
        Layers of the mapping.
    """

    def __init__(self, side: int, latents: int, channels: int, mapping_layers: int) -> None:
        super().__init__()
        mapping = (ScaledLinear(latents, latents, MAPPING_RATE, activated=True) for _ in range(mapping_layers))
        self.style = nn.Sequential(PixelNorm(), *mapping)
        self.input = nn.ParameterDict({"input": torch.randn(1, channels, START, START)})
        self.conv1, self.to_rgb1 = StyledConvolution(channels, channels, latents), ToRGB(channels, latents)
        self.convs, self.to_rgbs, self.noises = nn.ModuleList(), nn.ModuleList(), nn.Module()
        sides = [START]
        while sides[-1] < side:
            size = 2 * sides[-1]
            self.convs.append(StyledConvolution(channels, channels, latents, upsample=True))
            self.convs.append(StyledConvolution(channels, channels, latents))
            self.to_rgbs.append(ToRGB(channels, latents))
            sides += [size, size]
        for number, size in enumerate(sides):
            self.noises.register_buffer(f"noise_{number}", torch.randn(1, 1, size, size))
        self.latents, self.side = latents, side

    def place(self, normal: Tensor) -> Tensor:
        """Return the latents (batch, latents) of standard normal noise (batch, latents)."""
        mapped: Tensor = self.style(normal)
        return mapped

    def forward(self, latents: Tensor) -> Tensor:
        """Return images (batch, 3, side, side) about in [0, 1] of latents (batch, latents)."""
        noise: list[Tensor] = list(self.noises.buffers())
        features = self.conv1(self.input["input"].expand(len(latents), -1, -1, -1), latents, noise[0])
        colours = self.to_rgb1(features, latents)
        for level, to_rgb in enumerate(self.to_rgbs):
            for number in (2 * level, 2 * level + 1):
                features = self.convs[number](features, latents, noise[number + 1])
            colours = to_rgb(features, latents, colours)
        images: Tensor = (colours + 1) / 2
        return images


def filtered(images: Tensor, gain: float, padding: tuple[int, int]) -> Tensor:
    """Return images (batch, channels, height, width), padded with zeros and smoothed by the low-pass filter."""
    taps = torch.tensor(TAPS, dtype=images.dtype, device=images.device)
    kernel = torch.outer(taps, taps) * (gain / taps.sum().square())
    padded = functional.pad(images, (*padding, *padding))
    return functional.conv2d(padded, kernel.expand(images.shape[1], 1, -1, -1), groups=images.shape[1])


def upsampled(images: Tensor) -> Tensor:
    """Return images of twice the side, interpolated by the low-pass filter."""
    batch, channels, height, width = images.shape
    spread = images.new_zeros(batch, channels, height, 2, width, 2)
    spread[:, :, :, 0, :, 0] = images
    return filtered(spread.reshape(batch, channels, 2 * height, 2 * width), 4.0, (2, 1))


def load_stylegan2(path: str, side: int, latents: int, channels: int, mapping_layers: int) -> StyleGAN2:
    """Return the generator in a file of weights; nothing in the file is executed.

    Parameters
    ----------
    path
        The file: weights by name, or these as its entry ``g_ema``.
    side, latents, channels, mapping_layers
        See `StyleGAN2`.

    Raises
    ------
    InputError
        If it is missing or damaged, holds more than tensors, or those of another generator.
    """
    if not path or not Path(path).is_file():
        what = f"{path} is not a file" if path else "no generator is given"
        raise InputError(
            f"method.generator.kind=stylegan2: {what}. Give the weights of a StyleGAN2 of {side} pixels, trained on "
            "these images, as method.generator.checkpoint=/path/to/weights.pt (DisCo's authors publish some: "
            "github.com/xrenaa/DisCo), or set method.generator.kind=vae",
            KEYS,
        )
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many types for a damaged file, and for one that holds code
        raise InputError(f"{path} cannot be read as weights ({str(error).splitlines()[0]})", KEYS) from error
    weights = content.get("g_ema", content) if isinstance(content, dict) else content
    if not isinstance(weights, dict) or not all(isinstance(value, Tensor) for value in weights.values()):
        raise InputError(f"{path} has no weights by name", KEYS)
    weights = {
        name: value for name, value in weights.items() if not name.endswith(".kernel")
    }  # filters, always the same
    generator = StyleGAN2(side, latents, channels, mapping_layers)
    wanted = {name: tuple(value.shape) for name, value in generator.state_dict().items()}
    found = {name: tuple(value.shape) for name, value in weights.items()}
    if different := sorted(name for name in wanted | found if wanted.get(name) != found.get(name)):
        name = different[0]
        raise InputError(
            f"{path} holds another generator: {name} is {found.get(name, 'missing')} instead of "
            f"{wanted.get(name, 'missing')}, and {len(different) - 1} more differ. Check data.size and "
            "method.generator.latents, channels and mapping_layers",
            KEYS,
        )
    generator.load_state_dict(weights)
    return generator
