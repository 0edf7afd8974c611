"""Recordings of spoken digits by several speakers, held in memory as one array."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.cache import DAMAGED
from sparseid.errors import InputError

FULL_SCALE = 32768
"""A 16-bit sample of this size is 1."""
DIGITS = 10


class Recording(NamedTuple):
    """One recording: the numbers of speaker, digit and take, and the samples, int16 at 8000 Hz."""

    speaker: int
    digit: int
    take: int
    samples: NDArray[np.int16]


@dataclass(frozen=True)
class Recordings:
    """Recordings ordered by speaker, digit and take.

    Attributes
    ----------
    samples : (total,) int16
        All samples at 8000 Hz, one recording after the other.
    lengths : (n,) int32
        Samples of each recording.
    speaker, digit, take : (n,) int16
        What each recording is; speakers are numbered by their place in `speakers`.
    speakers : (speakers,) str
        Their names; those that tests are spoken by stand last.
    """

    samples: NDArray[np.int16]
    lengths: NDArray[np.int32]
    speaker: NDArray[np.int16]
    digit: NDArray[np.int16]
    take: NDArray[np.int16]
    speakers: NDArray[np.str_]

    @classmethod
    def of(cls, recordings: Iterable[Recording], speakers: Iterable[str]) -> Recordings:
        """Put recordings in order and together."""
        ordered = sorted(recordings, key=lambda recording: recording[:3])
        speaker, digit, take, samples = zip(*ordered, strict=True)
        return cls(
            np.concatenate(samples),
            np.array([len(part) for part in samples], np.int32),
            np.array(speaker, np.int16),
            np.array(digit, np.int16),
            np.array(take, np.int16),
            np.array(list(speakers)),
        )

    @classmethod
    def load(cls, path: Path) -> Recordings:
        """Read a file that :meth:`save` has written.

        Raises
        ------
        InputError
            If the file is damaged; the message is about the project's sample, for other files are made anew.
        """
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return cls(**arrays)
        except DAMAGED as error:
            raise InputError(f"{path} is damaged: restore it (git checkout -- {path})") from error

    def save(self, path: Path, compress: bool = False) -> None:
        """Write all arrays to a npz file, the same bytes for the same recordings."""
        with path.open("wb") as file:
            (np.savez_compressed if compress else np.savez)(file, allow_pickle=False, **asdict(self))

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First sample of each recording, (n,)."""
        return np.concatenate([[0], np.cumsum(self.lengths[:-1], dtype=np.int64)])

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Recordings of each digit by each speaker, (speakers, 10)."""
        counts = np.zeros((len(self.speakers), DIGITS), np.int64)
        np.add.at(counts, (self.speaker, self.digit), 1)
        return counts

    @cached_property
    def mean_lengths(self) -> NDArray[np.float64]:
        """Mean samples of each digit by each speaker, (speakers, 10), where each has said all digits."""
        total = np.zeros((len(self.speakers), DIGITS))
        np.add.at(total, (self.speaker, self.digit), self.lengths)
        return total / self.counts

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Number of the first recording of each digit by each speaker, (speakers, 10)."""
        return np.concatenate([[0], self.counts.ravel().cumsum()[:-1]]).reshape(self.counts.shape)

    def sound(self, number: int) -> NDArray[np.float32]:
        """Return the samples of one recording in [-1, 1)."""
        start = self.starts[number]
        return self.samples[start : start + self.lengths[number]].astype(np.float32) / np.float32(FULL_SCALE)
