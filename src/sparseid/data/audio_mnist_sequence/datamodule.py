"""Data module of AudioMNISTSequence: clips of training speakers, tests by unseen speakers."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import torch

from sparseid.data.audio_mnist_sequence.generator import ClipDistribution, Clips, distribution
from sparseid.data.audio_mnist_sequence.sources import note, speakers_of
from sparseid.data.audio_mnist_sequence.spectrogram import MelDecibels
from sparseid.data.audio_mnist_sequence.times import BANDS, frames_of, samples_of
from sparseid.data.batch import MotifBatch
from sparseid.data.motifs import MotifData, SingleMotifTest, checks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparseid.data.audio_mnist_sequence.settings import AudioMNISTSequenceSettings
    from sparseid.settings import RunNumbers

SINGLE_SECONDS = 3.0
"""Length of a clip with one digit (authors' code)."""
BLOCK, CHUNK = 32, 32
"""Clips drawn at once for training, and for validation and test."""


class AudioMNISTSequenceData(MotifData):
    """Batches of spectrograms of spoken digit sequences.

    Inputs are (items, 64 mel bands, frames, 1) in dB or standardised, computed on the run's device; sites are spans of
    frames. Training, validation and the exchange of motifs use the training speakers, tests the others.

    Parameters
    ----------
    distribution
        Distribution of the clips.
    speakers
        Numbers of the speakers of each split: ``train_speakers`` and ``test_speakers``.
    vocabulary
        Number of tokens; the digits come first.
    standardised
        Scale the decibels to a mean of about 0 and a standard deviation of about 1.
    seed, batch_size, batches_per_check, check_items
        As in :class:`sparseid.data.motifs.MotifData`.
    """

    in_channels = BANDS
    single_motif_tests = tuple(
        SingleMotifTest({"split": split}, split) for split in ("train_speakers", "test_speakers")
    )
    exchange_keys = MappingProxyType({"split": "train_speakers"})  # as in the authors' code

    def __init__(
        self,
        distribution: ClipDistribution,
        speakers: dict[str, NDArray[np.int64]],
        vocabulary: int,
        standardised: bool,
        seed: int,
        batch_size: int,
        batches_per_check: int,
        check_items: int,
    ) -> None:
        super().__init__("audio_mnist_sequence", seed, batch_size, batches_per_check, check_items, BLOCK, CHUNK)
        self.distribution = distribution
        self.speakers = speakers
        self.vocabulary = vocabulary
        self.spectrogram = MelDecibels(standardised)

    @classmethod
    def from_settings(cls, settings: AudioMNISTSequenceSettings, run: RunNumbers) -> AudioMNISTSequenceData:
        """Build the data module of a run.

        Raises
        ------
        InputError
            If the recordings are missing or cannot be used.
        """
        speakers = speakers_of(settings)
        made = cls(distribution(settings), speakers, settings.vocabulary, settings.standardised, *checks(run))
        made.note = note(settings)
        made.record_files(settings.user_files().values())
        return made

    @property
    def kinds(self) -> int:
        """Number of motif kinds: digits that occur."""
        return self.distribution.classes

    @property
    def kind_names(self) -> tuple[str, ...]:
        """Names of the digits."""
        return tuple(map(str, range(self.kinds)))

    @property
    def token_names(self) -> tuple[str, ...]:
        """Names of the tokens: the digits, then tokens that no label has."""
        return self.kind_names + ("?",) * (self.vocabulary - 2 - self.kinds)

    @property
    def spatial(self) -> tuple[int, int]:
        """Frames of a clip, and 1."""
        return frames_of(self.distribution.samples), 1

    def draw(self, items: int, rng: np.random.Generator) -> MotifBatch:
        """Draw clips of the training speakers."""
        clips = self.distribution.draw_clips(items, self.speakers["train_speakers"], rng)
        return self._batch(self.distribution, clips, rng)

    def draw_test(self, items: int, rng: np.random.Generator) -> MotifBatch:
        """Draw clips of the test speakers."""
        clips = self.distribution.draw_clips(items, self.speakers["test_speakers"], rng)
        return self._batch(self.distribution, clips, rng)

    def draw_single(self, name: str, items: int, rng: np.random.Generator) -> MotifBatch:
        """Draw clips of 3 s with one digit in the middle, by the speakers of the split `name` (by default training)."""
        single = ClipDistribution(
            self.distribution.recordings,
            samples_of(SINGLE_SECONDS),
            classes=self.distribution.classes,
            noise_std=self.distribution.noise_std,
        )
        return self._batch(
            single, single.draw_single(items, self.speakers.get(name, self.speakers["train_speakers"]), rng), rng
        )

    @property
    def exchangeable(self) -> dict[int, int]:
        """Token of each digit: any may replace another."""
        return {digit: digit for digit in range(self.kinds)}

    def _batch(self, law: ClipDistribution, clips: Clips, rng: np.random.Generator) -> MotifBatch:
        device = self.trainer.strategy.root_device if self.trainer is not None else torch.device("cpu")
        sound = torch.from_numpy(law.sound(clips, rng)).to(device)
        inputs = self.spectrogram.to(device)(sound)
        return MotifBatch(inputs, torch.from_numpy(clips.digits), torch.from_numpy(clips.sites(law.samples)))
