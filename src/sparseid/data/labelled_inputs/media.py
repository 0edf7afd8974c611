"""Images and sounds of files, as arrays of one size."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseid.data.audio_mnist_sequence.riff import read_pcm
from sparseid.data.audio_mnist_sequence.times import RATE
from sparseid.data.audio_mnist_sequence.wav_folders import read_wav, resampled
from sparseid.errors import InputError

IMAGES, SOUNDS = (".png", ".jpg", ".jpeg"), (".wav",)
"""Endings of the files that are read."""
SIXTEEN_BITS = ("I", "I;16", "I;16B", "I;16L", "F")
"""Pillow's modes of images with more than 8 bits per sample."""
SIXTEEN_BITS_STORED = re.compile("'(LA|RGB|CMYK)[aAxX]*;16")
"""Pillow's names of such samples in a file, which it cuts to 8 bits."""


def read_media(files: Mapping[str, Path]) -> tuple[str, NDArray[np.uint8] | NDArray[np.int16]]:
    """Read images, or sounds.

    Parameters
    ----------
    files
        Name, for messages, -> file; all images (`IMAGES`) or all sounds (`SOUNDS`).

    Returns
    -------
    kind
        ``images`` or ``sounds``.
    values
        Images (n, height, width, channels) uint8, with three channels if any is coloured; sounds (n, samples) int16 at
        8,000 Hz, with silence after the end of the shorter ones.

    Raises
    ------
    InputError
        If a file cannot be read, or is of another size or kind than the first one.
    """
    first = next(iter(files))
    endings = IMAGES if first.lower().endswith(IMAGES) else SOUNDS
    kind, other = ("images", "a sound") if endings is IMAGES else ("sounds", "an image")
    for name in files:
        if not name.lower().endswith(IMAGES + SOUNDS):
            raise InputError(f"{files[name]} is none of {', '.join(IMAGES + SOUNDS)} by its ending")
        if not name.lower().endswith(endings):
            raise InputError(f"{files[name]} is {other}, {files[first]} is not: all files are images, or all sounds")
    return kind, _images([*files.values()]) if endings is IMAGES else _sounds([*files.values()])


def read_image(path: Path) -> NDArray[np.uint8]:
    """Return an image (height, width) or (height, width, 3), upright as its metadata say.

    Raises
    ------
    InputError
        If it cannot be read, has more than 8 bits per sample, or is transparent.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as file:
            stored = str(file.tile)  # has the bits of a sample, which the mode of a coloured image has not
            image = ImageOps.exif_transpose(file)
            image.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        text = f"{path} is no image that can be read ({error})"
        raise InputError(f"{text}: replace it, or remove it and its label") from error
    if image.mode in SIXTEEN_BITS or SIXTEEN_BITS_STORED.search(stored):
        raise InputError(f"{path} has more than 8 bits per sample: save it with 8, or all images as an npz file")
    if image.has_transparency_data:
        values = np.asarray(image.convert("RGBA"))
        if values[..., 3].min() < 255:
            raise InputError(f"{path} is transparent: put it on a background of one colour")
        return values[..., :3]
    return np.asarray(image.convert("L" if image.mode in ("1", "L") else "RGB"))


def _images(paths: Sequence[Path]) -> NDArray[np.uint8]:
    read: list[NDArray[Any]] = []
    for path in paths:
        read.append(image := read_image(path))
        if image.shape[:2] != read[0].shape[:2]:
            sizes = [f"{len(of[0])} x {len(of)} pixels" for of in (image, read[0])]
            text = f"{path} has {sizes[0]}, {paths[0]} {sizes[1]} (width x height)"
            raise InputError(f"{text}: crop, pad or resize the images to one size")
    if any(image.ndim == 3 for image in read):
        read = [image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2) for image in read]
        return np.stack(read)
    return np.stack(read)[..., None]


def _sounds(paths: Sequence[Path]) -> NDArray[np.int16]:
    try:
        rate = read_pcm(paths[0]).rate
    except (OSError, ValueError):
        rate = RATE  # read_wav says why
    sounds = [resampled(read_wav(path, rate), rate) for path in paths]
    values = np.zeros((len(sounds), max(map(len, sounds))), np.int16)
    for row, sound in zip(values, sounds, strict=True):
        row[: len(sound)] = sound
    return values
