"""Base of data sets of spatial motifs: an endless training stream, fixed validation and test sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from sparseid.data.batch import MotifBatch
from sparseid.data.module import DataModule
from sparseid.data.stream import BatchStream, Chunks
from sparseid.measurements import Key
from sparseid.streams import FIXED, Streams

if TYPE_CHECKING:
    from sparseid.settings import RunNumbers

Draw = Callable[[int, np.random.Generator], MotifBatch]
"""Draws a batch of the given number of items."""


class SingleMotifTest(NamedTuple):
    """One row of the comparison of Sparling with a classifier of single motifs (Sparling, Table 2).

    Attributes
    ----------
    keys
        Row keys that distinguish it from the other tests of the data set.
    set_name
        Name of the set of single motifs, for the data module's ``single_motif_set``.
    without
        Motif kinds to exclude, with the channels assigned to them.
    """

    keys: dict[str, Key]
    set_name: str
    without: tuple[int, ...] = ()


class MotifData(DataModule):
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
    exchange_keys
        Row keys of the exchange of motifs, whose items are drawn as those of training.
    """

    single_motif_tests: tuple[SingleMotifTest, ...] = (SingleMotifTest({}, "test"),)
    exchange_keys: Mapping[str, Key] = MappingProxyType({})

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
        self.single_motifs = False
        self._blocks: dict[int, MotifBatch] = {}

    def draw(self, items: int, rng: np.random.Generator) -> MotifBatch:
        """Draw items for training, validation and the exchange of motifs."""
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

    def val_dataloader(self) -> Chunks[MotifBatch]:
        """Return the first `check_items` validation items."""
        chosen = self.single_motif_set if self.single_motifs else self.fixed_set
        return chosen("validation", self.check_items)

    def test_dataloader(self) -> Chunks[MotifBatch]:
        """Return the first `test_items` test items; the run sets `test_items` before each evaluation."""
        return self.fixed_set("test", self.test_items)

    def fixed_set(self, name: str, items: int) -> Chunks[MotifBatch]:
        """Return the first items of a set that is the same for every seed.

        ``validation`` and ``exchanges`` are drawn as for training, the others as for tests.
        """
        draw = self.draw if name in ("validation", "exchanges") else self.draw_test
        return self._first(items, draw, f"{self.name}/{name}")

    def single_motif_set(self, name: str, items: int) -> Chunks[MotifBatch]:
        """Return the first items of a set of single motifs (`draw_single`) that is the same for every seed."""
        draw = partial(self.draw_single, name)
        return self._first(items, draw, f"{self.name}/single/{name}")

    def _first(self, items: int, draw: Draw, stream: str) -> Chunks[MotifBatch]:
        """Return the first items of a set, drawn each time it is read: faster than keeping 10,000 images in memory.

        Whole chunks are drawn, each from its own number of the random stream.
        """

        def part(positions: slice) -> MotifBatch:
            batch = draw(self.chunk, FIXED.numpy(stream, positions.start // self.chunk))
            wanted = positions.stop - positions.start
            return batch if wanted == self.chunk else select(batch, np.arange(wanted))

        return Chunks(part, items, self.chunk)

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


def checks(run: RunNumbers) -> tuple[int, int, int, int]:
    """Return the arguments of `MotifData` for a run: seed, batch size, batches per validation, validation items."""
    return run.seed, run.batch_size, run.check_every // run.batch_size, run.check_items


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
