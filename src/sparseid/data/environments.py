"""Stacks of data from several environments, stored and indexed on the device."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.data.batch import EnvironmentBatch
from sparseid.data.module import StackedData
from sparseid.data.stream import BatchStream, Chunks
from sparseid.data.trees import Tree
from sparseid.stacking.batches import StackedBatches, take

CHUNK = 512
"""Number of samples of a member in a batch of the validation and test set."""


@dataclass(frozen=True)
class EnvironmentSplit:
    """Training, validation or test samples of all members.

    Attributes
    ----------
    inputs
        (members, samples, features) float32.
    labels
        (members, samples) float32.
    environments
        (samples,) int64: the environment of each sample, the same for all members.
    latents
        (members, samples, latents) float32, or None.
    """

    inputs: Tensor
    labels: Tensor
    environments: Tensor
    latents: Tensor | None = None

    def __len__(self) -> int:
        """Return the number of samples of a member."""
        return len(self.environments)

    def batch(self, indices: Tensor) -> EnvironmentBatch:
        """Return the samples at indices (members, batch), without their latents."""
        environments = self.environments.index_select(0, indices.flatten()).view(indices.shape)
        return EnvironmentBatch(take(self.inputs, indices), take(self.labels, indices), environments)

    def part(self, samples: slice) -> EnvironmentBatch:
        """Return consecutive samples of all members, with their latents."""
        environments = self.environments[samples].expand(len(self.labels), -1)
        latents = None if self.latents is None else self.latents[:, samples]
        return EnvironmentBatch(self.inputs[:, samples], self.labels[:, samples], environments, latents)

    def chunks(self, samples: int | None = None, size: int = CHUNK) -> Chunks[EnvironmentBatch]:
        """Return the first `samples` samples (all for None) of every member in order, `size` at a time."""
        return Chunks(self.part, len(self) if samples is None else min(samples, len(self)), size)

    def to(self, device: torch.device | str) -> EnvironmentSplit:
        """Return the split on a device."""
        latents = None if self.latents is None else self.latents.to(device)
        tensors = (self.inputs.to(device), self.labels.to(device), self.environments.to(device))
        return EnvironmentSplit(*tensors, latents)


class EnvironmentData(StackedData):
    """Data from several environments on a tree, for a stack.

    Parameters
    ----------
    tree
        The tree and its observed environments.
    seeds
        One per member.
    batch_size
        Training samples of a member per step.
    test_items
        Number of test samples of a member.

    Attributes
    ----------
    train, validation, test
        The splits; available after `setup`.
    """

    features: int
    """Size of an input."""
    latents: int
    """Number of true latents; 0 if they are unknown."""
    unseen: str | None = None
    """Name of the environment that is only tested on, if any."""
    domain: str = ""
    """Row key ``domain`` of user-provided data that differ from the paper's; empty if the settings define the key."""
    names: Mapping[str, NDArray[np.str_]] = MappingProxyType({})
    """Names for a run's arrays: of features, environments and arcs, and ids of test samples; empty without names."""
    train: EnvironmentSplit
    validation: EnvironmentSplit
    test: EnvironmentSplit

    def __init__(self, tree: Tree, seeds: list[int], batch_size: int, test_items: int) -> None:
        super().__init__(seeds, batch_size, test_items)
        self.tree = tree
        self._batches: StackedBatches | None = None

    @abstractmethod
    def make(self) -> tuple[EnvironmentSplit, EnvironmentSplit, EnvironmentSplit]:
        """Return the training, validation and test samples of all members, on the CPU."""

    def setup(self, stage: str | None = None) -> None:
        """Create the data on the device, once."""
        if self._batches is not None:
            return
        self.train, self.validation, self.test = (split.to(self.device) for split in self.make())
        self._batches = StackedBatches(self.seeds, len(self.train), self.batch_size, self.device)

    def train_dataloader(self) -> BatchStream[EnvironmentBatch]:
        """Return the training batches of a period, from the trainer's next step on: an epoch without an early stop."""
        assert self.trainer is not None
        assert self._batches is not None
        trainer, length = self.trainer, len(self._batches)
        if self.early_stop:
            length = max(1, -(-trainer.max_steps // self.early_stop.validations))
        return BatchStream(self.training_batch, lambda: trainer.global_step, length)

    def val_dataloader(self) -> Chunks[EnvironmentBatch]:
        """Return the validation samples."""
        return self.validation.chunks()

    def test_dataloader(self) -> Chunks[EnvironmentBatch]:
        """Return the first `test_items` test samples."""
        return self.test.chunks(self.test_items)

    def training_batch(self, number: int) -> EnvironmentBatch:
        """Return training batch `number`: a function of the members' seeds and the number."""
        assert self._batches is not None
        return self.train.batch(self._batches.indices(number))
