"""The simulation of TBR (section 4): latents of a random map, labels whose weights change along the arcs of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from sparseid.data.trees import Tree, perfect_binary_tree
from sparseid.streams import Streams

if TYPE_CHECKING:
    from sparseid.data.tree_simulation.settings import TreeSimulationSettings


@dataclass(frozen=True)
class Simulation:
    """One realisation; environment e's samples are ``inputs[e]``, independent of each other.

    Attributes
    ----------
    mixing
        (features, latents) M of Phi(x) = tanh(M^T x) or M^T x.
    root_weights
        (latents,) w_0.
    deltas
        (arcs, latents) change of the weights along each arc.
    inputs
        (environments, samples, features) x.
    latents
        (environments, samples, latents) z = Phi(x) + noise.
    labels
        (environments, samples) y = w_e . z + noise.
    """

    mixing: Tensor
    root_weights: Tensor
    deltas: Tensor
    inputs: Tensor
    latents: Tensor
    labels: Tensor


def tree_of(config: TreeSimulationSettings) -> Tree:
    """Return the tree and its observed environments."""
    return perfect_binary_tree(config.depth, leaves_only=config.observed == "leaves")


def simulate(config: TreeSimulationSettings, tree: Tree, seed: int) -> Simulation:
    """Draw one realisation, on the CPU: the data of a seed are the same on every device.

    Seeds that differ in `S` or `pi` alone share mixing, root weights, inputs and noise, and the entries that change at
    S also change at S + 1, with the same values: curves against S compare like with like.
    """
    streams, k = Streams(seed), config.latents
    environments, n = len(tree.observed), config.samples

    def normal(name: str, *shape: int) -> Tensor:
        return torch.randn(shape, generator=streams.torch(f"data/{name}"))

    mixing, root_weights = normal("mixing", config.features, k), normal("root_weights", k)
    deltas = config.delta_std * normal("deltas", tree.arcs, k) * changes(config, tree.arcs, streams)
    inputs = normal("inputs", environments, n, config.features)
    clean = inputs @ mixing
    if config.map == "tanh":
        clean = clean.tanh_()
    latents = clean + config.noise_std_z * normal("latent_noise", environments, n, k)
    weights = root_weights + torch.from_numpy(tree.incidence) @ deltas  # (environments, latents), Eq. 2
    labels = (latents @ weights[:, :, None])[..., 0]  # Eq. 1: of the noisy latents
    labels += config.noise_std_y * normal("label_noise", environments, n)
    return Simulation(mixing, root_weights, deltas, inputs, latents, labels)


def changes(config: TreeSimulationSettings, arcs: int, streams: Streams) -> Tensor:
    """Return (arcs, latents) bool: which weights change along each arc.

    ``sparse``: exactly S of them, every choice alike; ``bernoulli``: each with probability pi, independently.
    """
    drawn = torch.rand(arcs, config.latents, generator=streams.torch("data/changes"), dtype=torch.float64)
    if config.changes == "bernoulli":
        return drawn < config.pi
    return drawn.argsort(dim=1).argsort(dim=1) < config.S


def split_sizes(samples: int) -> tuple[int, int, int]:
    """Return how many samples of an environment train, validate and test: a half, a quarter and the rest (App. A.4).

    Examples
    --------
    >>> split_sizes(3000)
    (1500, 750, 750)
    """
    return samples // 2, samples // 4, samples - samples // 2 - samples // 4
