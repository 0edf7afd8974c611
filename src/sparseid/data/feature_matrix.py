"""Stacks of data matrices (samples, features), stored and indexed on the device."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.data.batch import FeatureBatch
from sparseid.data.module import StackedData
from sparseid.data.stream import BatchStream, Chunks
from sparseid.data.tables import split_rows
from sparseid.stacking.batches import StackedBatches, take

CHUNK = 512
"""Number of samples of a member in a batch of the test set."""
PERIODS = 10
"""Number of periods of a training, each an epoch for Lightning: avoids its overhead per epoch every few batches."""


@dataclass(frozen=True)
class FeatureTruth:
    """Ground truth of synthetic data.

    Attributes
    ----------
    train, test
        (members, samples, true factors) float32: the factors of each sample.
    support
        (features, true factors) float32: fraction of each factor in the dependence of a feature; rows sum to 1. With a
        leading dimension of members if they differ.
    """

    train: Tensor
    test: Tensor
    support: Tensor

    def to(self, device: torch.device) -> FeatureTruth:
        """Return the ground truth on a device."""
        return FeatureTruth(self.train.to(device), self.test.to(device), self.support.to(device))


@dataclass(frozen=True)
class Matrices:
    """Data matrices of all members; the leading dimension is 1 if the members share the data.

    Attributes
    ----------
    train
        (members or 1, samples, features) float32.
    test
        The same for held-out samples; None if all samples are used for training and evaluation.
    truth
        Ground truth, if known.
    validation
        As `test`, for the early stop.
    """

    train: Tensor
    test: Tensor | None = None
    truth: FeatureTruth | None = None
    validation: Tensor | None = None

    def validated(self, share: float) -> Matrices:
        """Return the matrices with a fraction of the training samples as validation samples, unless there are some."""
        if self.validation is not None:
            return self
        train, validation = (torch.from_numpy(part) for part in split_rows(self.train.shape[1], share))
        truth = self.truth and replace(self.truth, train=self.truth.train[:, train])
        return Matrices(self.train[:, train], self.test, truth, self.train[:, validation])


class FeatureData(StackedData):
    """A data matrix for each member of a stack, or one shared by all.

    An epoch is a permutation of a member's training samples; its last batch may be smaller, but counts as a full one
    in ``trainer.max_samples``.

    Parameters
    ----------
    seeds
        One per member.
    batch_size
        Training samples of a member per step.
    test_items
        Number of test samples of a member.

    Attributes
    ----------
    train, test, validation
        (members, samples, features) float32 on the device; available after `setup`, `validation` only with an early
        stop. Members that share the data share its memory.
    truth
        Ground truth; None if unknown.
    column_sd
        (members, features) float32: population standard deviation of each feature over training and test samples.
    feature_names
        Names of the features; None without names.
    row_ids
        Id of each test sample, (test samples,); None without ids.
    feature_kinds
        Categories of each feature, such as ``Action|Sci-Fi``; None without categories.
    labels
        Class of each test sample, (test samples,); None without classes.
    gene_sets
        Name -> features in upper case, for the number of sets that some factor is enriched for; None without sets.
    """

    likelihood: Literal["gaussian", "multinomial"]
    """Likelihood of a row: independent Gaussian features, or multinomial counts."""
    row_normalised: bool = False
    """True if encoders see each row divided by its sum."""
    topic_size: ClassVar[int] = 5
    """Number of features that describe a topic."""
    features: int
    """Number of columns of the matrix."""
    feature_names: list[str] | None = None
    row_ids: NDArray[np.str_] | None = None
    feature_kinds: list[str] | None = None
    labels: NDArray[np.str_] | None = None
    gene_sets: dict[str, frozenset[str]] | None = None
    train: Tensor
    test: Tensor
    validation: Tensor
    truth: FeatureTruth | None
    column_sd: Tensor

    def __init__(self, seeds: Sequence[int], batch_size: int, test_items: int) -> None:
        super().__init__(seeds, batch_size, test_items)
        self._batches: StackedBatches | None = None

    @abstractmethod
    def make(self) -> Matrices:
        """Return the data of all members, on the CPU."""

    def setup(self, stage: str | None = None) -> None:
        """Create the data on the device, once."""
        if self._batches is not None:
            return
        device = self.device
        made = self.make()
        self.column_sd = self._each(_column_sd(made), device)
        if self.early_stop:
            made = made.validated(self.early_stop.held_out)
            assert made.validation is not None
            self.validation = self._each(made.validation, device)
        self.train = self._each(made.train, device)
        self.test = self.train if made.test is None else self._each(made.test, device)
        self.truth = None if made.truth is None else made.truth.to(device)
        self._batches = StackedBatches(self.seeds, self.train.shape[1], self.batch_size, device, drop_last=False)

    def _each(self, values: Tensor, device: torch.device) -> Tensor:
        """Return values on the device with one entry per member; shared values are expanded, not copied."""
        return values.contiguous().to(device).expand(len(self.seeds), *[-1] * (values.ndim - 1))

    @property
    def epoch_steps(self) -> int:
        """Number of batches of an epoch; available after `setup`."""
        assert self._batches is not None
        return len(self._batches)

    def training_batch(self, number: int) -> FeatureBatch:
        """Return training batch `number`: a function of the members' seeds and the number."""
        assert self._batches is not None
        return FeatureBatch(rows(self.train, self._batches.indices(number)))

    def seen(self) -> NDArray[np.float64]:
        """Return the training and validation samples (samples, features) of the first member, for baselines."""
        parts = [self.train, self.validation] if self.early_stop else [self.train]
        return torch.cat([part[0] for part in parts]).double().cpu().numpy()

    def train_dataloader(self) -> BatchStream[FeatureBatch]:
        """Return the training batches up to the end of the period, from the trainer's next step on."""
        assert self.trainer is not None
        trainer, periods = self.trainer, self.early_stop.validations if self.early_stop else PERIODS
        return BatchStream(self.training_batch, lambda: trainer.global_step, max(1, -(-trainer.max_steps // periods)))

    def val_dataloader(self) -> Chunks[FeatureBatch] | list[FeatureBatch]:
        """Return the validation samples; none without an early stop."""
        if not self.early_stop:
            return []
        return Chunks(lambda samples: FeatureBatch(self.validation[:, samples]), self.validation.shape[1], CHUNK)

    def test_dataloader(self) -> Chunks[FeatureBatch]:
        """Return the first `test_items` test samples."""
        items = min(self.test_items, self.test.shape[1])
        return Chunks(lambda samples: FeatureBatch(self.test[:, samples]), items, CHUNK)


def rows(matrix: Tensor, indices: Tensor) -> Tensor:
    """Return the selected rows of every member.

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
    """Return the population standard deviations (members or 1, features) over all samples."""
    parts = [made.train] if made.test is None else [made.train, made.test]
    members = max(map(len, parts))
    whole = torch.cat([part.expand(members, -1, -1) for part in parts], dim=1)
    return whole.double().std(dim=1, correction=0).float()
