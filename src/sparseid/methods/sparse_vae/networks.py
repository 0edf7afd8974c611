"""Common encoder and dense decoder of the models, and the random numbers of a step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from sparseid.stacking.layers import StackedLinear
from sparseid.stacking.noise import StepDraws
from sparseid.streams import Streams


class Posterior(NamedTuple):
    """Posterior of each sample's latents; all (members, batch, latents).

    Attributes
    ----------
    mean, log_variance
        Mean and log variance of the Gaussian.
    log_gamma
        Logarithm (at most 0) of the probability that a latent is not zero; only for VSC, otherwise None.
    """

    mean: Tensor
    log_variance: Tensor
    log_gamma: Tensor | None = None


class Encoder(nn.Module):
    """Two layers of ReLUs and one linear head for each field of `Posterior` that the model has.

    Parameters
    ----------
    features, hidden, latents
        Sizes of an input, of the two layers and of z.
    generators
        One per member, for its initial values.
    with_gamma
        Whether there is a head for gamma.
    """

    def __init__(
        self, features: int, hidden: int, latents: int, generators: Sequence[torch.Generator], with_gamma: bool = False
    ) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            *(StackedLinear(features, hidden, generators), nn.ReLU(inplace=True)),
            *(StackedLinear(hidden, hidden, generators), nn.ReLU(inplace=True)),
        )
        self.mean = StackedLinear(hidden, latents, generators)
        self.log_variance = StackedLinear(hidden, latents, generators)
        self.log_gamma = StackedLinear(hidden, latents, generators) if with_gamma else None

    def forward(self, inputs: Tensor) -> Posterior:
        """Encode (members, batch, features)."""
        hidden = self.trunk(inputs)
        log_gamma = None if self.log_gamma is None else self.log_gamma(hidden).clamp(max=0)
        return Posterior(self.mean(hidden), self.log_variance(hidden), log_gamma)


class DenseDecoder(nn.Sequential):
    """Decoder of VAE and VSC: like `MaskedDecoder`, but every feature depends on all latents.

    Parameters
    ----------
    latents, hidden, features
        Sizes of z, of the two layers and of the output.
    generators
        One per member.
    """

    def __init__(self, latents: int, hidden: int, features: int, generators: Sequence[torch.Generator]) -> None:
        super().__init__(
            *(StackedLinear(latents, hidden, generators, bias=False), nn.ReLU(inplace=True)),
            *(StackedLinear(hidden, hidden, generators), nn.ReLU(inplace=True)),
            StackedLinear(hidden, features, generators),
        )


class Noise(NamedTuple):
    """Random numbers of a sample of latents, (members, batch, latents) each.

    Attributes
    ----------
    normal
        Standard normal.
    uniform
        Uniform in [0, 1); used only by VSC.
    """

    normal: Tensor
    uniform: Tensor


def drawn(streams: Iterable[torch.Generator], shape: tuple[int, ...], device: torch.device) -> Noise:
    """Return the noise of `shape` for every member from its generator, moved to a device."""
    pairs = [(torch.randn(shape, generator=g), torch.rand(shape, generator=g)) for g in streams]
    normal, uniform = zip(*pairs, strict=True)
    return Noise(torch.stack(normal).to(device), torch.stack(uniform).to(device))


class RestartNoise:
    """Noise of every training step, per member: a function of (seed, restart, step).

    Parameters
    ----------
    seeds, restarts
        Seeds, and restarts of each; the members are all restarts of the first seed, then those of the next.
    batch, latents
        Samples and latents of a member in a full batch.
    """

    def __init__(self, seeds: Sequence[int], restarts: int, batch: int, latents: int) -> None:
        def draw_block(block: int, steps: int) -> Noise:
            streams = restart_generators(seeds, restarts, "noise", block)
            return drawn(streams, (steps, batch, latents), torch.device("cpu"))

        self._draws = StepDraws(draw_block, batch * latents)

    def at(self, step: int, batch: int, device: torch.device) -> Noise:
        """Return the noise of a step for the samples of its batch, which may be fewer than a full batch."""
        return Noise(*(part[:, :batch] for part in self._draws.at(step, device)))


def restart_generators(seeds: Sequence[int], restarts: int, name: str, *counters: int) -> list[torch.Generator]:
    """Return the generator of a stream for each restart of each seed, on the CPU."""
    return [Streams(seed).torch(name, *counters, restart) for seed in seeds for restart in range(restarts)]
