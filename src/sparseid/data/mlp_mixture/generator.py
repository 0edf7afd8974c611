"""Mixtures x = g(z) with a given dependency structure: one network per observation, on the latents its mask row names.

Everything is drawn on the CPU, in double precision, from streams named by the seed: a seed has the same data on every
device and in every stack. Seeds that differ in noise or correlation alone share networks and draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from sparseid.errors import InputError
from sparseid.masks import Mask, perfect_matching, regions
from sparseid.streams import Streams

if TYPE_CHECKING:
    from sparseid.data.mlp_mixture.settings import MLPMixtureSettings

TRIES = 100
"""Mixtures that are drawn for a seed before it is given up."""
FEW = 500
"""Samples on which a mixture is looked at before it is on all of them."""
LEAST_SINGULAR = 1e-2
"""Of the Jacobian of unit-variance observations; a mixture with a smaller one somewhere is rejected."""
DOMINANCE = 0.9
"""Of a dominated observation: largest sum of |derivatives| of its network, as a share of the dominant latent's own."""

Layer = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Mixture:
    """The generators of a stack: x_k = (f_k(z) + skip_k . z - mean_k) / sd_k, f_k a network of one output.

    Attributes
    ----------
    layers
        Of each layer the weights (members, m, in, out) and biases (members, m, 1, out); in the first the weights of
        what an observation does not read are 0.
    skip
        (members, m, n) what is added linearly.
    mean, sd
        (members, m, 1) of the training samples.
    slope
        Of the activation for negative inputs.
    smooth
        Whether the activation is smooth.
    """

    layers: tuple[Layer, ...]
    skip: Tensor
    mean: Tensor
    sd: Tensor
    slope: float
    smooth: bool

    def __call__(self, latents: Tensor) -> Tensor:
        """Return (members, batch, m) observations, without noise, of (members, batch, n) latents."""
        values, _ = self._outputs(latents)
        return ((values - self.mean) / self.sd).transpose(1, 2)

    def jacobian(self, latents: Tensor) -> Tensor:
        """Return (members, batch, m, n) the derivatives dx / dz at (members, batch, n) latents.

        Backwards through the networks, of which each has one output.
        """
        _, slopes = self._outputs(latents)
        weights = [layer[0].transpose(2, 3) for layer in self.layers]
        gradient = weights[-1].expand(-1, -1, latents.shape[1], -1)  # (members, m, batch, hidden)
        for weight, slope in zip(reversed(weights[:-1]), reversed(slopes), strict=True):
            gradient = (gradient * slope) @ weight
        return ((gradient + self.skip[:, :, None]) / self.sd[..., None]).transpose(1, 2)

    def to(self, device: torch.device, dtype: torch.dtype) -> Mixture:
        """Return it elsewhere, or in another precision."""
        layers = tuple((weight.to(device, dtype), bias.to(device, dtype)) for weight, bias in self.layers)
        skip, mean, sd = (values.to(device, dtype) for values in (self.skip, self.mean, self.sd))
        return replace(self, layers=layers, skip=skip, mean=mean, sd=sd)

    def standardised(self, latents: Tensor) -> Mixture:
        """Return it with observations of mean 0 and variance 1 over (members, samples, n) latents."""
        raw = replace(self, mean=torch.zeros_like(self.mean), sd=torch.ones_like(self.sd))
        values, _ = raw._outputs(latents)
        return replace(self, mean=values.mean(2, keepdim=True), sd=values.std(2, correction=0, keepdim=True))

    def _outputs(self, latents: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return (members, m, batch) outputs and, of every hidden layer, (members, m, batch, hidden) slopes."""
        values, slopes = latents[:, None], []
        for weight, bias in self.layers[:-1]:
            inputs = values @ weight + bias
            gate = inputs.sigmoid() if self.smooth else (inputs > 0).to(inputs.dtype)
            positive = torch.nn.functional.softplus(inputs) if self.smooth else inputs.clamp_min(0)
            values = self.slope * inputs + (1 - self.slope) * positive
            slopes.append(self.slope + (1 - self.slope) * gate)
        weight, bias = self.layers[-1]
        linear = latents @ self.skip.transpose(1, 2)  # (members, batch, m)
        return (values @ weight + bias)[..., 0] + linear.transpose(1, 2), slopes


def stack(mixtures: Sequence[Mixture]) -> Mixture:
    """Return the mixtures of several members as one."""
    layers = tuple(
        (torch.cat([weight for weight, _ in parts]), torch.cat([bias for _, bias in parts]))
        for parts in zip(*(mixture.layers for mixture in mixtures), strict=True)
    )
    skip, mean, sd = (torch.cat([getattr(one, name) for one in mixtures]) for name in ("skip", "mean", "sd"))
    return replace(mixtures[0], layers=layers, skip=skip, mean=mean, sd=sd)


def draw_latents(config: MLPMixtureSettings, seed: int, split: str, samples: int) -> Tensor:
    """Return (samples, n) latents of a seed in double precision, each of mean 0 and variance 1.

    Normal ones have correlation rho: z = sqrt(1 - rho) e + sqrt(rho) e_0 with an e_0 that all share.
    """
    generator = Streams(seed).numpy(f"data/latents/{split}")
    size = (samples, config.latents)
    if config.latent_distribution == "laplace":
        return torch.from_numpy(generator.laplace(scale=0.5**0.5, size=size))
    if config.latent_distribution == "uniform":
        return torch.from_numpy(generator.uniform(-(3**0.5), 3**0.5, size))
    own, shared = generator.standard_normal(size), generator.standard_normal((samples, 1))
    return torch.from_numpy((1 - config.rho) ** 0.5 * own + config.rho**0.5 * shared)


def add_noise(config: MLPMixtureSettings, seed: int, split: str, observations: Tensor) -> Tensor:
    """Return (samples, m) observations of a seed with normal noise added."""
    drawn = Streams(seed).numpy(f"data/noise/{split}").standard_normal(observations.shape)
    return observations + config.noise * torch.from_numpy(drawn)


def draw_mixture(config: MLPMixtureSettings, mask: Mask, seed: int, latents: Tensor) -> Mixture:
    """Draw a member's mixture until it is injective on its training samples.

    Parameters
    ----------
    config
        What is drawn.
    mask
        (m, n) of the member.
    seed
        Of the member.
    latents
        (samples, n) its training samples.

    Raises
    ------
    InputError
        If none of many draws is injective.
    """
    for attempt in range(TRIES):
        generator = Streams(seed).torch("data/networks", attempt)
        mixture = _networks(config, mask, generator)
        if config.injective == "dominant":
            mixture = _dominated(mixture, mask, generator, latents)
        mixture = mixture.standardised(latents[None])
        if all(injective(mixture, points) for points in (latents[:FEW], latents)):
            return mixture
    other = "data.injective=dominant" if config.injective == "check" else "another data.mask or networks"
    named = f"data.outputs_per_row={config.outputs_per_row + 1} for more observations"
    more = f"more lines in {config.mask}" if config.mask_is_file else named
    text = (
        f"none of {TRIES} mixtures drawn for seed {seed} is injective: {mask.shape[0]} networks of {mask.shape[1]} "
        f"latents fold them. Write {other}, or {more}"
    )
    raise InputError(text, ("data.injective", "data.outputs_per_row"))


def injective(mixture: Mixture, latents: Tensor) -> bool:
    """Whether a member's Jacobian is nowhere near losing rank on (samples, n) latents.

    With as many observations as latents its determinant must not change its sign either: between two samples with
    different signs a fold lies.
    """
    jacobian = mixture.jacobian(latents[None])[0]
    if torch.linalg.svdvals(jacobian)[:, -1].min() <= LEAST_SINGULAR:
        return False
    if jacobian.shape[1] > jacobian.shape[2]:
        return True
    return bool(torch.linalg.det(jacobian).sign().unique().numel() == 1)


def _networks(config: MLPMixtureSettings, mask: Mask, generator: torch.Generator) -> Mixture:
    """Return a member's networks: orthogonal weights times `gain`, normal biases; not standardised."""
    outputs, latents = mask.shape
    sizes = [latents, *[config.hidden] * config.layers, 1]
    layers: list[Layer] = []
    for inputs, units in pairwise(sizes):
        hidden = len(layers) < config.layers
        weight = _orthogonal(outputs, inputs, units, generator)
        bias = torch.randn(1, outputs, 1, units, generator=generator, dtype=torch.float64)
        layers.append((weight * config.gain if hidden else weight, bias * config.bias_std * hidden))
    reads = torch.from_numpy(mask).double()
    layers[0] = layers[0][0] * reads[None, :, :, None], layers[0][1]
    column = torch.zeros(1, outputs, 1, dtype=torch.float64)
    smooth = config.activation == "smooth_leaky"
    return Mixture(tuple(layers), torch.zeros_like(reads)[None], column, column + 1, config.slope, smooth)


def _orthogonal(outputs: int, inputs: int, units: int, generator: torch.Generator) -> Tensor:
    """Return (1, outputs, inputs, units) matrices with orthonormal rows or columns, uniformly distributed."""
    shape = (1, outputs, max(inputs, units), min(inputs, units))
    q, r = torch.linalg.qr(torch.randn(shape, generator=generator, dtype=torch.float64))
    q = q * r.diagonal(dim1=-2, dim2=-1).sign()[..., None, :]
    return q if inputs >= units else q.transpose(-2, -1)


def _dominated(mixture: Mixture, mask: Mask, generator: torch.Generator, latents: Tensor) -> Mixture:
    """Return a mixture that is injective since in n observations a latent of its own dominates each.

    A perfect matching gives every latent z_i an observation k; c_k z_i is added to it, where all derivatives of its
    network together are at most 0.9 c_k in size. Then no two points have the same image: of the latent in which they
    differ most, its observation differs. What the same observations read is first turned by a random orthogonal
    matrix: it keeps the support, and no axis of an atomic region is preferred to another.
    """
    matched = perfect_matching(mask)
    assert matched is not None  # settings without are refused
    latent_count = mask.shape[1]
    turn = torch.eye(latent_count, dtype=torch.float64)
    for region in regions(mask):
        turn[torch.tensor(region)[:, None], torch.tensor(region)] = _orthogonal(1, len(region), len(region), generator)[
            0, 0
        ]
    turned = latents @ turn.T
    sizes = mixture.jacobian(turned[None])[0].abs().sum(dim=2).amax(dim=0)  # (m,) of every observation
    observations = torch.from_numpy(matched)
    skip = torch.zeros(mask.shape, dtype=torch.float64)
    skip[observations, torch.arange(latent_count)] = sizes[observations] / DOMINANCE
    weight, bias = mixture.layers[0]
    return replace(mixture, layers=((turn.T @ weight, bias), *mixture.layers[1:]), skip=(skip @ turn)[None])
