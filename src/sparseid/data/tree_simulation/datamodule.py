"""The simulation as Lightning sees it: one realisation per member of the stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from sparseid.data.environments import EnvironmentData, EnvironmentSplit
from sparseid.data.tree_simulation.generator import Simulation, simulate, split_sizes, tree_of

if TYPE_CHECKING:
    from sparseid.config.schema import TreeSimulationConfig


class TreeSimulationData(EnvironmentData):
    """Batches of the simulation for a stack of members, each with data of its own.

    Parameters
    ----------
    config
        What is simulated.
    seeds
        One per member.
    batch_size
        Training samples of a member per step.
    """

    def __init__(self, config: TreeSimulationConfig, seeds: list[int], batch_size: int) -> None:
        tree = tree_of(config)
        super().__init__(tree, seeds, batch_size, len(tree.observed) * split_sizes(config.samples)[2])
        self.config, self.features, self.latents = config, config.features, config.latents

    def make(self) -> tuple[EnvironmentSplit, EnvironmentSplit, EnvironmentSplit]:
        """Draw every member's realisation; latents are kept where they are needed, in the test set."""
        sizes = split_sizes(self.config.samples)
        members: list[list[tuple[torch.Tensor, ...]]] = [[], [], []]
        for seed in self.seeds:  # one at a time: a realisation is large before it is taken apart
            simulation = simulate(self.config, self.tree, seed)
            for split, tensors in zip(members, parts(simulation, sizes), strict=True):
                split.append(tensors)
        made = []
        for size, split in zip(sizes, members, strict=True):
            inputs, labels, *latents = (torch.stack(tensors) for tensors in zip(*split, strict=True))
            environments = torch.arange(len(self.tree.observed)).repeat_interleave(size)
            made.append(EnvironmentSplit(inputs, labels, environments, *latents))
        return made[0], made[1], made[2]


def parts(simulation: Simulation, sizes: tuple[int, int, int]) -> list[tuple[torch.Tensor, ...]]:
    """Return inputs and labels of each split, (environments x samples, ...) by environment; the test's latents too.

    Samples of an environment are exchangeable: the first are for training, the next for validation, the rest for the
    test.
    """
    inputs, labels, latents = (
        tensor.split(sizes, dim=1) for tensor in (simulation.inputs, simulation.labels, simulation.latents)
    )
    found = [(inputs[i].flatten(0, 1), labels[i].flatten()) for i in range(3)]
    return [found[0], found[1], (*found[2], latents[2].flatten(0, 1))]
