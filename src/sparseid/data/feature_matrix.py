"""Stacks of data matrices, samples by features, that lie on the device and are indexed there."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.data.batch import FeatureBatch
from sparseid.data.stack_data import StackData
from sparseid.data.stream import BatchStream
from sparseid.stacking.batches import StackedBatches, take

CHUNK = 512
"""Samples of a member in a batch of the test set."""
PERIODS = 10
"""Parts of a training that Lightning sees as an epoch each: what an epoch costs it is not paid every few batches."""


@dataclass(frozen=True)
class FeatureTruth:
    """What made the data, where that is known.

    Attributes
    ----------
    train, test
        (members, samples, true factors) float32: the factors of each sample.
    support
        (features, true factors) float32: the share of each factor in what a feature depends on; rows sum to 1. With a
        leading dimension of members where they differ.
    """

    train: Tensor
    test: Tensor
    support: Tensor

    def to(self, device: torch.device) -> FeatureTruth:
        """Return it on a device."""
        return FeatureTruth(self.train.to(device), self.test.to(device), self.support.to(device))


@dataclass(frozen=True)
class Matrices:
    """What a data set makes; the leading dimension is 1 where all members share the data.

    Attributes
    ----------
    train
        (members or 1, samples, features) float32.
    test
        The same of held-out samples; None where all samples are trained on, and are what is evaluated.
    truth
        What made them, if it is known.
    """

    train: Tensor
    test: Tensor | None = None
    truth: FeatureTruth | None = None


@dataclass(frozen=True)
class Chunks:
    """The first `samples` of a matrix in order, `size` of each member at a time."""

    matrix: Tensor
    samples: int
    size: int

    def __len__(self) -> int:
        """Return the number of batches."""
        return -(-self.samples // self.size)

    def __iter__(self) -> Iterator[FeatureBatch]:
        for start in range(0, self.samples, self.size):
            yield FeatureBatch(self.matrix[:, start : min(start + self.size, self.samples)])


class FeatureData(StackData):
    """A data matrix for each member of a stack, or one that they share.

    An epoch is a permutation of a member's training samples; its last batch is smaller where they do not divide
    evenly. ``trainer.max_samples`` counts it as a full one.

    Parameters
    ----------
    seeds
        One per member.
    batch_size
        Training samples of a member per step.
    test_items
        Test samples of a member.

    Attributes
    ----------
    train, test
        (members, samples, features) float32 on the device, there from `setup` on. Members that share the data share
        its memory.
    truth
        What made the data; None where it is not known.
    column_sd
        (members, features) float32: population standard deviation of each feature over training and test samples.
    feature_names
        One per feature; None where they have no names.
    feature_kinds
        One per feature, what kinds of feature it is: ``Action|Sci-Fi``; None where there are none.
    labels
        (test samples,) the class of each test sample; None where there are no classes.
    gene_sets
        Name -> features in upper case, of which it is counted how many sets some factor is about; None where none are
        given.
    note
        What a table made from these data must say; empty where they are the paper's.
    remarks
        What the run's log must say about what was read.
    """

    likelihood: ClassVar[Literal["gaussian", "multinomial"]]
    """Of a row: independent Gaussian features, or counts of its features."""
    row_normalised: ClassVar[bool] = False
    """Whether an encoder sees each row divided by its sum."""
    topic_size: ClassVar[int] = 5
    """Features that a topic is shown by."""
    features: int
    """Columns of the matrix."""
    feature_names: list[str] | None = None
    feature_kinds: list[str] | None = None
    labels: NDArray[np.str_] | None = None
    gene_sets: dict[str, frozenset[str]] | None = None
    note: str = ""
    remarks: list[str]
    train: Tensor
    test: Tensor
    truth: FeatureTruth | None
    column_sd: Tensor

    def __init__(self, seeds: Sequence[int], batch_size: int, test_items: int) -> None:
        super().__init__()
        self.seeds, self.batch_size, self.test_items = list(seeds), batch_size, test_items
        self.remarks = []
        self._batches: StackedBatches | None = None

    @abstractmethod
    def make(self) -> Matrices:
        """Return the data of all members, on the CPU."""

    def setup(self, stage: str | None = None) -> None:
        """Make the data and move them to the device, once."""
        if self._batches is not None:
            return
        device = torch.device("cpu") if self.trainer is None else self.trainer.strategy.root_device
        made = self.make()
        self.column_sd = self._each(_column_sd(made), device)
        self.train = self._each(made.train, device)
        self.test = self.train if made.test is None else self._each(made.test, device)
        self.truth = None if made.truth is None else made.truth.to(device)
        self._batches = StackedBatches(self.seeds, self.train.shape[1], self.batch_size, device, drop_last=False)

    def _each(self, values: Tensor, device: torch.device) -> Tensor:
        """Return values on the device with one entry per member: expanded, not copied, where they are shared."""
        return values.contiguous().to(device).expand(len(self.seeds), *[-1] * (values.ndim - 1))

    @property
    def epoch_steps(self) -> int:
        """Batches of an epoch; there from `setup` on."""
        assert self._batches is not None
        return len(self._batches)

    def training_batch(self, number: int) -> FeatureBatch:
        """Return training batch `number`: a function of the members' seeds and the number."""
        assert self._batches is not None
        return FeatureBatch(rows(self.train, self._batches.indices(number)))

    def train_dataloader(self) -> BatchStream[FeatureBatch]:
        """Return the training batches up to the end of the period, from the trainer's next step on."""
        assert self.trainer is not None
        trainer = self.trainer
        return BatchStream(self.training_batch, lambda: trainer.global_step, max(1, -(-trainer.max_steps // PERIODS)))

    def test_dataloader(self) -> Chunks:
        """Return the first `test_items` test samples."""
        return Chunks(self.test, min(self.test_items, self.test.shape[1]), CHUNK)

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Leave the batch where it is: on the device."""
        return batch


def rows(matrix: Tensor, indices: Tensor) -> Tensor:
    """Return the chosen rows of every member.

    Parameters
    ----------
    matrix
        (members, samples, features), contiguous, or one matrix expanded to all members.
    indices
        (members, batch) int64.

    Returns
    -------
    Tensor
        (members, batch, features)
    """
    if len(matrix) > 1 and matrix.stride(0) == 0:
        return matrix[0].index_select(0, indices.flatten()).view(*indices.shape, -1)
    return take(matrix, indices)


def _column_sd(made: Matrices) -> Tensor:
    """Return (members or 1, features) population standard deviations over all samples."""
    parts = [made.train] if made.test is None else [made.train, made.test]
    members = max(map(len, parts))
    whole = torch.cat([part.expand(members, -1, -1) for part in parts], dim=1)
    return whole.double().std(dim=1, correction=0).float()
