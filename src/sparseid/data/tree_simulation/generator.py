"""Simulation of TBR (section 4): latents by a random map, labels with weights that change along the arcs of a tree."""

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
        Matrix M (features, latents) of Phi(x) = tanh(M^T x) or M^T x.
    root_weights
        Weights w_0 of the root, (latents,).
    deltas
        Change of the weights along each arc, (arcs, latents).
    inputs
        Inputs x, (environments, samples, features).
    latents
        Latents z = Phi(x) + noise, (environments, samples, latents).
    labels
        Labels y = w_e . z + noise, (environments, samples).
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

    Runs of a seed that differ only in `S` or `pi` have the same mixing, root weights, inputs and noise, and the entries
    that change at S also change at S + 1, with the same values, so that points of a curve against S are comparable.
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
    labels = (latents @ weights[:, :, None])[..., 0]  # Eq. 1, with the noisy latents
    labels += config.noise_std_y * normal("label_noise", environments, n)
    return Simulation(mixing, root_weights, deltas, inputs, latents, labels)


def changes(config: TreeSimulationSettings, arcs: int, streams: Streams) -> Tensor:
    """Return the weights that change along each arc, (arcs, latents) bool.

    ``sparse``: exactly S of them, uniform over all choices; ``bernoulli``: each with probability pi, independently.
    """
    drawn = torch.rand(arcs, config.latents, generator=streams.torch("data/changes"), dtype=torch.float64)
    if config.changes == "bernoulli":
        return drawn < config.pi
    return drawn.argsort(dim=1).argsort(dim=1) < config.S


def split_sizes(samples: int) -> tuple[int, int, int]:
    """Return the numbers of training, validation and test samples: a half, a quarter and the rest (App. A.4).

    Examples
    --------
    >>> split_sizes(3000)
    (1500, 750, 750)
    """
    return samples // 2, samples // 4, samples - samples // 2 - samples // 4
