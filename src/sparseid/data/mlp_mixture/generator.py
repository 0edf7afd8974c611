"""Mixtures x = g(z) with a given dependency structure: one network per observation, on the latents in its mask row.

Everything is drawn on the CPU, in double precision, from streams named by the seed: a seed has the same data on every
device and in every stack. Runs of a seed that differ only in noise or correlation have the same networks and draws.
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
"""Maximum number of mixtures drawn for a seed."""
FEW = 500
"""Number of samples on which a mixture is checked before it is checked on all."""
LEAST_SINGULAR = 1e-2
"""Smallest singular value allowed for the Jacobian of unit-variance observations, at any sample."""

Layer = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Mixture:
    """The generators of a stack: x_k = (f_k(z) + skip_k . z - mean_k) / sd_k, f_k a network of one output.

    Attributes
    ----------
    layers
        Weights (members, m, in, out) and biases (members, m, 1, out) of each layer; in the first, the weights of
        latents that an observation does not read are 0.
    skip
        Coefficients (members, m, n) of the linear part.
    mean, sd
        Mean and standard deviation (members, m, 1) of the training samples.
    slope
        Slope of the activation for negative inputs.
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
        """Return observations (members, batch, m), without noise, of latents (members, batch, n)."""
        values, _ = self._outputs(latents)
        return ((values - self.mean) / self.sd).transpose(1, 2)

    def jacobian(self, latents: Tensor) -> Tensor:
        """Return the derivatives dx / dz (members, batch, m, n) at latents (members, batch, n).

        Computed backwards through the networks, each of which has one output.
        """
        _, slopes = self._outputs(latents)
        weights = [layer[0].transpose(2, 3) for layer in self.layers]
        gradient = weights[-1].expand(-1, -1, latents.shape[1], -1)  # (members, m, batch, hidden)
        for weight, slope in zip(reversed(weights[:-1]), reversed(slopes), strict=True):
            gradient = (gradient * slope) @ weight
        return ((gradient + self.skip[:, :, None]) / self.sd[..., None]).transpose(1, 2)

    def to(self, device: torch.device, dtype: torch.dtype) -> Mixture:
        """Return the mixture on a device, in a precision."""
        layers = tuple((weight.to(device, dtype), bias.to(device, dtype)) for weight, bias in self.layers)
        skip, mean, sd = (values.to(device, dtype) for values in (self.skip, self.mean, self.sd))
        return replace(self, layers=layers, skip=skip, mean=mean, sd=sd)

    def standardised(self, latents: Tensor) -> Mixture:
        """Return the mixture scaled to observations of mean 0 and variance 1 over latents (members, samples, n)."""
        raw = replace(self, mean=torch.zeros_like(self.mean), sd=torch.ones_like(self.sd))
        values, _ = raw._outputs(latents)
        return replace(self, mean=values.mean(2, keepdim=True), sd=values.std(2, correction=0, keepdim=True))

    def _outputs(self, latents: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return outputs (members, m, batch) and the slopes (members, m, batch, hidden) of every hidden layer."""
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
    """Return latents (samples, n) of a seed in double precision, each of mean 0 and variance 1.

    Normal latents have correlation rho: z = sqrt(1 - rho) e + sqrt(rho) e_0 with a common e_0.
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
    """Return observations (samples, m) of a seed with normal noise added."""
    drawn = Streams(seed).numpy(f"data/noise/{split}").standard_normal(observations.shape)
    return observations + config.noise * torch.from_numpy(drawn)


def draw_mixture(config: MLPMixtureSettings, mask: Mask, seed: int, latents: Tensor) -> Mixture:
    """Draw a member's mixture until it is injective on its training samples, or once with ``injective=none``.

    Parameters
    ----------
    config
        Settings of the networks.
    mask
        Mask (m, n) of the member.
    seed
        Seed of the member.
    latents
        Training samples (samples, n) of the member.

    Raises
    ------
    InputError
        If none of `TRIES` draws is injective.
    """
    for attempt in range(TRIES):
        generator = Streams(seed).torch("data/networks", attempt)
        mixture = _networks(config, mask, generator)
        if config.injective == "dominant":
            mixture = _dominated(mixture, mask, generator, latents, config.dominance)
        mixture = mixture.standardised(latents[None])
        if config.injective == "none" or all(injective(mixture, points) for points in (latents[:FEW], latents)):
            return mixture
    if config.injective == "check":
        other = "data.injective=dominant"
    else:
        other = "data.dominance below 1" if config.dominance >= 1 else "another data.mask or networks"
    named = f"data.outputs_per_row={config.outputs_per_row + 1} for more observations"
    more = f"more lines in {config.mask}" if config.mask_is_file else named
    text = (
        f"none of {TRIES} mixtures drawn for seed {seed} is injective: {mask.shape[0]} networks of {mask.shape[1]} "
        f"latents fold them. Set {other}, or {more}"
    )
    raise InputError(text, ("data.injective", "data.outputs_per_row"))


def injective(mixture: Mixture, latents: Tensor) -> bool:
    """Return whether a member's Jacobian is well away from rank loss on latents (samples, n).

    With as many observations as latents, its determinant must not change sign either: there is a fold between two
    samples with different signs.
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
    """Return matrices (1, outputs, inputs, units) with orthonormal rows or columns, uniformly distributed."""
    shape = (1, outputs, max(inputs, units), min(inputs, units))
    q, r = torch.linalg.qr(torch.randn(shape, generator=generator, dtype=torch.float64))
    q = q * r.diagonal(dim1=-2, dim2=-1).sign()[..., None, :]
    return q if inputs >= units else q.transpose(-2, -1)


def _dominated(mixture: Mixture, mask: Mask, generator: torch.Generator, latents: Tensor, dominance: float) -> Mixture:
    """Return a mixture in which each of n observations is dominated by a different latent.

    A perfect matching gives every latent z_i an observation k, to which c_k z_i is added, such that the absolute
    derivatives of its network sum to at most `dominance` times c_k. Below 1, two points always have different images:
    they differ in the observation of the latent in which they differ most. Latents read by the same observations are
    first rotated by a random orthogonal matrix, which preserves the support and prefers no axis of an atomic region.
    """
    matched = perfect_matching(mask)
    assert matched is not None  # settings without a matching are refused
    latent_count = mask.shape[1]
    turn = torch.eye(latent_count, dtype=torch.float64)
    for region in regions(mask):
        turn[torch.tensor(region)[:, None], torch.tensor(region)] = _orthogonal(1, len(region), len(region), generator)[
            0, 0
        ]
    turned = latents @ turn.T
    sizes = mixture.jacobian(turned[None])[0].abs().sum(dim=2).amax(dim=0)  # (m,), one per observation
    observations = torch.from_numpy(matched)
    skip = torch.zeros(mask.shape, dtype=torch.float64)
    skip[observations, torch.arange(latent_count)] = sizes[observations] / dominance
    weight, bias = mixture.layers[0]
    return replace(mixture, layers=((turn.T @ weight, bias), *mixture.layers[1:]), skip=(skip @ turn)[None])
