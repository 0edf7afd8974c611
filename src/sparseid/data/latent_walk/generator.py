"""Random walks of latents in a box, and the two networks that mix them into observations (RegCL, section 3).

The paper does not describe the process; it is reconstructed from the authors' public example. Everything is drawn on
the CPU from streams named by the seed: a seed has the same data on every device and in every stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparseid.data.latent_walk.walks import redrawn_walk, reflected_walk
from sparseid.streams import Streams

if TYPE_CHECKING:
    from sparseid.data.latent_walk.settings import LatentWalkSettings

STEPS_AT_ONCE = 8192
"""Steps drawn at a time."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Network:
    """A mixing network without biases: x = G W_L phi(W_(L-1) ... phi(W_1 z)), phi the leaky ReLU.

    Attributes
    ----------
    square
        Weights (latents, latents) of each square layer W_1 ... W_L.
    expansion
        Matrix G, (features, latents).
    slope
        Slope of the leaky ReLU for negative inputs.
    """

    square: tuple[Array, ...]
    expansion: Array
    slope: float

    def __call__(self, latents: Array) -> Array:
        """Return (samples, features) observations of (samples, latents)."""
        hidden = latents @ self.square[0].T
        for weights in self.square[1:]:
            hidden = np.where(hidden > 0, hidden, self.slope * hidden) @ weights.T
        return hidden @ self.expansion.T

    def jacobian(self, latents: Array) -> Array:
        """Return the derivatives dx / dz (samples, features, latents); left derivatives at a kink."""
        hidden = latents @ self.square[0].T
        tangents = np.broadcast_to(self.square[0], (len(latents), *self.square[0].shape))
        for weights in self.square[1:]:
            slopes = np.where(hidden > 0, 1.0, self.slope)
            hidden, tangents = (slopes * hidden) @ weights.T, weights @ (slopes[..., None] * tangents)
        return self.expansion @ tangents


@dataclass(frozen=True)
class Term:
    """One network of a mixing, with the latents that it reads and the features to which its outputs are added."""

    latents: slice
    features: slice
    network: Network


@dataclass(frozen=True)
class Mixing:
    """The generator x = g(z), a sum of networks on parts of z and x."""

    terms: tuple[Term, ...]
    latents: int
    features: int

    def __call__(self, latents: Array) -> Array:
        """Return (samples, features) observations of (samples, latents)."""
        observations = np.zeros((len(latents), self.features))
        for term in self.terms:
            observations[:, term.features] += term.network(latents[:, term.latents])
        return observations

    def jacobian(self, latents: Array) -> Array:
        """Return the derivatives dx / dz (samples, features, latents)."""
        derivatives = np.zeros((len(latents), self.features, self.latents))
        for term in self.terms:
            derivatives[:, term.features, term.latents] += term.network.jacobian(latents[:, term.latents])
        return derivatives

    @property
    def truth(self) -> NDArray[np.bool_]:
        """Dependence of each feature on each latent, (latents, features) bool."""
        depends = np.zeros((self.latents, self.features), dtype=bool)
        for term in self.terms:
            depends[term.latents, term.features] = True
        return depends


def draw_mixing(config: LatentWalkSettings, seed: int) -> Mixing:
    """Draw the mixing of a seed: z1 into x1; z1 and z2 into x2, by one network or additively by one each."""
    z1, z2 = config.factors
    x1, x2 = slice(0, config.dim_x1), slice(config.dim_x1, config.dim_x1 + config.dim_x2)
    parts = {"x1": (z1, x1, config.gain_x1)}
    if config.mixing == "shared":
        parts["x2"] = (slice(0, config.latents), x2, config.gain_x2)
    else:
        parts |= {"x2_of_z1": (z1, x2, config.gain_x2), "x2_of_z2": (z2, x2, config.gain_x2)}
    terms = []
    for name, (latents, features, gain) in parts.items():
        inner, outer = latents.stop - latents.start, features.stop - features.start
        square = tuple(
            square_layer(inner, config, Streams(seed).numpy(f"data/{name}/square", layer))
            for layer in range(config.n_square_layers)
        )
        expansion = gain * Streams(seed).numpy(f"data/{name}/expansion").standard_normal((outer, inner))
        terms.append(Term(latents, features, Network(square, expansion, config.slope)))
    return Mixing(tuple(terms), config.latents, x2.stop)


def square_layer(size: int, config: LatentWalkSettings, rng: np.random.Generator) -> Array:
    """Return the matrix (size, size) at the quantile `conditioning_quantile` of `conditioning_draws` condition numbers.

    Entries are drawn from U(-1, 1), then each column is scaled to length 1.
    """
    matrices = rng.uniform(-1, 1, (config.conditioning_draws, size, size))
    matrices /= np.linalg.norm(matrices, axis=1, keepdims=True)
    spectra = np.linalg.svd(matrices, compute_uv=False)
    with np.errstate(divide="ignore"):
        conditions = spectra[:, 0] / spectra[:, -1]
    rank = round(config.conditioning_quantile * (config.conditioning_draws - 1))
    return matrices[np.argsort(conditions, kind="stable")[rank]]


def draw_latents(config: LatentWalkSettings, seeds: Sequence[int]) -> NDArray[np.float32]:
    """Return walks (members, samples, latents) with Gaussian steps that begin at 0 and stay in the box."""

    def steps(block: int) -> Array:
        size = (config.latents, STEPS_AT_ONCE)
        return config.sigma * np.concatenate(
            [Streams(s).numpy("data/steps", block).standard_normal(size) for s in seeds]
        )

    walk = redrawn_walk if config.boundary == "redraw" else reflected_walk
    walks = walk(map(steps, count()), config.samples, config.box)
    walks = walks.reshape(len(seeds), config.latents, config.samples)
    return walks.transpose(0, 2, 1).astype(np.float32, order="C")
