"""Data module of a user's labelled images or sounds: permuted for training, parts for validation and tests."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.data.audio_mnist_sequence.recordings import FULL_SCALE
from sparseid.data.audio_mnist_sequence.spectrogram import MelDecibels
from sparseid.data.audio_mnist_sequence.times import BANDS
from sparseid.data.batch import MotifBatch
from sparseid.data.cache import digest
from sparseid.data.labelled_inputs.items import LabelledItems, parts
from sparseid.data.motifs import MotifData, checks
from sparseid.data.stream import Chunks

if TYPE_CHECKING:
    from sparseid.data.labelled_inputs.settings import LabelledInputsSettings
    from sparseid.settings import RunNumbers

CPU = torch.device("cpu")
CHUNK = 32
"""Items of a batch of validation and test."""


class LabelledInputsData(MotifData):
    """Batches of labelled images, or of the spectrograms of labelled sounds.

    Training batches run through permutations of the training items. Every token is a kind of motif. Motifs of some or
    all items may be unknown. The number of items for validation and tests is that of their parts, at most.

    Parameters
    ----------
    items
        The labelled items.
    validation, test
        Fractions of the items for validation and tests.
    seed, batch_size, batches_per_check, check_items
        As in :class:`sparseid.data.motifs.MotifData`.

    Attributes
    ----------
    partly_located
        True: items without sites have unknown ones.
    mean_label
        Mean number of tokens of a label.
    """

    has_baselines = True
    partly_located = True

    def __init__(
        self,
        items: LabelledItems,
        validation: float,
        test: float,
        seed: int,
        batch_size: int,
        batches_per_check: int,
        check_items: int,
    ) -> None:
        super().__init__("labelled_inputs", seed, batch_size, batches_per_check, check_items, chunk=CHUNK)
        self.items, self.parts = items, parts(len(items.labels), validation, test)
        self.mean_label = items.mean_length
        self.kind_names = self.token_names = items.tokens
        self.kinds, self.vocabulary = len(items.tokens), len(items.tokens) + 2
        self.spatial = items.spatial
        self.in_channels = BANDS if items.sounds else items.values.shape[3]
        self._labels = items.numbers()
        self._orders: dict[int, NDArray[np.int64]] = {}
        self.remarks += remarks_on(items, self.parts)

    @classmethod
    def from_settings(cls, settings: LabelledInputsSettings, run: RunNumbers) -> LabelledInputsData:
        """Build the data module of a run.

        Raises
        ------
        InputError
            If the folder or file cannot be used.
        """
        made = cls(settings.items(), settings.validation, settings.test, *checks(run))
        made.record({settings.path: digest(settings.user_files()["path"])})  # of a folder, that of its content
        made.record_files(settings.tables())
        return made

    @property
    def most_frequent(self) -> list[int]:
        """The most frequent label of the training items, the first of several."""
        labels = [tuple(self.items.labels[item]) for item in self.parts["training"]]
        [(label, _)] = Counter(labels).most_common(1)
        return [self.token_names.index(token) for token in label]

    def training_items(self, numbers: NDArray[np.int64]) -> MotifBatch:
        """Return the training items of the given numbers, which count through the permutations."""
        size = len(self.parts["training"])
        epochs, places = numbers // size, numbers % size
        return self._batch(np.concatenate([self._order(epoch)[places[epochs == epoch]] for epoch in np.unique(epochs)]))

    def fixed_set(self, name: str, items: int) -> Chunks[MotifBatch]:
        """Return the first items of the validation part, of which bins are fitted, too, or of the test part."""
        chosen = self.parts["validation" if name in ("validation", "binning") else "test"]
        return Chunks(lambda part: self._batch(chosen[part]), min(items, len(chosen)), self.chunk)

    @property
    def exchangeable(self) -> dict[int, int]:
        """Token of each kind: any may replace another."""
        return {token: token for token in range(self.kinds)}

    def _order(self, epoch: int) -> NDArray[np.int64]:
        """Return a permutation of the training items; the last two are kept, since a batch may span both."""
        if epoch not in self._orders:
            self._orders = dict(list(self._orders.items())[-1:])
            self._orders[epoch] = self.streams.numpy("batches", int(epoch)).permutation(self.parts["training"])
        return self._orders[epoch]

    def _batch(self, chosen: NDArray[np.int64]) -> MotifBatch:
        sites = self.items.sites
        spans = zip(*(np.searchsorted(sites[:, 0], chosen, side) for side in ("left", "right")), strict=True)
        rows = [sites[start:stop] for start, stop in spans]
        own = [np.column_stack([np.full(len(of), number), of[:, 1:]]) for number, of in enumerate(rows)]
        return MotifBatch(
            inputs_of(self.items.values[chosen], self.trainer.strategy.root_device if self.trainer else CPU),
            torch.from_numpy(self._labels[chosen]),
            torch.from_numpy(np.concatenate(own).astype(np.int64)),
        )


def inputs_of(values: NDArray[Any], device: torch.device = CPU) -> Tensor:
    """Return the inputs of networks.

    Parameters
    ----------
    values
        Images (n, height, width, channels), uint8 or float32 in [0, 1]; or sounds (n, samples) int16.
    device
        Where spectrograms are computed.

    Returns
    -------
    Tensor
        (n, channels, height, width) in [0, 1]; of sounds (n, mel bands, frames, 1), standardised decibels.
    """
    if values.ndim == 2:
        decibels: Tensor = _spectrogram(device)(torch.from_numpy(values.astype(np.float32) / FULL_SCALE).to(device))
        return decibels
    scale = np.float32(255 if values.dtype == np.uint8 else 1)
    return torch.from_numpy(values.transpose(0, 3, 1, 2).astype(np.float32) / scale)


@cache
def _spectrogram(device: torch.device) -> MelDecibels:
    return MelDecibels(standardised=True).to(device)


def remarks_on(items: LabelledItems, split: dict[str, NDArray[np.int64]]) -> list[str]:
    """Return lines for the log: numbers of items and tokens, and tokens that no training label has."""
    sizes = ", ".join(f"{len(part)} for {name}" for name, part in split.items())
    located = len(np.unique(items.sites[:, 0]))
    known = (
        f"motifs of {located} are known" if located else "no motifs are known, so that their errors are not measured"
    )
    lines = [f"{len(items.labels)} items: {sizes}; {len(items.tokens)} tokens; {known}"]
    trained = {token for item in split["training"] for token in items.labels[item]}
    if unseen := [token for token in items.tokens if token not in trained]:
        lines.append(f"no training item has the tokens {', '.join(unseen[:5])} ({len(unseen)})")
    return lines
