"""Releases of MovieLens: their files, download addresses and local folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.download import download, unpack
from sparseid.data.movielens.settings import SYNTHETIC
from sparseid.data.paths import data_folder, unusable
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.movielens.settings import MovielensSettings

PAPERS = "ml-25m"

KEYS = ("data.path", "data.source")


@dataclass(frozen=True)
class Release:
    """A release of MovieLens.

    Attributes
    ----------
    ratings, titles
        Names of its two files.
    separators
        Separators of their fields.
    header
        Whether their first lines name the fields.
    megabytes
        Size of the download.
    md5
        Checksum of the download as published by GroupLens, or None.
    """

    ratings: str
    titles: str
    separators: tuple[str, str]
    header: bool
    megabytes: float
    md5: str | None


RELEASES: dict[str, Release] = {
    "ml-25m": Release("ratings.csv", "movies.csv", (",", ","), True, 262, "6b51fb2759a8657d3bfcbfc42b592ada"),
    "ml-latest-small": Release("ratings.csv", "movies.csv", (",", ","), True, 1, None),
    "ml-1m": Release("ratings.dat", "movies.dat", ("::", "::"), False, 6, "c4d9eecfca2ab87c1945afe126590906"),
    "ml-100k": Release("u.data", "u.item", ("\t", "|"), False, 5, "0e33842e24a9c977be4e0107933c0723"),
}

README = {"ml-25m": "README.txt", "ml-latest-small": "README.txt", "ml-1m": "README", "ml-100k": "README"}
"""Files with the terms of each release."""


def url_of(source: str) -> str:
    """Return the address of a release at GroupLens."""
    return f"https://files.grouplens.org/datasets/movielens/{source}.zip"


def folder_of(config: MovielensSettings) -> Path:
    """Return the folder of the files of a release."""
    return Path(config.path) if config.path else data_folder() / "movielens" / config.source


def places(config: MovielensSettings) -> tuple[Path, Path]:
    """Return the paths of the files of ratings and titles."""
    release, folder = RELEASES[config.source], folder_of(config)
    return folder / release.ratings, folder / release.titles


def find(config: MovielensSettings) -> tuple[Path, Path]:
    """Return the files of ratings and titles.

    Raises
    ------
    InputError
        If one of them is missing or cannot be read; the message has the remedy.
    """
    files = places(config)
    for path in files:
        if reason := unusable(path):
            raise InputError(f"{path} {reason}\n{how_to_get(config.source)}", KEYS)
    return files


def fetch(source: str, address: str = "") -> Path:
    """Return the folder of a release in the data folder, downloaded, checked and unpacked if missing.

    Parameters
    ----------
    source
        Name of the release.
    address
        Address instead of that of GroupLens, for tests.

    Raises
    ------
    InputError
        If it cannot be downloaded.
    """
    release, folder = RELEASES[source], data_folder() / "movielens" / source
    files = {name: folder / name for name in (release.ratings, release.titles, README[source])}
    if not all(path.is_file() for path in files.values()):
        place = folder.with_name(f"{source}.zip")
        archive = download(address or url_of(source), place, release.md5, by_hand(source))
        unpack(archive, {f"{source}/{name}": path for name, path in files.items()})
    return folder


def by_hand(source: str) -> str:
    """Return instructions for a manual download of a release."""
    release = RELEASES[source]
    place = data_folder() / "movielens" / source
    return f"""\
  By hand: get {url_of(source)}, unpack it, and
  place its {release.ratings} and {release.titles} in {place},
  or name their folder: data.path=/path/to/{source}"""


def how_to_get(source: str) -> str:
    """Return instructions for the files of a release."""
    return f"""\
  make data DATASETS=movielens MOVIELENS={source}
  downloads it ({RELEASES[source].megabytes:g} MB) and checks it.
{by_hand(source)}
  The terms of GroupLens (README in the zip) forbid commercial use, and most forbid passing the data on.
  None of this is needed for data.source={SYNTHETIC}"""
