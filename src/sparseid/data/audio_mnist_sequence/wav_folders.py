"""Folders of wav files: AudioMNIST and the Free Spoken Digit Dataset (FSDD)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sparseid.data.audio_mnist_sequence.recordings import DIGITS, FULL_SCALE, Recording, Recordings
from sparseid.data.audio_mnist_sequence.riff import read_pcm
from sparseid.data.audio_mnist_sequence.times import RATE
from sparseid.errors import InputError

KEYS = ("data.path", "data.source")
BITS = 16
"""Bits of a sample of both data sets."""
FORM = "{digit}_{speaker}_{take}.wav"


@dataclass(frozen=True)
class Layout:
    """Folder layout of a data set of recordings.

    Attributes
    ----------
    title
        Name of the data set.
    inner
        Subfolder that holds the recordings; without it the folder itself.
    pattern
        Pattern of file names: digit, speaker, take.
    names
        Description of the speakers' names, for messages.
    rate
        Sample rate of its files, Hz.
    order
        Maps the speakers' names found to all names expected, test speakers last.
    by_speaker
        Whether each speaker has a folder.
    """

    title: str
    inner: str
    pattern: re.Pattern[str]
    names: str
    rate: int
    order: Callable[[set[str]], list[str]]
    by_speaker: bool


def _audiomnist_order(_: set[str]) -> list[str]:
    """Return the names of the 60 speakers in the order of the authors' code; the last nine are for tests."""
    numbers = np.arange(1, 61)
    np.random.RandomState(0).shuffle(numbers)
    return [f"{number:02d}" for number in numbers]


AUDIOMNIST = Layout(
    title="AudioMNIST",
    inner="data",
    pattern=re.compile(r"([0-9])_([0-9]{2})_([0-9]{1,4})\.wav"),
    names="01 to 60, as the folder",
    rate=48000,
    order=_audiomnist_order,
    by_speaker=True,
)
FSDD = Layout(
    title="FSDD",
    inner="recordings",
    pattern=re.compile(r"([0-9])_([^_]+)_([0-9]{1,4})\.wav"),
    names="any name without _",
    rate=RATE,
    order=sorted,
    by_speaker=False,
)


def wav_files(place: Path, layout: Layout) -> list[tuple[Path, int, str, int]]:
    """Return the recordings in a folder: file, digit, speaker and take, sorted by name.

    Raises
    ------
    InputError
        If there are none, a speaker's folder is missing, or a wav file or folder of wav files has an unexpected name
        (the speakers found determine those of the tests).
    """
    base = place / layout.inner if (place / layout.inner).is_dir() else place
    if not base.is_dir():
        text = f"there is no folder {place}: write data.path=FOLDER with the recordings of {layout.title}"
        raise InputError(text, KEYS)
    shown = "[!.]*.[wW][aA][vV]"  # hidden files are metadata of macOS
    paths = sorted(base.glob(f"[!.]*/{shown}" if layout.by_speaker else shown))
    if layout.by_speaker:
        _check_folders(base, layout, {path.parent.name for path in paths})
    if not paths:
        text = f"there is no wav file in {base}: write data.path=FOLDER with the recordings of {layout.title}"
        raise InputError(f"{text}, named {FORM}", KEYS)
    found, others = [], []
    for path in paths:
        match = layout.pattern.fullmatch(path.name)
        if match and (not layout.by_speaker or path.parent.name == match[2]):
            found.append((path, int(match[1]), match[2], int(match[3])))
        else:
            others.append(path)
    if others:
        form = f"{FORM} (digit of one figure, speaker {layout.names}, take of at most four figures)"
        text = f"{others[0]} is not named {form}: rename all such wav files, or move them away"
        raise InputError(f"{text}; {base} has {len(others)}", KEYS)
    return found


def _check_folders(base: Path, layout: Layout, folders: set[str]) -> None:
    speakers = layout.order(set())
    for name in speakers:
        if not (base / name).is_dir():
            text = f"{layout.title} has no folder of speaker {name}: {base / name} is missing. Download it all again; "
            own = "your own recordings, in one folder, are read with data.source=fsdd"
            raise InputError(text + own, KEYS)
    for name in sorted(folders - set(speakers)):
        text = f"{base / name} is not a speaker of {layout.title}, with speakers {min(speakers)} to {max(speakers)}"
        raise InputError(f"{text}: move this folder out of {base}", KEYS)


def read_folder(place: Path, layout: Layout) -> Recordings:
    """Read all recordings of a folder, at 8000 Hz and in the layout's order of speakers.

    Raises
    ------
    InputError
        As :func:`wav_files`; if a file cannot be used (:func:`read_wav`), or a speaker lacks a digit.
    """
    files = wav_files(place, layout)
    speakers = layout.order({speaker for _, _, speaker, _ in files})
    numbers = {name: number for number, name in enumerate(speakers)}
    said = {(speaker, digit) for _, digit, speaker, _ in files}
    for speaker in speakers:
        for digit in range(DIGITS):
            if (speaker, digit) not in said:
                text = f"no recording of digit {digit} by speaker {speaker} in {place}: add one"
                away = "" if layout.by_speaker else ", or move all of this speaker's files away"
                raise InputError(text + away, KEYS)
    return Recordings.of(
        (
            Recording(numbers[speaker], digit, take, resampled(read_wav(path, layout.rate), layout.rate))
            for path, digit, speaker, take in files
        ),
        speakers,
    )


def read_wav(path: Path, rate: int) -> NDArray[np.int16]:
    """Return the samples of a wav file of 16-bit integers, one channel and the given rate.

    Only these are supported: the data sets have no others.

    Raises
    ------
    InputError
        If the file is truncated, silent or not such a wav file; the message has the remedy.
    """
    again = "download this file again, or move it out of the folder"
    convert = f"convert it, for example: sox {path.name} -r {rate} -c 1 -b 16 -e signed-integer NEW.wav"
    try:
        if not path.stat().st_size:
            raise InputError(f"{path} is empty (0 bytes); {again}", KEYS)
        pcm = read_pcm(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; {again}", KEYS) from error
    except ValueError as error:
        text = f"{path} is not a wav file of integers, or damaged: {error}; {again}, or {convert}"
        raise InputError(text, KEYS) from error
    if pcm.channels != 1:
        raise InputError(f"{path} has {pcm.channels} channels, not one: {convert}", KEYS)
    if pcm.bits != BITS:
        raise InputError(f"{path} has samples of {pcm.bits} bits, not {BITS}: {convert}", KEYS)
    if pcm.rate != rate:
        raise InputError(f"{path} has {pcm.rate} samples per second, not {rate}: {convert}", KEYS)
    content, width = pcm.content, BITS // 8
    if len(content) != pcm.length or len(content) % width:
        given = f"{pcm.length / width:.1f}".removesuffix(".0")
        held = f"it holds {len(content) // width}"
        if len(content) == pcm.length:
            held = f"the last of {len(content)} bytes is half of one"
        text = f"{path} is truncated: its header gives {given} samples, {held}"
        raise InputError(f"{text}; {again}", KEYS)
    if not content:
        raise InputError(f"{path} holds no sound: its length is zero; {again}", KEYS)
    if not any(content):
        raise InputError(f"{path} is silent: all of its samples are 0; {again}", KEYS)
    return np.frombuffer(content, "<i2").astype(np.int16)


def resampled(samples: NDArray[np.int16], rate: int) -> NDArray[np.int16]:
    """Return a recording at 8000 Hz (a polyphase filter), rounded to 16 bits: 96 dB below the loudest."""
    if rate == RATE:
        return samples
    from scipy.signal import resample_poly

    low = resample_poly(samples.astype(np.float64), RATE, rate)
    return np.rint(low).clip(-FULL_SCALE, FULL_SCALE - 1).astype(np.int16)
