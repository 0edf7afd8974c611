"""The files of Fashion-MNIST, in the IDX format of MNIST: gzip or plain, big-endian, with a magic number and sizes."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.cache import checked_once, digest
from sparseid.data.factor_files import KEYS, PublishedFile
from sparseid.data.paths import data_folder, unusable
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.fashion_mnist.settings import FashionMNISTSettings

SIDE, CLASSES = 28, 10
GZIP = b"\x1f\x8b"
"""First bytes of a compressed file."""
ADDRESS = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
IMAGES, LABELS = "images-idx3-ubyte", "labels-idx1-ubyte"
PUBLISHED = {
    name: PublishedFile("fashion_mnist", f"{ADDRESS}{name}.gz", md5, size)
    for name, md5, size in (
        (f"train-{IMAGES}", "8d4fb7e6c68d591d4c3dfef9ec88bf0d", "26 MB"),
        (f"train-{LABELS}", "25c81989df183df01b3e8a0aad5dffbe", "30 kB"),
        (f"t10k-{IMAGES}", "bef4ecab320f06d8554ea6380940ec79", "4.4 MB"),
        (f"t10k-{LABELS}", "bb300cfdad3c16e7a12a480ee83cd310", "5 kB"),
    )
}
"""The files by their name without ``.gz``."""
SIZES = {"train": 60_000, "t10k": 10_000}
"""Published number of images of each split."""


class Split(NamedTuple):
    """Images of a split, their classes, and what is known of them.

    Attributes
    ----------
    images
        (images, 28, 28) uint8.
    labels
        (images,) uint8: class of each, from 0.
    factors
        True factors by name, (images,) float32 each, NaN for images that do not have it; empty for photographs.
    """

    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    factors: Mapping[str, NDArray[np.float32]]


def found_files(config: FashionMNISTSettings) -> dict[str, Path]:
    """Return the readable ones of the files by their name, compressed or not."""
    folder = Path(config.path) if config.path else data_folder() / config.name
    places = {name: (folder / f"{name}.gz", folder / name) for name in PUBLISHED}
    found = {name: [path for path in paths if not unusable(path)] for name, paths in places.items()}
    return {name: paths[0] for name, paths in found.items() if paths}


def check_files(config: FashionMNISTSettings) -> None:
    """Check the content of all files, once; InputError if one is missing or unusable."""
    files = found_files(config)
    settings = {"files": {name: digest(path) for name, path in files.items()}, "version": 1}
    checked_once(config.name, settings, lambda: [read_split(config, name) for name in SIZES])


def read_split(config: FashionMNISTSettings, name: str) -> Split:
    """Return the images and classes of the split ``train`` or ``t10k``.

    Raises
    ------
    InputError
        If a file is missing, is no complete IDX file of images or classes, or both do not belong together.
    """
    files = found_files(config)
    if missing := [file for file in (f"{name}-{IMAGES}", f"{name}-{LABELS}") if file not in files]:
        place = Path(config.path) if config.path else data_folder() / config.name
        raise InputError(f"data.source=files: {place} has no readable {' and no '.join(missing)}\n{how_to_get()}", KEYS)
    images_file, labels_file = files[f"{name}-{IMAGES}"], files[f"{name}-{LABELS}"]
    images, labels = read_idx(images_file, 3), read_idx(labels_file, 1)
    if images.shape[1:] != (SIDE, SIDE) or not len(images):
        raise InputError(f"{images_file}: {' x '.join(map(str, images.shape))} is not n x {SIDE} x {SIDE}", KEYS)
    if len(images) != len(labels):
        raise InputError(f"{images_file} has {len(images)} images, and {labels_file} {len(labels)} classes", KEYS)
    if labels.max() >= CLASSES:
        raise InputError(f"{labels_file}: class {labels.max()}, where the last is {CLASSES - 1}", KEYS)
    return Split(images, labels, {})


def read_idx(path: Path, axes: int) -> NDArray[np.uint8]:
    """Return the array of bytes in an IDX file.

    Parameters
    ----------
    path
        The file, compressed by gzip or not.
    axes
        Its number of axes: 3 for images (magic number 2051), 1 for classes (2049).

    Raises
    ------
    InputError
        If it is damaged, truncated, longer than it says, or another kind of file.
    """
    try:
        content = path.read_bytes()
        if content.startswith(GZIP):
            content = gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} is truncated or damaged ({error}): get it again\n{how_to_get()}", KEYS) from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", KEYS) from error
    magic = bytes((0, 0, 8, axes))  # 8: unsigned bytes
    start = len(magic) + 4 * axes
    if not content.startswith(magic):
        number, wanted = (int.from_bytes(of[:4], "big") for of in (content, magic))
        raise InputError(f"{path} starts with {number}, where an IDX file of {axes} axes has {wanted}", KEYS)
    sizes = tuple(np.frombuffer(content[4:start][: 4 * axes], ">u4").tolist()) if len(content) >= start else ()
    if not sizes or len(content) != start + math.prod(sizes):
        said = f"{math.prod(sizes)} values" if sizes else "its sizes"
        text = f"{path} should have {said} behind its header and has {max(0, len(content) - start)} bytes there"
        raise InputError(f"{text}: it is truncated or damaged, get it again\n{how_to_get()}", KEYS)
    return np.frombuffer(content, np.uint8, offset=start).reshape(sizes)


def how_to_get() -> str:
    """Return instructions for the files."""
    return f"""\
  make data DATASETS=fashion_mnist
  downloads them (about 31 MB) and checks them.
  By hand: get {", ".join(file.name for file in PUBLISHED.values())}
  from {ADDRESS}, and place them in {data_folder() / "fashion_mnist"},
  or name their folder: data.path=/path/to/folder
  None of this is needed for data.source=silhouettes"""
