"""The files of Cars3D: a MATLAB file per model, in the published archive or unpacked."""

from __future__ import annotations

import io
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparseid.data.cache import digest
from sparseid.data.cars3d.resizing import resized
from sparseid.data.cars3d.settings import FACTORS, MODELS
from sparseid.data.factor_files import KEYS, PublishedFile, check_images, stored_images
from sparseid.data.factors import FactorGrid, Images, StoredImages
from sparseid.data.paths import unusable
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.cars3d.settings import Cars3DSettings

PUBLISHED = PublishedFile(
    "cars3d",
    "http://www.scottreed.info/files/nips2015-analogy-data.tar.gz",
    "4e866a7919c1beedf53964e6f7a23686",
    "about 290 MB; 216 MB in the cache, at 128 pixels 863 MB",
)
ELEVATIONS, AZIMUTHS, SIDE = 4, 24, 128
FOLDERS = ("", "cars", "data/cars")
"""Folders in which the files of an unpacked archive are looked for."""
LIST = "list.txt"
FILE = re.compile(rf"(?:^|/)cars/({re.escape(LIST)}|car_\w+\.mat)$")
"""Names in the archive, of which other files belong to other data sets."""


def stored_cars(config: Cars3DSettings) -> StoredImages:
    """Return the images of the files, resized once.

    Raises
    ------
    InputError
        If files are missing, cannot be read, or have other images.
    """
    files = found_files(config)
    if not files and Path(config.path).is_dir() and config.path:
        raise InputError(f"{config.path} has no car_*.mat\n{PUBLISHED.how_to_get()}", KEYS)
    if not files:
        PUBLISHED.usable(config.path)
    settings = {
        "files": {name: digest(path) for name, path in files.items()},
        "side": config.size,
        "upsampled_from": config.upsampled_from,
        "order": config.order,
        "version": 1,
    }
    grid = FactorGrid(tuple(FACTORS), (ELEVATIONS, AZIMUTHS, MODELS))

    def resize(images: Images) -> Images:
        return resized(resized(images, config.upsampled_from or config.size), config.size)

    return stored_images("cars3d", settings, grid, config.size, lambda: read_images(files, config.order, resize))


def found_files(config: Cars3DSettings) -> dict[str, Path]:
    """Return the archive as ``path``; or the files of a folder, by name."""
    place = PUBLISHED.place(config.path)
    if not unusable(place):
        return {"path": place}
    folder = Path(config.path) if config.path else place.parent
    for name in FOLDERS:
        paths = [path for path in sorted((folder / name).glob("car_*.mat")) if not unusable(path)]
        if paths:
            listed = folder / name / LIST
            return {path.name: path for path in ([] if unusable(listed) else [listed]) + paths}
    return {}


def read_images(files: dict[str, Path], order: str, resize: Callable[[Images], Images]) -> Iterator[NDArray[np.uint8]]:
    """Yield the images in the order of the factors: all models from an elevation and azimuth at a time.

    Parameters
    ----------
    files
        As of :func:`found_files`.
    order
        list (that of ``list.txt``, if there is one) or sorted.
    resize
        Resizes images (items, 128, 128, 3).

    Raises
    ------
    InputError
        As of :func:`stored_cars`.
    """
    listed = ""
    cars: dict[str, Images] = {}
    for where, name, content in _contents(files):
        if name == LIST:
            listed = content.decode(errors="replace")
        else:
            images = resize(_read_car(content, where))
            cars[name.removesuffix(".mat")] = images.reshape(AZIMUTHS, ELEVATIONS, *images.shape[1:])
    first = next(iter(files.values()))
    place = first if "path" in files else first.parent
    names = _ordered(sorted(cars), listed if order == "list" else "", place)
    for elevation, azimuth in np.ndindex(ELEVATIONS, AZIMUTHS):
        yield np.stack([cars[name][azimuth, elevation] for name in names])


def _ordered(names: list[str], listed: str, place: Path) -> list[str]:
    """Return the names of the models in order, after a check that all are there."""
    wanted = [Path(line.strip()).name.removesuffix(".mat") for line in listed.splitlines() if line.strip()] or names
    text = ""
    if missing := sorted(set(wanted) - set(names)):
        text = f"{len(missing)} of the models in {LIST} have no file, {missing[0]}.mat among them"
    elif len(set(wanted)) != len(wanted):
        text = f"{LIST} names a model twice"
    elif len(wanted) != MODELS:
        text = f"{len(wanted)} car models instead of {MODELS}"
    if text:
        raise InputError(f"{place}: {text}; unpack {PUBLISHED.name} again", KEYS)
    return wanted


def _contents(files: dict[str, Path]) -> Iterator[tuple[str, str, bytes]]:
    """Yield place, name and content of each file, of a folder or of the archive, which is not unpacked."""
    if "path" not in files:
        for name, path in files.items():
            yield str(path), name, path.read_bytes()
        return
    path = files["path"]
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and (found := FILE.search(member.name)):
                    opened = archive.extractfile(member)
                    assert opened is not None
                    yield f"{path}: {member.name}", found[1], opened.read()
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        text = f"{path} cannot be read as a tar archive: {error}. It may be truncated: copy it again"
        raise InputError(text, KEYS) from error


def _read_car(content: bytes, where: str) -> Images:
    """Return the images (azimuths x elevations, 128, 128, 3) of a MATLAB file; elevations change fastest."""
    from scipy.io import loadmat

    try:
        stored = loadmat(io.BytesIO(content), variable_names=["im"])
    except Exception as error:  # scipy raises many types for damaged files
        text = f"{where} cannot be read as a MATLAB file: {error}. It may be truncated: unpack it again"
        raise InputError(text, KEYS) from error
    if "im" not in stored:
        raise InputError(f"{where} has no array im: it is not a file of Cars3D", KEYS)
    images = stored["im"]
    check_images(images.shape, images.dtype, (SIDE, SIDE, 3, AZIMUTHS, ELEVATIONS), f"{where}: im")
    return np.ascontiguousarray(images.transpose(3, 4, 0, 1, 2)).reshape(-1, SIDE, SIDE, 3)
