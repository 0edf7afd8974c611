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
from sparseid.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparseid.config.audio_mnist_sequence import AudioMNISTSequenceConfig

Fault = tuple[tuple[str, ...], str]
"""Dotted keys that clash, and why, with what to do."""


def faults(config: AudioMNISTSequenceConfig) -> Iterator[Fault]:
    """Yield what makes the settings impossible, whatever the recordings are."""
    if config.source not in sources.SOURCES:
        yield ("data.source",), f"data.source must be {' or '.join(sources.SOURCES)}"
    if config.source == "synthetic" and config.path:
        text = "synthetic speech reads no folder: leave data.path empty, or write data.source=audiomnist or fsdd"
        yield ("data.path", "data.source"), text
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
    if config.voices < 1:
        yield ("data.voices",), "data.voices must be at least 1, each training speaker's own"
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
    if (tests := sources.n_test_speakers(config)) >= len(found.speakers):
        text = f"there are {len(found.speakers)} speakers: {tests} for tests leave none for training"
        yield ("data.test_speakers", "data.source"), text
    spoken = config.max_digits * found.lengths[found.digit < config.classes].mean() / RATE
    if spoken > config.seconds:
        text = (
            f"{config.max_digits} digits are spoken in {spoken:.3g} s on average: raise data.seconds or lower "
            "data.max_digits"
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
