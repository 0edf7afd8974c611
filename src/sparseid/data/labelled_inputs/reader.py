"""Items of a user's folder or npz file, read once for all runs of a sweep."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from sparseid.data.labelled_inputs.folders import gathered
from sparseid.data.labelled_inputs.items import LabelledItems, items_of_file
from sparseid.data.paths import unusable
from sparseid.errors import InputError

KEYS = ("data.path",)


def read_items(path: str, labels: str = "", boxes: str = "", box_size: int = 0) -> LabelledItems:
    """Return the items of a folder (see `folders.gathered`) or of an npz file.

    Raises
    ------
    InputError
        If they cannot be used; the message has the file and the row.
    """
    file = file_of(path, labels, boxes, box_size)
    status = file.stat()
    found = _read(file, (status.st_mtime_ns, status.st_size, status.st_ino))
    if isinstance(found, InputError):
        raise InputError(str(found), found.keys or KEYS)
    return found


def file_of(path: str, labels: str = "", boxes: str = "", box_size: int = 0) -> Path:
    """Return the npz file itself, or that of a folder's content.

    Raises
    ------
    InputError
        If there is no such file or folder, or a folder cannot be used.
    """
    place = Path(path)
    if place.is_dir():
        try:
            return gathered(place, labels, boxes, box_size)
        except InputError as error:
            raise InputError(str(error), error.keys if "data.box_size" in error.keys else KEYS) from error
    if reason := unusable(place):
        raise InputError(f"{place} {reason}", KEYS)
    if place.suffix != ".npz":
        raise InputError(f"{place} is neither a folder nor an npz file", KEYS)
    if tables := [f"data.{name}" for name, table in (("labels", labels), ("boxes", boxes)) if table]:
        raise InputError(f"{place} holds labels and motifs itself: leave {tables[0]} out", (*tables, *KEYS))
    return place


@lru_cache(maxsize=2)
def _read(file: Path, version: tuple[int, ...]) -> LabelledItems | InputError:
    try:
        return items_of_file(file)
    except InputError as error:
        return error
