"""Chunks of a wav file: the samples of integer recordings, also of streams whose header does not know their length.

Python's ``wave`` refuses WAVE_FORMAT_EXTENSIBLE before 3.12, and every file without a length; other readers want a
library of the system.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

PCM, EXTENSIBLE = 0x0001, 0xFFFE
"""Format tags of integer samples, directly or as the subformat of an extended description."""
PCM_SUBFORMAT = PCM.to_bytes(2, "little") + bytes.fromhex("000000001000800000aa00389b71")
"""GUID of integer samples."""
FORMS = (b"RIFF", b"RF64", b"BW64")
"""First letters of a file."""
FASTEST = 1_000_000
"""Maximum number of samples per second, above that of any recorder."""
UNKNOWN_FROM = 0x7FFF0000
"""Lengths from this on are written by programs that do not know it, such as sox (0x7FFFF000) or ffmpeg (0xFFFFFFFF)."""


class Pcm(NamedTuple):
    """Integer samples of a wav file.

    Attributes
    ----------
    channels, bits, rate
        Number of channels, bits of a sample, samples per second.
    length
        Number of bytes that the header gives; that of `content` if the header does not know it.
    content
        Bytes of the samples, as many as there are.
    """

    channels: int
    bits: int
    rate: int
    length: int
    content: bytes


def read_pcm(path: Path) -> Pcm:
    """Return the integer samples of a wav file.

    A file has one chunk of samples, before which there may be empty ones. Its length of 0xFFFFFFFF or slightly below
    2^31 or above means to the end of the file, or to whole chunks that end with it, and so does 0 if something else
    than chunks follows. RF64 and BW64 files have their length in a chunk of its own.

    Raises
    ------
    ValueError
        If it is not a wav file, has no samples or no description of them, they are not integers, or a second chunk of
        samples, or another file, follows.
    """
    file = path.read_bytes()
    if file[:4] not in FORMS:
        raise ValueError("file does not start with RIFF id")
    if file[8:12] != b"WAVE":
        raise ValueError("not a WAVE file")
    place, form, long_length, empty = 12, None, None, None
    while place + 8 <= len(file):
        name, size = struct.unpack_from("<4sI", file, place)
        place += 8
        if name == b"data":
            if form is None:
                raise ValueError("its samples come before their description")
            samples, end = _samples(form, file, place, size, long_length)
            if samples.length:
                _check_rest(file, end)
                return samples
            empty, size = samples, 0
        if name == b"fmt ":
            form = _form(file[place : place + size])
        elif name == b"ds64" and place + 16 <= len(file):
            long_length = struct.unpack_from("<8xQ", file, place)[0]
        place += size + size % 2  # chunks begin at even places
    if empty is not None:
        return empty
    raise ValueError("it has no samples" if form else "it is truncated or has no description of its samples")


def _form(chunk: bytes) -> tuple[int, int, int]:
    """Return channels, bits and rate of a description of samples."""
    if len(chunk) < 16:
        raise ValueError("the description of its samples is truncated")
    tag, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunk)
    if tag == EXTENSIBLE and chunk[24:40] == PCM_SUBFORMAT:
        tag = PCM
    if tag != PCM:
        raise ValueError(f"unknown format: {tag:#06x}, where integers are {PCM:#06x}")
    if not 0 < rate <= FASTEST:
        raise ValueError(f"it has {rate} samples per second, which is no rate of sounds")
    return channels, bits, rate


def _check_rest(file: bytes, place: int) -> None:
    """Refuse further samples in the chunks from a place on, which would not be heard."""
    while place + 8 <= len(file):
        name, size = struct.unpack_from("<4sI", file, place)
        if name in (b"data", *FORMS):
            what = "second chunk of samples" if name == b"data" else "second wav file"
            raise ValueError(f"a {what} begins at byte {place}, and a wav file has one")
        place += 8 + size + size % 2


def _samples(
    form: tuple[int, int, int], file: bytes, place: int, size: int, long_length: int | None
) -> tuple[Pcm, int]:
    """Return the samples of the chunk whose content begins at a place, and the place after the chunk."""
    channels, bits, rate = form
    if size == 0xFFFFFFFF and long_length:  # 0 if it was not known, either
        size = long_length
    end = place + size
    if (size >= UNKNOWN_FROM and end > len(file)) or (size == 0 and (end := _last_chunks(file, place)) > place):
        frame = max(1, channels * (bits // 8))
        end = _last_chunks(file, place)
        size = (end - place) // frame * frame  # a stream may end within a sample
    return Pcm(channels, bits, rate, size, file[place : place + size]), end + end % 2


def _last_chunks(file: bytes, place: int) -> int:
    """Return the first place, from one on, after which a file is nothing but whole chunks; its end without any."""
    if len(file) < place + 8:
        return len(file)
    halves = np.frombuffer(file, "<u2", (len(file) - place - 4) // 2, place + 4).astype(np.int64)
    sizes = halves[:-1] + (halves[1:] << 16)
    starts = place + 2 * np.arange(len(sizes))  # chunks begin at even places
    letters = np.frombuffer(file, np.uint8)[starts[:, None] + np.arange(4)]
    named = ((letters >= ord(" ")) & (letters <= ord("~"))).all(axis=1)
    starts, ends = starts[named], (starts + 8 + sizes + sizes % 2)[named]
    first, after = len(file), np.array([len(file), len(file) + 1])  # the last one may lack its filling byte
    while len(found := starts[np.isin(ends, after)]):
        first, after = min(first, int(found.min())), found
    return first
