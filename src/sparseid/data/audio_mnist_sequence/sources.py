"""Recordings of a source: the user's folders, or the sample that the project holds."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparseid.data.audio_mnist_sequence.recordings import Recordings
from sparseid.data.audio_mnist_sequence.voices import with_voices
from sparseid.data.audio_mnist_sequence.wav_folders import AUDIOMNIST, FSDD, KEYS, Layout, read_folder, wav_files
from sparseid.data.cache import cached_npz
from sparseid.data.paths import data_folder, samples_folder
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.audio_mnist_sequence.settings import AudioMNISTSequenceSettings

SOURCES = {"audiomnist": AUDIOMNIST, "fsdd": FSDD}
"""Layouts of their folders."""
SAMPLE_FILE = "fsdd_1200.npz"
TEST_SPEAKERS = {"audiomnist": 9, "fsdd": 2}
"""Number of speakers reserved for tests; AudioMNIST: 52 to 60 in the authors' order."""

PUBLISHED = (60, 30000)
"""Numbers of speakers and recordings of AudioMNIST."""

HOW_TO_GET = """\
  git clone https://github.com/soerenab/AudioMNIST (993 MB), and write data.path=/path/to/AudioMNIST, or place or link
  it as {place}. Only data/<speaker>/<digit>_<speaker>_<take>.wav is read.
  None of this is needed for data.source=fsdd"""


def recordings(config: AudioMNISTSequenceSettings) -> Recordings:
    """Return the recordings of a source, read once per process.

    Raises
    ------
    InputError
        If a folder is missing, or one of its files cannot be used.
    """
    return _held(_file(config))


def note(config: AudioMNISTSequenceSettings) -> str:
    """Return what tells the recordings from the paper's; empty for AudioMNIST as published.

    Raises
    ------
    InputError
        As :func:`recordings`.
    """
    found = recordings(config)
    size = len(found.speakers), len(found.lengths)
    if config.source == "audiomnist" and size == PUBLISHED:
        return ""
    return f"{size[1]:,} recordings of {size[0]} speakers in place of AudioMNIST's {PUBLISHED[1]:,} of {PUBLISHED[0]}"


def voiced(config: AudioMNISTSequenceSettings) -> Recordings:
    """Return the recordings for clips, with normalised loudness and additional voices if configured.

    Raises
    ------
    InputError
        As :func:`recordings`.
    """
    return _voiced(_file(config), n_test_speakers(config), config.voices, config.level)


def n_test_speakers(config: AudioMNISTSequenceSettings) -> int:
    """Return the number of (last) speakers reserved for tests."""
    return config.test_speakers or TEST_SPEAKERS[config.source]


def speakers_of(config: AudioMNISTSequenceSettings) -> dict[str, NDArray[np.int64]]:
    """Return the numbers of the speakers for training and validation, and of those for tests."""
    found, tests = len(voiced(config).speakers), n_test_speakers(config)
    return {"train_speakers": np.arange(found - tests), "test_speakers": np.arange(found - tests, found)}


def gathered_file(config: AudioMNISTSequenceSettings) -> Path | None:
    """Return the file with all recordings of the user's folder, created on first use; None if the source has none.

    Raises
    ------
    InputError
        As :func:`recordings`.
    """
    layout = SOURCES.get(config.source)
    if layout is None or (config.source == "fsdd" and not config.path):
        return None
    place = Path(config.path) if config.path else data_folder() / "AudioMNIST"
    if config.source == "audiomnist" and not place.is_dir():
        text = f"there is no AudioMNIST in {place}\n{HOW_TO_GET.format(place=data_folder() / 'AudioMNIST')}"
        raise InputError(text, KEYS)
    return _gathered(place, layout, data_folder())


@cache
def _gathered(place: Path, layout: Layout, target: Path) -> Path:
    """Gather the recordings again if any file has changed; `target` is the data folder, which may be moved.

    A gathered file is read, so that a damaged one is recreated: its content identifies a run.
    """
    files = [path for path, *_ in wav_files(place, layout)]
    try:
        states = [path.stat() for path in files]
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}", KEYS) from error
    state = [layout.title, *((str(path), s.st_size, s.st_mtime_ns) for path, s in zip(files, states, strict=True))]
    key = hashlib.sha256(repr(state).encode()).hexdigest()[:16]
    path = target / "cache" / "audio_mnist_sequence" / f"recordings-{key}.npz"
    cached_npz(path, lambda file: read_folder(place, layout).save(file))
    return path


def _file(config: AudioMNISTSequenceSettings) -> Path:
    """Return the file that holds a source's recordings."""
    return gathered_file(config) or samples_folder() / SAMPLE_FILE


@cache
def _held(file: Path) -> Recordings:
    return Recordings.load(file)


@cache
def _voiced(file: Path, test_speakers: int, voices: int, level: float) -> Recordings:
    return with_voices(_held(file), test_speakers, voices, level)
