"""The file of Shapes3D."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparseid.data.cache import digest
from sparseid.data.factor_files import KEYS, PART, PublishedFile, check_images, slices, stored_images
from sparseid.data.factors import FactorGrid, StoredImages
from sparseid.data.h5 import open_h5
from sparseid.data.shapes3d.settings import FACTORS
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.shapes3d.settings import Shapes3DSettings

PUBLISHED = PublishedFile(
    "shapes3d",
    "https://storage.googleapis.com/3d-shapes/3dshapes.h5",
    "099a2078d58cec4daad0702c55d06868",
    "about 255 MB; 5.9 GB in the cache",
)
GRID = FactorGrid(tuple(FACTORS), tuple(FACTORS.values()))
SIDE = 64


def stored_shapes(config: Shapes3DSettings) -> StoredImages:
    """Return the images of the file, decompressed once: rows of an h5 file are too slow to read one by one.

    Raises
    ------
    InputError
        If the file is missing, cannot be read, or has other images.
    """
    path = PUBLISHED.usable(config.path)
    settings = {"file": digest(path), "version": 1}
    return stored_images("shapes3d", settings, GRID, SIDE, lambda: read_images(path))


def read_images(path: Path) -> Iterator[NDArray[np.uint8]]:
    """Yield the images of a file in parts, after a check of their shape and of all labels.

    Raises
    ------
    InputError
        As of :func:`stored_shapes`.
    """
    with open_h5(path, KEYS) as file:
        images, labels = (file.get(name) for name in ("images", "labels"))
        for name, array in (("images", images), ("labels", labels)):
            if getattr(array, "shape", None) is None:
                raise InputError(f"{path} has no array {name}: it is not {PUBLISHED.name}, or it is incomplete", KEYS)
        check_images(images.shape, images.dtype, (len(GRID), SIDE, SIDE, 3), f"{path}: images")
        check_labels(labels[:], path)
        chunk = (images.chunks or (1,))[0]
        for part in slices(len(GRID), max(1, round(PART / chunk)) * chunk):  # whole chunks: each is decompressed once
            yield images[part]


def check_labels(labels: NDArray[np.float64], path: Path) -> None:
    """Refuse labels (images, factors) that are not those of the grid's order."""
    text = ""
    if labels.shape != (len(GRID), len(FACTORS)):
        text = f"labels are {' x '.join(map(str, labels.shape))} instead of {len(GRID)} x {len(FACTORS)}"
    else:
        levels = GRID.at(np.arange(len(GRID)))
        for number, name in enumerate(GRID.names):
            found = np.unique(labels[:, number], return_inverse=True)[1]
            if not np.array_equal(found, levels[:, number]):
                text = f"labels of {name} are not in the published order (row-major, orientation fastest)"
                break
    if text:
        raise InputError(f"{path}: {text}: it is not {PUBLISHED.name}\n{PUBLISHED.by_hand()}", KEYS)
