"""Stacks of data from several environments that lie on the device and are indexed there."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sparseid.data.batch import EnvironmentBatch
from sparseid.data.stack_data import StackData
from sparseid.data.stream import BatchStream
from sparseid.data.trees import Tree
from sparseid.stacking.batches import StackedBatches, take

CHUNK = 512
"""Samples of a member in a batch of the validation and test set."""


@dataclass(frozen=True)
class EnvironmentSplit:
    """The training, validation or test samples of all members.

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
        """Return the samples of a member."""
        return len(self.environments)

    def batch(self, indices: Tensor) -> EnvironmentBatch:
        """Return the samples (members, batch) of each member, without their latents."""
        environments = self.environments.index_select(0, indices.flatten()).view(indices.shape)
        return EnvironmentBatch(take(self.inputs, indices), take(self.labels, indices), environments)

    def chunks(self, samples: int | None = None, size: int = CHUNK) -> Chunks:
        """Return the first samples of all members in order, `size` of each at a time; all of them for None."""
        return Chunks(self, len(self) if samples is None else min(samples, len(self)), size)

    def to(self, device: torch.device | str) -> EnvironmentSplit:
        """Return it on a device."""
        latents = None if self.latents is None else self.latents.to(device)
        tensors = (self.inputs.to(device), self.labels.to(device), self.environments.to(device))
        return EnvironmentSplit(*tensors, latents)


@dataclass(frozen=True)
class Chunks:
    """The first `samples` of a split, `size` of each member at a time."""

    split: EnvironmentSplit
    samples: int
    size: int

    def __len__(self) -> int:
        """Return the number of batches."""
        return -(-self.samples // self.size)

    def __iter__(self) -> Iterator[EnvironmentBatch]:
        split = self.split
        for start in range(0, self.samples, self.size):
            part = slice(start, min(start + self.size, self.samples))
            environments = split.environments[part].expand(len(split.labels), -1)
            latents = None if split.latents is None else split.latents[:, part]
            yield EnvironmentBatch(split.inputs[:, part], split.labels[:, part], environments, latents)


class EnvironmentData(StackData):
    """Data of several environments on a tree, for a stack.

    Parameters
    ----------
    tree
        The tree and its observed environments.
    seeds
        One per member.
    batch_size
        Training samples of a member per step.
    test_items
        Test samples of a member.

    Attributes
    ----------
    train, validation, test
        The splits; there from `setup` on.
    """

    features: int
    """Size of an input."""
    latents: int
    """Number of true latents."""
    unseen: str | None = None
    """Name of the environment that is tested on and not trained on, if there is one."""
    domain: str = ""
    """Row key ``domain`` of data that only seem to be the paper's; empty where the configuration tells."""
    note: str = ""
    """What a table made from these data must say; empty where they are the paper's."""
    train: EnvironmentSplit
    validation: EnvironmentSplit
    test: EnvironmentSplit

    def __init__(self, tree: Tree, seeds: list[int], batch_size: int, test_items: int) -> None:
        super().__init__()
        self.tree, self.seeds, self.batch_size = tree, list(seeds), batch_size
        self.test_items = test_items
        self._batches: StackedBatches | None = None

    @abstractmethod
    def make(self) -> tuple[EnvironmentSplit, EnvironmentSplit, EnvironmentSplit]:
        """Return the training, validation and test samples of all members, on the CPU."""

    def setup(self, stage: str | None = None) -> None:
        """Make the data and move them to the device, once."""
        if self._batches is not None:
            return
        device = torch.device("cpu") if self.trainer is None else self.trainer.strategy.root_device
        self.train, self.validation, self.test = (split.to(device) for split in self.make())
        self._batches = StackedBatches(self.seeds, len(self.train), self.batch_size, device)

    def train_dataloader(self) -> BatchStream[EnvironmentBatch]:
        """Return the training batches of an epoch, from the trainer's next step on."""
        assert self.trainer is not None
        assert self._batches is not None
        trainer, batches = self.trainer, self._batches
        return BatchStream(self.training_batch, lambda: trainer.global_step, len(batches))

    def val_dataloader(self) -> Chunks:
        """Return the validation samples."""
        return self.validation.chunks()

    def test_dataloader(self) -> Chunks:
        """Return the first `test_items` test samples."""
        return self.test.chunks(self.test_items)

    def training_batch(self, number: int) -> EnvironmentBatch:
        """Return training batch `number`: a function of the members' seeds and the number."""
        assert self._batches is not None
        return self.train.batch(self._batches.indices(number))

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Leave the batch where it is: on the device."""
        return batch
