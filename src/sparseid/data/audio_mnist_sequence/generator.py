"""Generator of clips (Sparling, section 5.1): speakers, digits and times, then the sound with noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.audio_mnist_sequence.recordings import Recordings
from sparseid.data.audio_mnist_sequence.sources import voiced
from sparseid.data.audio_mnist_sequence.times import frame_spans, samples_of
from sparseid.data.batch import PAD

if TYPE_CHECKING:
    from sparseid.data.audio_mnist_sequence.settings import AudioMNISTSequenceSettings

NOISE_LEVELS = 2**16
"""Size of the table of quantiles that noise is drawn from, finer than the 16 bits of the recordings."""


class Clips(NamedTuple):
    """Digits and times in a batch of clips; places beyond a clip's own count hold -1.

    Attributes
    ----------
    digits : (clips, places) int64
        Digits in spoken order.
    recordings : (clips, places) int64
        Numbers of their recordings.
    starts, lengths : (clips, places) int64
        Starts and lengths of the recordings, in samples.
    """

    digits: NDArray[np.int64]
    recordings: NDArray[np.int64]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def sites(self, samples: int) -> NDArray[np.int64]:
        """Return the motifs of clips of `samples` samples: clip, digit, half-open span of frames, then 0 and 1.

        The last two are the span on the second axis of sounds, of width 1.
        """
        clip, place = np.nonzero(self.digits != PAD)
        spans = frame_spans(self.starts[clip, place], self.lengths[clip, place], samples)
        edge = np.zeros_like(clip)
        return np.column_stack([clip, self.digits[clip, place], spans, edge, edge + 1])


@dataclass(frozen=True)
class ClipDistribution:
    """The distribution of clips.

    Parameters
    ----------
    recordings
        Recordings that clips are composed of.
    samples
        Length of a clip at 8000 Hz.
    min_digits, max_digits
        Digits per clip, uniform.
    classes
        Digits 0 .. classes - 1 occur, each independently and equally likely.
    noise_std
        Standard deviation of normal noise, truncated at one standard deviation; full scale is 1.
    """

    recordings: Recordings
    samples: int
    min_digits: int = 5
    max_digits: int = 10
    classes: int = 10
    noise_std: float = 2.0**-10

    def draw_clips(self, clips: int, speakers: NDArray[np.integer], rng: np.random.Generator) -> Clips:
        """Draw speakers, digits and times.

        Every digit is spoken by one of `speakers`, drawn independently, in one of this speaker's takes. Recordings do
        not overlap; all placements in their order are equally likely. Recordings that do not fit the clip are redrawn.
        """
        used = np.arange(self.max_digits) < rng.integers(self.min_digits, self.max_digits + 1, clips)[:, None]
        digits, chosen, lengths = (np.full(used.shape, PAD, np.int64) for _ in range(3))
        open_clips = np.arange(clips)
        while len(open_clips):
            in_use = used[open_clips]
            said, numbers = self._draw_recordings(in_use.shape, speakers, rng)
            long = np.where(in_use, self.recordings.lengths[numbers], 0)
            digits[open_clips] = np.where(in_use, said, PAD)
            chosen[open_clips] = np.where(in_use, numbers, PAD)
            lengths[open_clips] = np.where(in_use, long, PAD)
            open_clips = open_clips[long.sum(axis=1) > self.samples]
        starts = draw_starts(np.where(used, lengths, 0), used, self.samples, rng)
        return Clips(digits, chosen, np.where(used, starts, PAD), lengths)

    def draw_single(self, clips: int, speakers: NDArray[np.integer], rng: np.random.Generator) -> Clips:
        """Draw clips of one digit each, in the middle; a recording longer than the clip is cut at its end."""
        digits, numbers = self._draw_recordings((clips, 1), speakers, rng)
        lengths = np.minimum(self.recordings.lengths[numbers].astype(np.int64), self.samples)
        return Clips(digits, numbers, (self.samples - lengths) // 2, lengths)

    def sound(self, clips: Clips, rng: np.random.Generator) -> NDArray[np.float32]:
        """Return the clips' sound with noise everywhere, (clips, samples)."""
        levels = rng.integers(0, NOISE_LEVELS, (len(clips.digits), self.samples), dtype=np.uint16)
        sound = self._noise[levels]
        for clip, place in zip(*np.nonzero(clips.digits != PAD), strict=True):
            start, length = clips.starts[clip, place], clips.lengths[clip, place]
            sound[clip, start : start + length] += self.recordings.sound(clips.recordings[clip, place])[:length]
        return sound

    def _draw_recordings(
        self, shape: tuple[int, ...], speakers: NDArray[np.integer], rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw digits, a speaker for each, and one of this speaker's takes of it; return digits and recordings."""
        digits = rng.integers(0, self.classes, shape)
        speaker = np.asarray(speakers)[rng.integers(0, len(speakers), shape)]
        take = (rng.random(shape) * self.recordings.counts[speaker, digits]).astype(np.int64)
        return digits, self.recordings.first[speaker, digits] + take

    @cached_property
    def _noise(self) -> NDArray[np.float32]:
        """Equally likely values of the noise: quantiles of a normal variable truncated at one standard deviation."""
        from scipy.special import ndtr, ndtri

        low, high = ndtr([-1.0, 1.0])
        shares = (np.arange(NOISE_LEVELS) + 0.5) / NOISE_LEVELS
        return (self.noise_std * ndtri(low + shares * (high - low))).astype(np.float32)


def draw_starts(
    lengths: NDArray[np.integer], used: NDArray[np.bool_], samples: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw starts of consecutive recordings without overlap, all possible ones equally likely.

    This equals drawing sorted uniform starts until no recording reaches into the next or over the end (authors' code).
    The F free samples around L recordings can be split in (F + L choose L) ways: a set of L distinct numbers below F +
    L determines the free samples before each of them.

    Parameters
    ----------
    lengths : (clips, places) int
        Samples of each recording; 0 in unused places. Their sum is at most `samples`.
    used : (clips, places) bool
        Places in use, at the beginning of each row.
    samples
        Length of a clip.

    Returns
    -------
    (clips, places) int64; arbitrary in unused places.
    """
    counts = used.sum(axis=1)
    limit = samples - lengths.sum(axis=1) + counts
    chosen = np.zeros(lengths.shape, np.int64)
    rows = np.arange(len(lengths))
    while len(rows):
        drawn = rng.integers(0, np.maximum(limit[rows], 1)[:, None], (len(rows), lengths.shape[1]))
        chosen[rows] = np.sort(np.where(used[rows], drawn, np.iinfo(np.int64).max), axis=1)
        same = (np.diff(chosen[rows], axis=1) == 0) & used[rows][:, 1:]
        rows = rows[same.any(axis=1)]
    before = np.cumsum(lengths, axis=1) - lengths
    return np.where(used, chosen, 0) - np.arange(lengths.shape[1]) + before


def distribution(config: AudioMNISTSequenceSettings) -> ClipDistribution:
    """Return the distribution of clips that settings describe.

    Raises
    ------
    InputError
        If the recordings are missing or cannot be used.
    """
    return ClipDistribution(
        voiced(config),
        samples_of(config.seconds),
        config.min_digits,
        config.max_digits,
        config.classes,
        config.noise_std,
    )
