"""Stacks of time series for contrastive learning that lie on the device and are indexed there."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.data.batch import ContrastiveBatch, SeriesBatch
from sparseid.data.module import StackedData
from sparseid.data.neighbours import positive_tables
from sparseid.data.stream import BatchStream, Chunks
from sparseid.data.time_series import Factors, split_sizes
from sparseid.stacking.batches import take
from sparseid.stacking.noise import StepDraws
from sparseid.streams import Streams

if TYPE_CHECKING:
    from sparseid.data.time_series import SamplingSettings

CHUNK = 2048
"""Samples of a member in a batch of the fixed sets."""
VALIDATIONS = 10
"""Times that a run is validated."""


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
        (members, samples, latents) float32; None where they are not known.
    """

    inputs: Tensor
    labels: Tensor
    latents: Tensor | None

    def __len__(self) -> int:
        """Return the samples of a member."""
        return self.inputs.shape[1]

    def part(self, samples: slice | Tensor) -> SeriesBatch:
        """Return some of the time steps, the same of all members."""
        latents = None if self.latents is None else self.latents[:, samples]
        return SeriesBatch(self.inputs[:, samples], self.labels[:, samples], latents)

    def chunks(self, samples: int | None = None, size: int = CHUNK) -> Chunks[SeriesBatch]:
        """Return the first samples of all members in order, `size` of each at a time; all of them for None."""
        return Chunks(self.part, len(self) if samples is None else min(samples, len(self)), size)

    def cut(self, samples: slice, device: torch.device) -> Series:
        """Return some of the time steps, contiguous and on a device."""
        inputs, labels, latents = self.part(samples)
        known = None if latents is None else latents.contiguous().to(device)
        return Series(inputs.contiguous().to(device), labels.contiguous().to(device), known)


class Drawn(NamedTuple):
    """Which samples a batch is made of, (members, batch) int64 each.

    Attributes
    ----------
    references, negatives
        Numbers of samples, each drawn uniformly and independently.
    columns
        Which of a reference's positives by label is taken.
    """

    references: Tensor
    negatives: Tensor
    columns: Tensor


class Draws(StepDraws):
    """The samples of every training batch, per member; batch i is a function of (seed, i).

    Parameters
    ----------
    seeds
        One per member.
    bounds
        The numbers of each field of `Drawn` lie below.
    batch_size
        References of a member in a batch.
    device
        Where the numbers should lie; those of many batches are moved there at once.
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
"""What a method can ask for: the sample some steps later, and one whose label is related; in this order in a batch."""


class ContrastiveData(StackedData):
    """A time series for each member of a stack: the beginning trains, the end is held out.

    The end of a series shares no step with its beginning: samples held out here and there would lie beside training
    samples, a step away.

    Parameters
    ----------
    seeds
        One per member.
    batch_size
        References of a member in a batch.
    samples
        Time steps of a series.
    held_out
        Share of the series, at its end, that is not trained on.
    attribution_samples
        Training samples that attribution maps are averaged over.
    sampling
        How batches are drawn.

    Attributes
    ----------
    positives
        Which of `POSITIVES` a training batch holds: set by the method before training; none for supervised training.
    train, held_out
        The two parts of the series; there from `setup` on.
    attribution_samples
        As asked for, at most the training samples.
    train_items
        Training samples.
    test_items
        Held-out samples of the next test.
    """

    features: int
    """Size of an observation."""
    latents: int
    """Size of z = [z1, z2]."""
    label_dim: int
    """Size of a label."""
    latent_rows: Factors
    """Where z1 and z2 lie in z; the map of z2 is scored."""
    label_rows: slice
    """Where the labels' factor lies in z."""
    truth: Tensor | None
    """(members, latents, features) bool: which features depend on which latent; None where it is not known."""
    train: Series
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
        self.train_items, test_items = split_sizes(samples, held_out)
        super().__init__(seeds, batch_size, test_items)
        self.sampling = sampling
        self.positives: tuple[str, ...] = ()
        self.attribution_samples = min(attribution_samples, self.train_items)
        self._draws: Draws | None = None
        self._table: Tensor | None = None

    @abstractmethod
    def make(self) -> Series:
        """Return the whole series of all members, on the CPU."""

    def true_jacobian(self, member: int) -> NDArray[np.float64] | None:
        """Return (attribution samples, features, latents) dx / dz of a member's generator; None if it is not known."""
        return None

    def setup(self, stage: str | None = None) -> None:
        """Make the series and move them to the device, once; for training also what batches are drawn from."""
        device = self.device
        if not hasattr(self, "train"):
            series = self.make()
            parts = slice(0, self.train_items), slice(self.train_items, None)
            self.train, self.held_out = (series.cut(part, device) for part in parts)
        if stage in (None, "fit") and self._draws is None:
            self._prepare_batches(device)

    def _prepare_batches(self, device: torch.device) -> None:
        """Find the positives by label and begin to draw."""
        if unknown := set(self.positives) - set(POSITIVES):
            raise ValueError(f"positives are of {POSITIVES}, not {unknown}")
        samples, sampling = len(self.train), self.sampling
        references = samples if sampling.clamp_end else samples - sampling.time_offset
        bounds = (references, samples, sampling.label_positives)
        self._draws = Draws(self.seeds, bounds, self.batch_size, device)
        if "labels" in self.positives:
            table = positive_tables(self.train.labels, self.seeds, sampling.time_delta, sampling.label_positives)
            self._table = table.flatten(1).to(device)

    def training_batch(self, number: int) -> ContrastiveBatch:
        """Return training batch `number`: a function of the members' seeds and the number.

        References and negatives are those of the same number whatever positives there are.
        """
        assert self._draws is not None
        references, negatives, columns = self._draws[number]
        parts = [references]
        if self.positives:
            parts.append(negatives)
        if "time" in self.positives:
            parts.append((references + self.sampling.time_offset).clamp(max=len(self.train) - 1))
        if "labels" in self.positives:
            assert self._table is not None, "positives are to be set before setup"
            parts.append(take(self._table, references * self.sampling.label_positives + columns))
        return ContrastiveBatch(take(self.train.inputs, torch.cat(parts, dim=1)), take(self.train.labels, references))

    def attribution_numbers(self) -> NDArray[np.int64]:
        """Return (attribution samples,) training samples for attribution maps, evenly spread in time."""
        count = self.attribution_samples
        return np.arange(count, dtype=np.int64) * self.train_items // count

    def attribution_batch(self) -> SeriesBatch:
        """Return the samples that attribution maps are averaged over."""
        return self.train.part(torch.from_numpy(self.attribution_numbers()).to(self.train.inputs.device))

    def train_dataloader(self) -> BatchStream[ContrastiveBatch]:
        """Return the training batches up to the next validation, from the trainer's next step on."""
        assert self.trainer is not None
        trainer = self.trainer
        return BatchStream(self.training_batch, lambda: trainer.global_step, -(-trainer.max_steps // VALIDATIONS))

    def val_dataloader(self) -> Chunks[SeriesBatch]:
        """Return the held-out samples."""
        return self.held_out.chunks()

    def test_dataloader(self) -> Chunks[SeriesBatch]:
        """Return the first `test_items` held-out samples."""
        return self.held_out.chunks(self.test_items)
