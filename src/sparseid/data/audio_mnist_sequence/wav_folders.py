"""Folders of wav files: AudioMNIST and the Free Spoken Digit Dataset (FSDD)."""

from __future__ import annotations

import re
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sparseid.data.audio_mnist_sequence.recordings import DIGITS, FULL_SCALE, Recording, Recordings
from sparseid.data.audio_mnist_sequence.times import RATE
from sparseid.errors import InputError

KEYS = ("data.path", "data.source")


@dataclass(frozen=True)
class Layout:
    """How a data set of recordings lies in its folder.

    Attributes
    ----------
    title
        Its name.
    inner
        Folder of the checkout that holds the recordings; the folder itself where it is not there.
    pattern
        Of file names: digit, speaker, take.
    rate
        Sample rate of its files, Hz.
    order
        Takes the speakers' names that there are and returns all that there should be, tests' last.
    by_speaker
        Whether each speaker has a folder.
    """

    title: str
    inner: str
    pattern: re.Pattern[str]
    rate: int
    order: Callable[[set[str]], list[str]]
    by_speaker: bool


def _audiomnist_order(_: set[str]) -> list[str]:
    """Return the names of the 60 speakers in the order of the authors' code, in which the last nine are for tests."""
    numbers = np.arange(1, 61)
    np.random.RandomState(0).shuffle(numbers)
    return [f"{number:02d}" for number in numbers]


AUDIOMNIST = Layout("AudioMNIST", "data", re.compile(r"(\d)_(\d\d)_(\d+)\.wav"), 48000, _audiomnist_order, True)
FSDD = Layout("FSDD", "recordings", re.compile(r"(\d)_([a-z]+)_(\d+)\.wav"), RATE, sorted, False)


def wav_files(place: Path, layout: Layout) -> list[tuple[Path, int, str, int]]:
    """Return the recordings in a folder: file, digit, speaker and take, in the order of names.

    Raises
    ------
    InputError
        If there are none, or a speaker's folder is missing.
    """
    base = place / layout.inner if (place / layout.inner).is_dir() else place
    if not base.is_dir():
        raise InputError(f"there is no folder {place} with the recordings of {layout.title}", KEYS)
    if layout.by_speaker:
        for name in layout.order(set()):
            if not (base / name).is_dir():
                raise InputError(f"{layout.title} has no folder of speaker {name}: {base / name} is not there", KEYS)
    found = []
    for path in sorted(base.glob("*/*.wav" if layout.by_speaker else "*.wav")):
        if match := layout.pattern.fullmatch(path.name):
            found.append((path, int(match[1]), match[2], int(match[3])))
    if not found:
        form = "{digit}_{speaker}_{take}.wav"
        raise InputError(f"no file in {base} is named {form}: is this {layout.title}?", KEYS)
    return found


def read_folder(place: Path, layout: Layout) -> Recordings:
    """Read all recordings of a folder, at 8000 Hz and in the layout's order of speakers.

    Raises
    ------
    InputError
        As :func:`wav_files`; if a file cannot be used (:func:`read_wav`), or a speaker never says some digit.
    """
    files = wav_files(place, layout)
    speakers = layout.order({speaker for _, _, speaker, _ in files})
    numbers = {name: number for number, name in enumerate(speakers)}
    said = {(speaker, digit) for _, digit, speaker, _ in files}
    for speaker in speakers:
        for digit in range(DIGITS):
            if (speaker, digit) not in said:
                raise InputError(f"no recording of digit {digit} by speaker {speaker} in {place}", KEYS)
    return Recordings.of(
        (
            Recording(numbers[speaker], digit, take, resampled(read_wav(path, layout.rate), layout.rate))
            for path, digit, speaker, take in files
        ),
        speakers,
    )


def read_wav(path: Path, rate: int) -> NDArray[np.int16]:
    """Return the samples of a wav file of 16-bit integers, one channel and the given rate.

    The standard library reads these; the data sets hold nothing else.

    Raises
    ------
    InputError
        If the file is cut off or no such wav file; it says which and what is wrong.
    """
    try:
        with path.open("rb") as stream, wave.open(stream) as file:
            channels, width, found, length, *_ = file.getparams()
            content = file.readframes(length)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", KEYS) from error
    except (wave.Error, EOFError) as error:
        reason = str(error) or "it is cut off"
        raise InputError(f"{path} is no wav file of integers, or damaged: {reason}", KEYS) from error
    if channels != 1:
        raise InputError(f"{path} has {channels} channels: recordings have one", KEYS)
    if width != 2:
        raise InputError(f"{path} has samples of {8 * width} bits: recordings have 16", KEYS)
    if found != rate:
        raise InputError(f"{path} has {found} samples per second: recordings of this data set have {rate}", KEYS)
    if len(content) != width * length:
        text = f"{path} is cut off: it promises {length} samples and holds {len(content) // width}"
        raise InputError(text, KEYS)
    if not length:
        raise InputError(f"{path} holds no sound: its length is zero", KEYS)
    return np.frombuffer(content, "<i2").astype(np.int16)


def resampled(samples: NDArray[np.int16], rate: int) -> NDArray[np.int16]:
    """Return a recording at 8000 Hz (a polyphase filter), rounded to 16 bits: 96 dB below the loudest."""
    if rate == RATE:
        return samples
    from scipy.signal import resample_poly

    low = resample_poly(samples.astype(np.float64), RATE, rate)
    return np.rint(low).clip(-FULL_SCALE, FULL_SCALE - 1).astype(np.int16)
