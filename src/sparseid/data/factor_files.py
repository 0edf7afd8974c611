"""Published files of images of discrete factors: where they are, how to get them, and their images as one array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparseid.data.cache import cached_images
from sparseid.data.download import download
from sparseid.data.factors import FactorGrid, StoredImages
from sparseid.data.paths import data_folder, unusable
from sparseid.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEYS = ("data.path",)
PART = 1000
"""Images read at a time, about."""


@dataclass(frozen=True)
class PublishedFile:
    """The file of a data set.

    Attributes
    ----------
    data_set
        Name of the data set, and of its folder.
    url, md5
        Address and published checksum.
    size
        Size of the download, in words.
    option
        Variable of ``make data`` that asks for this file, if there are several.
    """

    data_set: str
    url: str
    md5: str
    size: str
    option: str = ""

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.url.rpartition("/")[2]

    def place(self, path: str = "") -> Path:
        """Return the file that a setting names, by default the one in the folder of data."""
        return Path(path) if path else data_folder() / self.data_set / self.name

    def found(self, path: str) -> dict[str, Path]:
        """Return the file as ``path``, if it can be read."""
        place = self.place(path)
        return {} if unusable(place) else {"path": place}

    def usable(self, path: str) -> Path:
        """Return the file that a setting names; InputError, with the remedy, if it cannot be read."""
        place = self.place(path)
        if reason := unusable(place):
            raise InputError(f"data.source=files: {place} {reason}\n{self.how_to_get()}", KEYS)
        return place

    def fetch(self, address: str = "") -> Path:
        """Return the file in the folder of data, downloaded and checked if it is missing.

        Parameters
        ----------
        address
            Address instead of `url`, for tests.

        Raises
        ------
        InputError
            If it cannot be downloaded, or is another file.
        """
        return download(address or self.url, self.place(), self.md5, self.by_hand())

    def by_hand(self) -> str:
        """Return instructions for a download by hand."""
        return f"""\
  By hand: get {self.url}
  ({self.size}), and place it as {self.place()},
  or name it: data.path=/path/to/{self.name}"""

    def how_to_get(self) -> str:
        """Return instructions for the file."""
        return f"""\
  make data DATASETS={self.data_set}{self.option and " " + self.option}
  downloads it ({self.size}) and checks it.
{self.by_hand()}
  None of this is needed for data.source=mini"""


def stored_images(
    data_set: str, settings: Any, grid: FactorGrid, side: int, parts: Callable[[], Iterable[NDArray[np.uint8]]]
) -> StoredImages:
    """Return images that are copied once into one file of the cache, which is then mapped to memory.

    Parameters
    ----------
    data_set
        Name of the data set.
    settings
        What the images depend on, digests of files included.
    grid, side
        The factors, and height and width of the images.
    parts
        Returns all images in the order of the grid, in parts (images, side, side, 3).
    """
    return StoredImages(grid, cached_images(data_set, settings, (len(grid), side, side, 3), parts))


def check_images(shape: tuple[int, ...], dtype: Any, wanted: tuple[int | None, ...], what: str) -> None:
    """Refuse images of another shape than `wanted` (None stands for any number), or other than bytes.

    Parameters
    ----------
    shape, dtype
        Of the array that was found.
    wanted
        The right shape.
    what
        File and name of the array, for the message.
    """
    fits = len(shape) == len(wanted) and all(of in (None, size) for size, of in zip(shape, wanted, strict=True))
    if not fits or dtype != "uint8":
        text = " x ".join("n" if of is None else str(of) for of in wanted)
        found = " x ".join(map(str, shape)) or "a single value"
        raise InputError(f"{what} is {found} of type {dtype}; images of {text} bytes (uint8) expected", KEYS)


def slices(images: int, size: int = PART) -> Iterator[slice]:
    """Yield slices that divide a number of images into parts of `size`."""
    for start in range(0, images, size):
        yield slice(start, min(start + size, images))
