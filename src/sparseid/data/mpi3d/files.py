"""The files of MPI3D."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from sparseid.data.cache import DAMAGED, digest
from sparseid.data.factor_files import KEYS, PublishedFile, check_images, slices, stored_images
from sparseid.data.factors import FactorGrid, StoredImages
from sparseid.data.mpi3d.settings import FACTORS, VARIANTS
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.mpi3d.settings import MPI3DSettings

_MD5 = ("55889cb7c7dfc655d6e0277beee88868", "59a6225b88b635365f70c91b3e52f70f", "0f33f609918fb5c97996692f91129802")
PUBLISHED = {
    variant: PublishedFile(
        "mpi3d",
        f"https://storage.googleapis.com/disentanglement_dataset/Final_Dataset/mpi3d_{variant}.npz",
        md5,
        "12.7 GB in the cache, and as much again unless the file is compressed",
        f"MPI3D={variant}",
    )
    for variant, md5 in zip(VARIANTS, _MD5, strict=True)
}
SIDE = 64
MEMBER = "images.npy"
_SIZES = tuple(FACTORS.values())
LAYOUTS = {460_800: _SIZES, 1_036_800: (6, 6, *_SIZES[2:])}
"""Number of images -> sizes of the factors: those of the first publication (four colours and shapes), and of today's
files (six)."""


def stored_arms(config: MPI3DSettings) -> StoredImages:
    """Return the images of the file, copied once out of the archive.

    Raises
    ------
    InputError
        If the file is missing, cannot be read, or has other images.
    """
    path = PUBLISHED[config.variant].usable(config.path)
    with _member(path) as (_, images):
        grid = FactorGrid(tuple(FACTORS), LAYOUTS[images])
    settings = {"file": digest(path), "version": 1}
    return stored_images("mpi3d", settings, grid, SIDE, lambda: read_images(path))


def read_images(path: Path) -> Iterator[NDArray[np.uint8]]:
    """Yield the images of a file in parts; InputError as of :func:`stored_arms`."""
    with _member(path) as (file, images):
        for part in slices(images):
            shape = (part.stop - part.start, SIDE, SIDE, 3)
            content = file.read(np.prod(shape))
            if len(content) < np.prod(shape):
                raise EOFError(f"images end after {part.start:,} of {images:,}")
            yield np.frombuffer(content, np.uint8).reshape(shape)
        file.read(1)  # at its end the checksum is compared


@contextmanager
def _member(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """Open the array of images behind its header, with their number; nothing in the file is executed."""
    try:
        with zipfile.ZipFile(path) as archive:
            if MEMBER not in archive.namelist():
                listed = ", ".join(archive.namelist()[:5]) or "nothing"
                raise InputError(f"{path} has no array images, but {listed}: it is not a file of MPI3D", KEYS)
            with archive.open(MEMBER) as file:
                version = npy.read_magic(file)
                read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                shape, by_column, dtype = read_header(file)
                check_images(shape, dtype, (None, SIDE, SIDE, 3), f"{path}: images")
                if shape[0] not in LAYOUTS or by_column:
                    known = " or ".join(f"{images:,}" for images in LAYOUTS)
                    text = "images are stored by column" if by_column else f"it has {shape[0]:,} images"
                    raise InputError(f"{path}: {text}; MPI3D has {known}, in rows, and their order is known", KEYS)
                yield file, shape[0]
    except (OSError, RuntimeError, NotImplementedError, *DAMAGED) as error:
        text = f"{path} cannot be read as an npz file: {error}. It may be truncated: copy it again"
        raise InputError(text, KEYS) from error
