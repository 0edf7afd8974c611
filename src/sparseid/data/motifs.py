"""Base of data sets of spatial motifs: an endless training stream, fixed validation and test sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from pytorch_lightning import LightningDataModule

from sparseid.data.batch import MotifBatch
from sparseid.data.single_motifs import SingleMotifTest
from sparseid.data.stream import BatchStream
from sparseid.streams import FIXED, Streams

if TYPE_CHECKING:
    from sparseid.config.schema import RunConfig

Draw = Callable[[int, np.random.Generator], MotifBatch]
"""Draws a batch of the given number of items."""


class MotifData(LightningDataModule):
    """Data module of items that contain motifs.

    Training item i is a function of (seed, i), and batch j holds the items from j x batch size on. The validation and
    the test set are the same for every seed. A data set defines its items (:meth:`draw`, :meth:`draw_test`) and the
    properties that networks need (``methods.sparling.networks.Domain``).

    Parameters
    ----------
    name
        Name of the data set and of the streams of its fixed sets.
    seed
        Seed of the training stream.
    batch_size
        Training items per step, over all processes.
    batches_per_check
        Training batches between two validations.
    check_items
        Validation items.
    block
        Training items drawn at once, if drawing many is faster per item than drawing a batch.
    chunk
        Items per batch of the fixed sets; item i does not depend on the size of the set.

    Attributes
    ----------
    single_motifs
        Set by a method that classifies single motifs: training and validation then use these.
    single_motif_tests
        Tests of the classification of single motifs.
    """

    single_motif_tests: tuple[SingleMotifTest, ...] = (SingleMotifTest({}, "test"),)

    def __init__(
        self,
        name: str,
        seed: int,
        batch_size: int,
        batches_per_check: int,
        check_items: int,
        block: int = 512,
        chunk: int = 128,
    ) -> None:
        super().__init__()
        self.name = name
        self.streams = Streams(seed)
        self.batch_size = batch_size
        self.batches_per_check = batches_per_check
        self.check_items = check_items
        self.block, self.chunk = block, chunk
        self.test_items = 0
        self.single_motifs = False
        self._blocks: dict[int, MotifBatch] = {}

    def draw(self, items: int, rng: np.random.Generator) -> MotifBatch:
        """Draw items for training and validation."""
        raise NotImplementedError

    def draw_test(self, items: int, rng: np.random.Generator) -> MotifBatch:
        """Draw items for tests; as for training unless a subclass overrides it."""
        return self.draw(items, rng)

    def draw_single(self, name: str, items: int, rng: np.random.Generator) -> MotifBatch:
        """Draw items with one motif each; their label is only its kind.

        `name` is ``training``, ``validation`` or the set of one of `single_motif_tests`.
        """
        raise NotImplementedError

    @property
    def exchangeable(self) -> dict[int, int]:
        """Token of each kind of motif that may replace another."""
        return {}

    def exchanged(self, label: list[int], old: int, new: int) -> list[int] | None:
        """Return a label with `old` replaced by the token `new`; None if no item can have this label."""
        return [new if token == old else token for token in label]

    def train_dataloader(self) -> BatchStream[MotifBatch]:
        """Return the training stream, from the trainer's next step on."""
        return BatchStream(self.training_batch, lambda: self._trainer().global_step, self.batches_per_check)

    def val_dataloader(self) -> FixedSet:
        """Return the first `check_items` validation items."""
        chosen = self.single_motif_set if self.single_motifs else self.fixed_set
        return chosen("validation", self.check_items)

    def test_dataloader(self) -> FixedSet:
        """Return the first `test_items` test items; the run sets `test_items` before each evaluation."""
        return self.fixed_set("test", self.test_items)

    def fixed_set(self, name: str, items: int) -> FixedSet:
        """Return the first items of a set that is the same for every seed; all but validation are drawn like tests."""
        draw = self.draw if name == "validation" else self.draw_test
        return FixedSet(drawn(draw, f"{self.name}/{name}", self.chunk), items, self.chunk)

    def single_motif_set(self, name: str, items: int) -> FixedSet:
        """Return the first items of a set of single motifs (`draw_single`) that is the same for every seed."""
        draw = partial(self.draw_single, name)
        return FixedSet(drawn(draw, f"{self.name}/single/{name}", self.chunk), items, self.chunk)

    def training_batch(self, index: int) -> MotifBatch:
        """Return training batch `index`; with several processes, this process's part of it."""
        trainer = self.trainer
        rank, processes = (trainer.global_rank, trainer.world_size) if trainer is not None else (0, 1)
        first = index * self.batch_size
        return self.training_items(np.arange(first + rank, first + self.batch_size, processes))

    def training_items(self, numbers: np.ndarray) -> MotifBatch:
        """Return the training items of the given numbers, in ascending order."""
        parts = [
            select(self._block(int(number)), numbers[numbers // self.block == number] % self.block)
            for number in np.unique(numbers // self.block)
        ]
        return parts[0] if len(parts) == 1 else join(parts)

    def _block(self, number: int) -> MotifBatch:
        """Return block `number` of the training stream; the last two are cached, since a batch may span both."""
        if number not in self._blocks:
            self._blocks = dict(list(self._blocks.items())[-1:])
            draw = partial(self.draw_single, "training") if self.single_motifs else self.draw
            self._blocks[number] = draw(self.block, self.streams.numpy("batches", number))
        return self._blocks[number]

    def _trainer(self):  # type: ignore[no-untyped-def]
        assert self.trainer is not None, "train_dataloader needs a trainer"
        return self.trainer


class FixedSet:
    """The first `items` items of a set without a seed, drawn chunk by chunk on every iteration.

    Drawing is cheaper than holding 10,000 images of 100 x 100 pixels in memory.

    Parameters
    ----------
    first_of_chunk
        Maps the number of a chunk and a number of items to the first items of this chunk.
    items
        Number of items of the whole set.
    chunk
        Items per batch.
    """

    def __init__(self, first_of_chunk: Callable[[int, int], MotifBatch], items: int, chunk: int) -> None:
        self.first_of_chunk, self.items, self.chunk = first_of_chunk, items, chunk

    def __len__(self) -> int:
        """Return the number of batches."""
        return -(-self.items // self.chunk)

    def __iter__(self) -> Iterator[MotifBatch]:
        for number in range(len(self)):
            yield self.first_of_chunk(number, min(self.chunk, self.items - number * self.chunk))


def drawn(draw: Draw, name: str, chunk: int) -> Callable[[int, int], MotifBatch]:
    """Return the `first_of_chunk` of a `FixedSet` whose chunks are drawn, each from its own random stream of a name."""

    def first_of_chunk(number: int, items: int) -> MotifBatch:
        batch = draw(chunk, FIXED.numpy(name, number))
        return batch if items == chunk else select(batch, np.arange(items))

    return first_of_chunk


def checks(cfg: RunConfig) -> tuple[int, int, int, int]:
    """Return the arguments of `MotifData` for a run: seed, batch size, batches per validation, validation items."""
    schedule, batch_size = cfg.method.schedule, cfg.trainer.batch_size
    return cfg.seed, batch_size, schedule.check_every // batch_size, schedule.check_items


def select(batch: MotifBatch, items: np.ndarray) -> MotifBatch:
    """Return the given items of a batch, in order; their sites are renumbered."""
    new_number = np.full(len(batch.labels), -1)
    new_number[items] = np.arange(len(items))
    sites = batch.sites.numpy().copy()
    sites[:, 0] = new_number[sites[:, 0]]
    chosen = torch.from_numpy(items)
    return MotifBatch(batch.inputs[chosen], batch.labels[chosen], torch.from_numpy(sites[sites[:, 0] >= 0]))


def join(parts: list[MotifBatch]) -> MotifBatch:
    """Return one batch of all parts, in order."""
    sites, offset = [], 0
    for part in parts:
        sites.append(part.sites + torch.tensor([offset] + [0] * (part.sites.shape[1] - 1)))
        offset += len(part.labels)
    return MotifBatch(
        torch.cat([part.inputs for part in parts]), torch.cat([part.labels for part in parts]), torch.cat(sites)
    )
