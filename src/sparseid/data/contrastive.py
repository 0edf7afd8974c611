"""Stacks of time series for contrastive learning, stored and indexed on the device."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.data.batch import ContrastiveBatch, SeriesBatch
from sparseid.data.module import StackedData
from sparseid.data.neighbours import positive_tables
from sparseid.data.stream import BatchStream, Chunks
from sparseid.data.time_series import Factors, split_sizes, validation_size
from sparseid.stacking.batches import take
from sparseid.stacking.noise import StepDraws
from sparseid.streams import Streams

if TYPE_CHECKING:
    from sparseid.data.time_series import SamplingSettings

CHUNK = 2048
"""Number of samples of a member in a batch of the fixed sets."""
VALIDATIONS = 10
"""Number of validations of a run without an early stop."""


@dataclass(frozen=True)
class Series:
    """Consecutive time steps of all members.

    Attributes
    ----------
    inputs
        (members, samples, features) float32.
    labels
        (members, samples, label size) float32.
    latents
        (members, samples, latents) float32; None if unknown.
    """

    inputs: Tensor
    labels: Tensor
    latents: Tensor | None

    def __len__(self) -> int:
        """Return the number of samples of a member."""
        return self.inputs.shape[1]

    def part(self, samples: slice | Tensor) -> SeriesBatch:
        """Return some time steps, the same for all members."""
        latents = None if self.latents is None else self.latents[:, samples]
        return SeriesBatch(self.inputs[:, samples], self.labels[:, samples], latents)

    def chunks(self, samples: int | None = None, size: int = CHUNK) -> Chunks[SeriesBatch]:
        """Return the first `samples` samples (all for None) of every member in order, `size` at a time."""
        return Chunks(self.part, len(self) if samples is None else min(samples, len(self)), size)

    def cut(self, samples: slice, device: torch.device) -> Series:
        """Return some time steps, contiguous and on a device."""
        inputs, labels, latents = self.part(samples)
        known = None if latents is None else latents.contiguous().to(device)
        return Series(inputs.contiguous().to(device), labels.contiguous().to(device), known)


class Drawn(NamedTuple):
    """Numbers of the samples of a batch, (members, batch) int64 each.

    Attributes
    ----------
    references, negatives
        Numbers of samples, each drawn uniformly and independently.
    columns
        Column of the table of positives by label for each reference.
    """

    references: Tensor
    negatives: Tensor
    columns: Tensor


class Draws(StepDraws):
    """Samples of every training batch, per member; batch i is a function of (seed, i).

    Parameters
    ----------
    seeds
        One per member.
    bounds
        Exclusive upper bounds of the numbers in each field of `Drawn`.
    batch_size
        Number of references of a member in a batch.
    device
        Device for the numbers; those of many batches are moved together.
    """

    def __init__(
        self, seeds: Sequence[int], bounds: tuple[int, int, int], batch_size: int, device: torch.device
    ) -> None:
        def draw_block(block: int, batches: int) -> Iterator[Tensor]:
            for name, bound in zip(Drawn._fields, bounds, strict=True):
                generators = [Streams(seed).numpy(f"batches/{name}", block) for seed in seeds]
                drawn = [g.integers(bound, size=(batches, batch_size), dtype=np.int32) for g in generators]
                yield torch.from_numpy(np.stack(drawn)).long()

        super().__init__(draw_block, batch_size)
        self.device = device

    def __getitem__(self, number: int) -> Drawn:
        """Return the samples of batch `number`."""
        return Drawn(*self.at(number, self.device))


POSITIVES = ("time", "labels")
"""Types of positives, in their order in a batch: the sample some steps later, and one with a related label."""


class ContrastiveData(StackedData):
    """A time series for each member of a stack: its beginning for training, its end held out.

    The held-out samples are the end of the series because scattered ones would be a single step away from training
    samples. For the same reason, the validation samples of an early stop are the last ones before it.

    Parameters
    ----------
    seeds
        One per member.
    batch_size
        Number of references of a member in a batch.
    samples
        Number of time steps of a series.
    held_out
        Fraction of the series, at its end, that is held out.
    attribution_samples
        Number of training samples over which attribution maps are averaged.
    sampling
        Settings of the sampling of batches.

    Attributes
    ----------
    positives
        Those of `POSITIVES` in a training batch, set by the method before training; empty for supervised training.
    train, held_out
        Training samples and held-out samples; available after `setup`.
    validation
        Samples of validations: those between the two with an early stop, else the held-out ones; available after
        `setup`.
    test_items
        Number of held-out samples of the next test.
    """

    features: int
    """Size of an observation."""
    latents: int
    """Size of z = [z1, z2]."""
    label_dim: int
    """Size of a label."""
    latent_rows: Factors
    """Positions of z1 and z2 in z; the map of z2 is scored."""
    label_rows: slice
    """Position of the labels' factor in z."""
    names: Mapping[str, NDArray[np.str_]] = MappingProxyType({})
    """Names of features and labels for a run's arrays; empty without names."""
    truth: Tensor | None
    """Dependence of features on latents, (members, latents, features) bool; None if unknown."""
    train: Series
    validation: Series
    held_out: Series

    def __init__(
        self,
        seeds: Sequence[int],
        batch_size: int,
        samples: int,
        held_out: float,
        attribution_samples: int,
        sampling: SamplingSettings,
    ) -> None:
        self._before_end, test_items = split_sizes(samples, held_out)
        super().__init__(seeds, batch_size, test_items)
        self.sampling = sampling
        self.positives: tuple[str, ...] = ()
        self._attribution_samples = attribution_samples
        self._draws: Draws | None = None
        self._table: Tensor | None = None

    @property
    def train_items(self) -> int:
        """Number of training samples."""
        before = self._before_end
        return before - validation_size(before, self.early_stop.held_out) if self.early_stop else before

    @property
    def attribution_samples(self) -> int:
        """Number of training samples over which attribution maps are averaged: at most all of them."""
        return min(self._attribution_samples, self.train_items)

    @abstractmethod
    def make(self) -> Series:
        """Return the whole series of all members, on the CPU."""

    def true_jacobian(self, member: int) -> NDArray[np.float64] | None:
        """Return dx / dz (attribution samples, features, latents) of a member's generator; None if unknown."""
        return None

    def setup(self, stage: str | None = None) -> None:
        """Create the series on the device, once; for training also the tables that batches are drawn from."""
        device = self.device
        if not hasattr(self, "train"):
            series = self.make()
            self.train = series.cut(slice(0, self.train_items), device)
            self.held_out = self.validation = series.cut(slice(self._before_end, None), device)
            if self.early_stop:
                self.validation = series.cut(slice(self.train_items, self._before_end), device)
        if stage in (None, "fit") and self._draws is None:
            self._prepare_batches(device)

    def _prepare_batches(self, device: torch.device) -> None:
        """Find the positives by label and start the random draws."""
        if unknown := set(self.positives) - set(POSITIVES):
            raise ValueError(f"positives must be among {POSITIVES}, not {unknown}")
        samples, sampling = len(self.train), self.sampling
        references = samples if sampling.clamp_end else samples - sampling.time_offset
        bounds = (references, samples, sampling.label_positives)
        self._draws = Draws(self.seeds, bounds, self.batch_size, device)
        if "labels" in self.positives:
            table = positive_tables(self.train.labels, self.seeds, sampling.time_delta, sampling.label_positives)
            self._table = table.flatten(1).to(device)

    def training_batch(self, number: int) -> ContrastiveBatch:
        """Return training batch `number`: a function of the members' seeds and the number.

        References and negatives do not depend on the types of positives.
        """
        assert self._draws is not None
        references, negatives, columns = self._draws[number]
        parts = [references]
        if self.positives:
            parts.append(negatives)
        if "time" in self.positives:
            parts.append((references + self.sampling.time_offset).clamp(max=len(self.train) - 1))
        if "labels" in self.positives:
            assert self._table is not None, "positives must be set before setup"
            parts.append(take(self._table, references * self.sampling.label_positives + columns))
        return ContrastiveBatch(take(self.train.inputs, torch.cat(parts, dim=1)), take(self.train.labels, references))

    def attribution_numbers(self) -> NDArray[np.int64]:
        """Return the training samples (attribution samples,) for attribution maps, evenly spaced in time."""
        count = self.attribution_samples
        return np.arange(count, dtype=np.int64) * self.train_items // count

    def attribution_batch(self) -> SeriesBatch:
        """Return the samples over which attribution maps are averaged."""
        return self.train.part(torch.from_numpy(self.attribution_numbers()).to(self.train.inputs.device))

    def seen(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return inputs and labels of the first member's samples that are not held out, for baselines."""
        parts = [self.train, self.validation] if self.early_stop else [self.train]
        inputs, labels = (torch.cat([getattr(part, name)[0] for part in parts]) for name in ("inputs", "labels"))
        return inputs.double().cpu().numpy(), labels.double().cpu().numpy()

    def train_dataloader(self) -> BatchStream[ContrastiveBatch]:
        """Return the training batches up to the next validation, from the trainer's next step on."""
        assert self.trainer is not None
        trainer, periods = self.trainer, self.early_stop.validations if self.early_stop else VALIDATIONS
        return BatchStream(self.training_batch, lambda: trainer.global_step, -(-trainer.max_steps // periods))

    def val_dataloader(self) -> Chunks[SeriesBatch]:
        """Return the samples of validations."""
        return self.validation.chunks()

    def test_dataloader(self) -> Chunks[SeriesBatch]:
        """Return the first `test_items` held-out samples."""
        return self.held_out.chunks(self.test_items)
