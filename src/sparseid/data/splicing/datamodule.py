"""Data modules of splicing: synthetic sequences, and those of SpliceAI's files with the motifs of proteins."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from sparseid.data.batch import MotifBatch
from sparseid.data.motifs import MotifData, checks
from sparseid.data.splicing.chunks import ChunkFile
from sparseid.data.splicing.core_models import read_core_models
from sparseid.data.splicing.files import CORE, TEST, TRAINING, check_files, existing_files, folder, motif_files, remarks
from sparseid.data.splicing.generator import SplicingLaw
from sparseid.data.splicing.psams import ProteinMotifs, read_psams
from sparseid.data.splicing.sites import site_rows
from sparseid.data.stream import Chunks
from sparseid.streams import FIXED, Streams

if TYPE_CHECKING:
    from sparseid.data.splicing.settings import SplicingSettings
    from sparseid.settings import RunNumbers

BLOCK, CHUNK = 512, 64
"""Sequences drawn at once for training, and sequences per batch of validation and test."""
CALIBRATED = 1000
"""First sequences of the test file that determine the thresholds of motifs (authors' code)."""
HELD_OUT = 10
"""One chunk in this many is held out for validation, at the end."""


class SplicingData(MotifData):
    """Sequences whose positions are labelled: 0 for none, 1 for acceptor, 2 for donor.

    Inputs are (items, 4, context + length + context) one-hot, labels (items, length), sites (S, 4) in positions of the
    labelled part. The first two kinds of motifs are those of core splice sites.

    Attributes
    ----------
    context
        Number of unlabelled positions on either side.
    background
        Kinds that count as no motif in motif errors: the core splice sites, which the labels themselves name.
    """

    in_channels = 4
    vocabulary = 3
    token_names = ("none", "acceptor", "donor")
    background = (0, 1)

    def __init__(
        self, settings: SplicingSettings, seed: int, batch_size: int, per_check: int, check_items: int
    ) -> None:
        super().__init__("splicing", seed, batch_size, per_check, check_items, BLOCK, CHUNK)
        self.spatial, self.context, self.footprint = settings.spatial, settings.context, settings.footprint

    @classmethod
    def from_settings(cls, settings: SplicingSettings, run: RunNumbers) -> SplicingData:
        """Build the data module of a run.

        Raises
        ------
        InputError
            If a file of the user is missing or unusable.
        """
        if settings.source == "spliceai":
            return SpliceAIData(settings, *checks(run))
        return SyntheticSplicingData(settings, *checks(run))

    @property
    def kinds(self) -> int:
        """Number of motif kinds."""
        return len(self.kind_names)

    @property
    def kind_names(self) -> tuple[str, ...]:
        """Names of the kinds: 3P (acceptor), 5P (donor), then regulators."""
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        """Device of the run; the CPU without a trainer."""
        return self.trainer.strategy.root_device if self.trainer is not None else torch.device("cpu")


class SyntheticSplicingData(SplicingData):
    """Random sequences labelled by a rule, with known motifs."""

    note = "synthetic sequences in place of the human genome's"

    def __init__(
        self, settings: SplicingSettings, seed: int, batch_size: int, per_check: int, check_items: int
    ) -> None:
        super().__init__(settings, seed, batch_size, per_check, check_items)
        self.law = SplicingLaw(
            settings.length,
            settings.context,
            regulators=settings.regulators,
            width=settings.motif_width,
            prevalence=settings.prevalence,
            reach=settings.reach,
        )

    @property
    def kind_names(self) -> tuple[str, ...]:
        """Names of the kinds: 3P, 5P and R1, R2, ..."""
        return ("3P", "5P", *(f"R{number}" for number in range(1, self.law.kinds - 1)))

    def draw(self, items: int, rng: np.random.Generator) -> MotifBatch:
        """Draw sequences for training and validation, without sites."""
        drawn = self.law.draw(items, rng, self.device)
        return MotifBatch(drawn.inputs, drawn.labels, _no_sites())

    def draw_test(self, items: int, rng: np.random.Generator) -> MotifBatch:
        """Draw sequences with the sites of all kinds."""
        drawn = self.law.draw(items, rng, self.device)
        return MotifBatch(drawn.inputs, drawn.labels, site_rows(drawn.present, self.footprint))


class SpliceAIData(SplicingData):
    """Sequences of the human genome from SpliceAI's files; motifs of proteins by their PSAMs.

    Training passes over the file again and again: chunks in random order, the sequences of a chunk in random order. A
    position is a site of a protein if its score exceeds a threshold, such that the fraction ``data.prevalence`` of the
    positions of the first 1,000 sequences of the test file are sites; and of a core motif if its model says so.
    """

    def __init__(
        self, settings: SplicingSettings, seed: int, batch_size: int, per_check: int, check_items: int
    ) -> None:
        super().__init__(settings, seed, batch_size, per_check, check_items)
        check_files(settings)
        place, self.prevalence = folder(settings), settings.prevalence
        self.training = ChunkFile(place / TRAINING, settings.length, settings.context)
        self.test = ChunkFile(place / TEST, settings.length, settings.context)
        chunks = len(self.training.sizes)
        held_out = -(-chunks // HELD_OUT) if settings.validation_from == "held_out" else 0
        self._trained = np.arange(chunks - held_out)
        self._validated = np.arange(chunks - held_out, chunks) if held_out else self._trained
        self._proteins = {name: read_psams(path) for name, path in motif_files(settings).items()}
        self._core = read_core_models(place / CORE)
        self._motifs = ProteinMotifs(list(self._proteins.values()))
        self.record_files(existing_files(settings).values())
        self.remarks += remarks(settings)

    @property
    def kind_names(self) -> tuple[str, ...]:
        """Names of the kinds: 3P, 5P and the proteins."""
        return ("3P", "5P", *self._proteins)

    def training_items(self, numbers: np.ndarray) -> MotifBatch:
        """Return the training items of the given numbers, in ascending order."""
        items = int(self.training.sizes[self._trained].sum())
        parts = []
        for epoch in np.unique(numbers // items):
            of_epoch = numbers[numbers // items == epoch] % items
            parts.append(self._read(self.training, self._trained, of_epoch, self.streams, int(epoch)))
        bases, labels = (torch.cat(values) for values in zip(*parts, strict=True))
        return MotifBatch(bases, labels, _no_sites())

    def fixed_set(self, name: str, items: int) -> Chunks[MotifBatch]:
        """Return the first items of the validation or the test set, in a random order that is the same for every seed.

        There are no more than the file has.
        """
        if name == "validation":
            return self._ordered(self.training, self._validated, items, sites=False)
        return self._ordered(self.test, np.arange(len(self.test.sizes)), items, sites=True)

    def _ordered(self, file: ChunkFile, chunks: np.ndarray, items: int, sites: bool) -> Chunks[MotifBatch]:
        def part(positions: slice) -> MotifBatch:
            numbers = np.arange(positions.start, positions.stop)
            inputs, labels = self._read(file, chunks, numbers, FIXED, 0)
            return MotifBatch(inputs, labels, self._sites(inputs) if sites else _no_sites())

        return Chunks(part, min(items, int(file.sizes[chunks].sum())), self.chunk)

    def _read(
        self, file: ChunkFile, chunks: np.ndarray, numbers: np.ndarray, streams: Streams, epoch: int
    ) -> tuple[Tensor, Tensor]:
        """Return inputs and labels of the given items of an epoch's order."""
        order = streams.numpy("splicing/chunks", epoch).permutation(chunks)
        ends = np.cumsum(file.sizes[order])
        place = np.searchsorted(ends, numbers, side="right")
        bases, labels = [], []
        for number in np.unique(place):
            chunk = int(order[number])
            within = streams.numpy("splicing/within", epoch, chunk).permutation(int(file.sizes[chunk]))
            rows = within[numbers[place == number] - (ends[number] - file.sizes[chunk])]
            stored = file.chunk(chunk)
            bases.append(stored.bases[rows])
            labels.append(stored.labels[rows])
        return self._inputs(np.concatenate(bases)), torch.from_numpy(np.concatenate(labels)).to(self.device).long()

    def _inputs(self, bases: np.ndarray) -> Tensor:
        return torch.from_numpy(bases).to(self.device).transpose(1, 2).float().contiguous()

    def _sites(self, inputs: Tensor) -> Tensor:
        inside = slice(self.context, inputs.shape[2] - self.context)
        core = self._core.scores(inputs)[:, inside] > 0
        proteins = self._motifs.scores(inputs)[:, inside] > self._thresholds.to(inputs)
        return site_rows(torch.cat([core, proteins], dim=2), self.footprint)

    @cached_property
    def _thresholds(self) -> Tensor:
        """Quantile 1 - prevalence of each protein's scores, (proteins,), interpolated."""
        items = min(CALIBRATED, int(self.test.sizes.sum()))
        positions = items * (self.spatial[0] - 2 * self.context)
        rank = (positions - 1) * self.prevalence  # of the threshold, from the largest score on
        kept = min(int(rank) + 2, positions)
        largest = torch.empty(0)
        for inputs in self._first_of_test(items):
            scores = self._motifs.scores(inputs)[:, self.context : inputs.shape[2] - self.context].flatten(0, 1)
            joined = torch.cat([largest.to(scores), scores]) if len(largest) else scores
            largest = joined.topk(min(kept, len(joined)), dim=0).values
        above, below = largest[int(rank)], largest[kept - 1]
        return above + (below - above) * (rank - int(rank))

    def _first_of_test(self, items: int) -> Iterator[Tensor]:
        """Yield the inputs of the first sequences of the test file, in its order."""
        for number in range(len(self.test.sizes)):
            bases = self.test.chunk(number).bases[:items]
            items -= len(bases)
            for start in range(0, len(bases), self.chunk):
                yield self._inputs(bases[start : start + self.chunk])
            if not items:
                return


def _no_sites() -> Tensor:
    return torch.zeros(0, 4, dtype=torch.int64)
