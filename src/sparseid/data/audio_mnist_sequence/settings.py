"""What settings of spoken digit sequences cannot be, and whether the recordings are there and can be used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sparseid.data.audio_mnist_sequence import sources
from sparseid.data.audio_mnist_sequence.generator import ClipDistribution
from sparseid.data.audio_mnist_sequence.recordings import DIGITS
from sparseid.data.audio_mnist_sequence.times import RATE, WINDOW, samples_of
from sparseid.data.audio_mnist_sequence.voices import MOST_VOICES
from sparseid.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparseid.config.audio_mnist_sequence import AudioMNISTSequenceConfig
    from sparseid.data.audio_mnist_sequence.recordings import Recordings

Fault = tuple[tuple[str, ...], str]
"""Dotted keys that clash, and why, with what to do."""


def faults(config: AudioMNISTSequenceConfig) -> Iterator[Fault]:
    """Yield what makes the settings impossible, whatever the recordings are."""
    if config.source not in sources.SOURCES:
        yield ("data.source",), f"data.source must be {' or '.join(sources.SOURCES)}"
    if not WINDOW < config.seconds * RATE < math.inf:
        yield ("data.seconds",), f"data.seconds must be above {WINDOW / RATE:.3g}, the window of a frame"
    if not 1 <= config.min_digits <= config.max_digits:
        text = "a clip has at least one digit: 1 <= data.min_digits <= data.max_digits"
        yield ("data.min_digits", "data.max_digits"), text
    if not 1 <= config.classes <= DIGITS:
        yield ("data.classes",), f"data.classes must be between 1 and {DIGITS}"
    if config.vocabulary < config.classes + 2:
        text = f"data.vocabulary holds the digits, start and end of a label: at least {config.classes + 2}"
        yield ("data.vocabulary", "data.classes"), text
    if config.test_speakers < 0:
        yield ("data.test_speakers",), "data.test_speakers must be at least 0"
    if not 1 <= config.voices <= MOST_VOICES:
        text = f"data.voices must be between 1, each training speaker's own, and {MOST_VOICES}: all are held in memory"
        yield ("data.voices",), text
    if not 0 <= config.level <= 0.2:
        yield ("data.level",), "data.level must be between 0 (loudness as recorded) and 0.2 (more would be cut off)"
    if not 0 <= config.noise_std < math.inf:
        yield ("data.noise_std",), "data.noise_std must be at least 0"


def absent_files(config: AudioMNISTSequenceConfig) -> Iterator[Fault]:
    """Yield that recordings are not there or cannot be used, or that they do not fit the settings."""
    try:
        found = sources.recordings(config)
    except InputError as error:
        yield error.keys, str(error)
        return
    training = len(found.speakers) - sources.n_test_speakers(config)
    yield from _too_long(config, found, training) if training > 0 else _too_few(config, found.speakers.tolist())


def _too_few(config: AudioMNISTSequenceConfig, names: list[str]) -> Iterator[Fault]:
    if len(names) == 1:
        text = f"there is one speaker, {names[0]}: at least two are needed, one of them for tests alone"
    else:
        most = f", at most {len(names) - 1}" if len(names) > 2 else ""
        text = (
            f"there are {len(names)} speakers in all: {sources.n_test_speakers(config)} for tests leave none for "
            f"training. Write data.test_speakers=1{most}"
        )
    yield ("data.test_speakers", "data.source"), text


def _too_long(config: AudioMNISTSequenceConfig, found: Recordings, training: int) -> Iterator[Fault]:
    """Yield that the speakers of training, or those of tests, say the most digits in more time than a clip has.

    Clips are drawn until they fit. As long as the mean fits, about every second draw does, and some always do; of
    recordings that are all too long none ever would.
    """
    means = found.mean_lengths[:, : config.classes].mean(axis=1)  # every speaker and digit is equally likely
    groups = {"training": slice(None, training), "tests": slice(training, None)}
    slowest = max(groups, key=lambda group: means[groups[group]].mean())
    samples = config.max_digits * means[groups[slowest]].mean()
    if samples > samples_of(config.seconds):
        names = found.speakers[groups[slowest]].tolist()
        said_by = ", ".join(names if len(names) <= 6 else [*names[:3], "...", names[-1]])
        text = (
            f"{config.max_digits} digits last {samples / RATE:.3g} s on average as the speakers of {slowest} say them "
            f"({said_by}): write data.seconds={math.ceil(10 * samples / RATE) / 10:g} or more, or lower data.max_digits"
        )
        yield ("data.seconds", "data.max_digits"), text


def placed_files(config: AudioMNISTSequenceConfig) -> dict[str, Path]:
    """Return the user's recordings, all in one file."""
    return sources.placed_files(config)


def distribution(config: AudioMNISTSequenceConfig) -> ClipDistribution:
    """Return the distribution of clips that a configuration describes.

    Raises
    ------
    InputError
        If the recordings are not there or cannot be used.
    """
    return ClipDistribution(
        sources.voiced(config),
        samples_of(config.seconds),
        config.min_digits,
        config.max_digits,
        config.classes,
        config.noise_std,
    )


def speakers_of(config: AudioMNISTSequenceConfig) -> dict[str, NDArray[np.int64]]:
    """Return the numbers of the speakers of training and validation, and of those that only the test hears."""
    found, tests = len(sources.voiced(config).speakers), sources.n_test_speakers(config)
    return {"train_speakers": np.arange(found - tests), "test_speakers": np.arange(found - tests, found)}
