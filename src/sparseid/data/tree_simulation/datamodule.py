"""Data module of the simulation: one realisation per member of the stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sparseid.data.environments import EnvironmentData, EnvironmentSplit
from sparseid.data.tree_simulation.generator import simulate, split_sizes, tree_of

if TYPE_CHECKING:
    from sparseid.data.tree_simulation.settings import TreeSimulationSettings

LATENTS = (False, False, True)
"""Presence of true latents in training, validation and test samples."""


class TreeSimulationData(EnvironmentData):
    """Batches of the simulation for a stack of members, each with its own data.

    Parameters
    ----------
    config
        Settings of the simulation.
    seeds
        One per member.
    batch_size
        Training samples of a member per step.
    """

    def __init__(self, config: TreeSimulationSettings, seeds: list[int], batch_size: int) -> None:
        tree = tree_of(config)
        super().__init__(tree, seeds, batch_size, len(tree.observed) * split_sizes(config.samples)[2])
        self.config, self.features, self.latents = config, config.features, config.latents

    def make(self) -> tuple[EnvironmentSplit, EnvironmentSplit, EnvironmentSplit]:
        """Draw the realisation of every member; latents are stored only for the test set, which needs them.

        Samples of an environment are exchangeable: the first are for training, the next for validation, the rest for
        the test.
        """
        sizes = split_sizes(self.config.samples)
        train, validation, test = (self._empty(size, latents) for size, latents in zip(sizes, LATENTS, strict=True))
        for member, seed in enumerate(self.seeds):  # filled one by one: a realisation is large
            drawn = simulate(self.config, self.tree, seed)
            starts = (0, sizes[0], sizes[0] + sizes[1])
            for split, start, size in zip((train, validation, test), starts, sizes, strict=True):
                samples = slice(start, start + size)
                split.inputs[member] = drawn.inputs[:, samples].flatten(0, 1)
                split.labels[member] = drawn.labels[:, samples].flatten()
                if split.latents is not None:
                    split.latents[member] = drawn.latents[:, samples].flatten(0, 1)
        return train, validation, test

    def _empty(self, size: int, with_latents: bool) -> EnvironmentSplit:
        """Return a split with room for `size` samples of each member and environment."""
        members, environments = len(self.seeds), len(self.tree.observed)
        items = environments * size
        latents = torch.empty(members, items, self.latents) if with_latents else None
        numbers = torch.arange(environments).repeat_interleave(size)
        return EnvironmentSplit(
            torch.empty(members, items, self.features), torch.empty(members, items), numbers, latents
        )
