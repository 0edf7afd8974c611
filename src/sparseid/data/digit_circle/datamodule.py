"""DigitCircle as Lightning sees it: an endless training stream, fixed validation and test sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from pytorch_lightning import LightningDataModule

from sparseid.data.batch import MotifBatch
from sparseid.data.digit_circle.generator import DigitCircle, distribution
from sparseid.data.stream import BatchStream
from sparseid.streams import FIXED, Streams

if TYPE_CHECKING:
    from sparseid.config.schema import RunConfig

BLOCK = 512
"""Training images drawn at once: drawing many is several times faster per image than drawing a batch of ten."""

CHUNK = 128
"""Items per batch of the fixed sets; item i of a set is the same whatever the size of the set."""


class DigitCircleData(LightningDataModule):
    """Batches of DigitCircle images.

    Training image i is a function of (seed, i), and batch j holds the images from j x batch size on. The validation
    and the test set are the same for every seed.

    Parameters
    ----------
    distribution
        What is drawn.
    seed
        Seed of the training stream.
    batch_size
        Training items per step, summed over processes.
    batches_per_check
        Training batches between two validations.
    check_items
        Validation items.
    """

    in_channels = 1

    def __init__(
        self, distribution: DigitCircle, seed: int, batch_size: int, batches_per_check: int, check_items: int
    ) -> None:
        super().__init__()
        self.distribution = distribution
        self.streams = Streams(seed)
        self.batch_size = batch_size
        self.batches_per_check = batches_per_check
        self.check_items = check_items
        self.test_items = 0
        self._blocks: dict[int, MotifBatch] = {}

    @classmethod
    def from_config(cls, cfg: RunConfig) -> DigitCircleData:
        """Build the data module of a run.

        Raises
        ------
        InputError
            If the glyph file or the geometry cannot be used.
        """
        schedule, batch_size = cfg.method.schedule, cfg.trainer.batch_size
        return cls(
            distribution(cfg.data), cfg.seed, batch_size, schedule.check_every // batch_size, schedule.check_items
        )

    @property
    def kinds(self) -> int:
        """Number of motif kinds."""
        return len(self.distribution.glyphs)

    @property
    def vocabulary(self) -> int:
        """Number of tokens: the digits, then the start and the end of a label."""
        return self.kinds + 2

    @property
    def kind_names(self) -> tuple[str, ...]:
        """The digits."""
        return tuple(map(str, range(self.kinds)))

    @property
    def token_names(self) -> tuple[str, ...]:
        """The tokens of labels: the digits."""
        return self.kind_names

    @property
    def spatial(self) -> tuple[int, int]:
        """Height and width of the images, pixels."""
        return self.distribution.canvas, self.distribution.canvas

    def train_dataloader(self) -> BatchStream[MotifBatch]:
        """Return the training stream, from the trainer's next step on."""
        return BatchStream(self.training_batch, lambda: self._trainer().global_step, self.batches_per_check)

    def val_dataloader(self) -> FixedSet:
        """Return the first `check_items` validation items."""
        return FixedSet(self.distribution, "digit_circle/validation", self.check_items)

    def test_dataloader(self) -> FixedSet:
        """Return the first `test_items` test items; the run sets `test_items` before each evaluation."""
        return FixedSet(self.distribution, "digit_circle/test", self.test_items)

    def training_batch(self, index: int) -> MotifBatch:
        """Return training batch `index`; under several processes, this process's share of it."""
        trainer = self.trainer
        rank, processes = (trainer.global_rank, trainer.world_size) if trainer is not None else (0, 1)
        first = index * self.batch_size
        items = np.arange(first + rank, first + self.batch_size, processes)
        parts = [
            select(self._block(int(block)), items[items // BLOCK == block] % BLOCK)
            for block in np.unique(items // BLOCK)
        ]
        return parts[0] if len(parts) == 1 else join(parts)

    def _block(self, number: int) -> MotifBatch:
        """Return block `number` of the training stream; the last two are kept, since a batch may lie across both."""
        if number not in self._blocks:
            self._blocks = dict(list(self._blocks.items())[-1:])
            self._blocks[number] = draw_batch(self.distribution, BLOCK, self.streams.numpy("batches", number))
        return self._blocks[number]

    def _trainer(self):  # type: ignore[no-untyped-def]
        assert self.trainer is not None, "train_dataloader needs a trainer"
        return self.trainer


class FixedSet:
    """The first `items` items of a named, seedless set, drawn chunk by chunk each time it is read.

    Drawing is faster than keeping 10,000 images of 100 x 100 pixels in memory.
    """

    def __init__(self, distribution: DigitCircle, name: str, items: int) -> None:
        self.distribution, self.name, self.items = distribution, name, items

    def __len__(self) -> int:
        """Return the number of batches."""
        return -(-self.items // CHUNK)

    def __iter__(self) -> Iterator[MotifBatch]:
        for chunk in range(len(self)):
            batch = draw_batch(self.distribution, CHUNK, FIXED.numpy(self.name, chunk))
            kept = min(CHUNK, self.items - chunk * CHUNK)
            yield batch if kept == CHUNK else select(batch, np.arange(kept))


def draw_batch(distribution: DigitCircle, items: int, rng: np.random.Generator) -> MotifBatch:
    """Draw a batch of `items` images with labels and sites."""
    scenes = distribution.draw_scenes(items, rng)
    pixels = distribution.draw_pixels(scenes, rng)
    return MotifBatch(
        torch.from_numpy(pixels[:, None].astype(np.float32)),
        torch.from_numpy(scenes.labels),
        torch.from_numpy(scenes.sites),
    )


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
