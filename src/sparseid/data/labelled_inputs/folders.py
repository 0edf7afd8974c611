"""Folders of images or sounds with a table of labels, gathered in one npz file."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseid.data.audio_mnist_sequence.times import RATE
from sparseid.data.cache import cached_npz
from sparseid.data.columns import Columns, read_columns
from sparseid.data.labelled_inputs.items import arrays_of, items_of_arrays
from sparseid.data.labelled_inputs.media import IMAGES, SOUNDS, read_media
from sparseid.data.paths import data_folder
from sparseid.errors import InputError
from sparseid.spelling import did_you_mean
from sparseid.text import visible

TABLES = ("csv", "tsv", "parquet")
"""Endings of the tables that are looked for in the folder: labels.csv, boxes.tsv and so on."""
LABEL_COLUMNS = ("file", "labels")
IMAGE_COLUMNS, SOUND_COLUMNS = ("file", "token", "x", "y"), ("file", "token", "start")


def gathered(folder: Path, labels: str, boxes: str, box_size: int) -> Path:
    """Return the npz file of a folder, written on first use and again if any of its files has changed.

    Parameters
    ----------
    folder
        Folder of images or of sounds, also in folders within it.
    labels, boxes
        Paths of the tables; empty for those in the folder.
    box_size
        Side of the box around a motif with a place only, in pixels.

    Raises
    ------
    InputError
        If a file or table cannot be used; with the place.
    """
    media, tables = _media(folder), tables_of(folder, labels, boxes)
    try:
        states = [path.stat() for path in (*media.values(), *tables)]
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}") from error
    state = box_size, tuple((s.st_size, s.st_mtime_ns, s.st_ino) for s in states)
    found = _gathered(folder, tables[0], tables[1] if len(tables) > 1 else None, box_size, state, data_folder())
    if isinstance(found, InputError):
        raise InputError(str(found), found.keys)
    return found


@cache
def _gathered(
    folder: Path, labels: Path, boxes: Path | None, box_size: int, state: tuple[Any, ...], target: Path
) -> Path | InputError:
    """Gather once per process; `state` is that of all files, `target` the data folder, which may be moved."""
    key = hashlib.sha256(repr((str(folder.resolve()), str(labels), str(boxes), state)).encode()).hexdigest()[:16]
    path = target / "cache" / "labelled_inputs" / f"items-{key}.npz"
    read = cache(lambda: read_folder(folder, labels, boxes, box_size))
    try:
        if not path.is_file():
            read()  # refuses it before the cache has a lock or anything else of it
        cached_npz(path, lambda file: np.savez(file, **read()))  # type: ignore[arg-type]
    except InputError as error:
        return error
    return path


def read_folder(folder: Path, labels: Path, boxes: Path | None, box_size: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of a folder, in the order of its table of labels; arguments are those of `gathered`.

    Raises
    ------
    InputError
        If a file or table cannot be used.
    """
    media = _media(folder)
    table = read_columns(labels, LABEL_COLUMNS)
    names, texts = _as_known(table.texts["file"], media), table.texts["labels"]
    rows: dict[str, int] = {}
    for row, name in enumerate(names):
        if name in rows:
            text = f"{name!r} has a label in {table.places[rows[name]]} already"
            raise InputError(f"{table.where(row, 'file')}: {text}: remove one of them")
        if name not in media:
            raise InputError(f"{table.where(row, 'file')}: {_unknown_file(name, folder, media)}")
        if not texts[row]:
            raise InputError(f"{table.where(row, 'labels')}: the label of {name!r} is empty: add its tokens")
        rows[name] = row
    if unlabelled := [name for name in media if name not in rows]:
        more = f" ({len(unlabelled)} files have none)" if len(unlabelled) > 1 else ""
        raise InputError(f"{folder / unlabelled[0]} has no label in {labels}{more}: add a row, or remove the file")
    kind, values = read_media({name: media[name] for name in names})
    arrays = arrays_of(kind, values, texts, names)
    if boxes is not None:
        arrays |= read_boxes(boxes, arrays, box_size)
    items_of_arrays(arrays)  # checks them
    return arrays


def read_boxes(path: Path, arrays: Mapping[str, NDArray[Any]], box_size: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of known motifs of a table.

    Images have columns file, token, x, y, and width and height: the top left corner and the size, in pixels; without a
    size x, y is the centre of a box of `box_size`. Sounds have file, token, start and end in seconds; without an end
    a motif lasts to the start of the next one in its file, or to the end of the longest sound.

    Raises
    ------
    InputError
        If it cannot be used; with line and column.
    """
    sounds = "sounds" in arrays
    table = read_columns(path, *((SOUND_COLUMNS, ("end",)) if sounds else (IMAGE_COLUMNS, ("width", "height"))))
    numbers = {name: item for item, name in enumerate(arrays["names"].tolist())}
    tokens = {token for text in arrays["labels"].tolist() for token in text.split()}
    names = _as_known(table.texts["file"], numbers)
    for row, (name, token) in enumerate(zip(names, table.texts["token"], strict=True)):
        if name not in numbers:
            raise InputError(f"{table.where(row, 'file')}: {_unknown_file(name, None, numbers)}")
        if token not in tokens:
            hint = did_you_mean(token, sorted(tokens)) or f"tokens: {', '.join(sorted(tokens)[:10])}"
            raise InputError(f"{table.where(row, 'token')}: no label has the token {token!r}; {hint}")
    items = np.array([numbers[name] for name in names])
    if sounds:
        boxes: NDArray[Any] = _spans(table, items, arrays["sounds"].shape[1] / RATE)
    else:
        boxes = _boxes(table, arrays["images"].shape[1:3], box_size)
    return {"box_items": items, "box_tokens": np.array(table.texts["token"], np.str_), "boxes": boxes}


def _boxes(table: Columns, size: Sequence[int], box_size: int) -> NDArray[np.int64]:
    sized = "width" in table.texts and "height" in table.texts
    if not sized and not box_size:
        text = f"{table.path} has no columns width and height: add them, or set data.box_size to the side of a box"
        raise InputError(f"{text} around x, y, in pixels", ("data.box_size",))
    found = []
    for row in range(len(table.places)):
        x, y = table.number(row, "x"), table.number(row, "y")
        if sized:
            width, height = table.number(row, "width"), table.number(row, "height")
        else:
            width = height = box_size
            x, y = x - box_size / 2, y - box_size / 2
        top, bottom, left, right = round(y), round(y + height), round(x), round(x + width)
        for column, start, stop, limit in (("y", top, bottom, size[0]), ("x", left, right, size[1])):
            if stop <= start or stop <= 0 or start >= limit:
                text = f"the box from {start} to {stop} is empty or beyond the image of {limit} pixels"
                raise InputError(f"{table.where(row, column)}: {text}")
        found.append(np.clip([top, bottom, left, right], 0, [size[0], size[0], size[1], size[1]]))
    return np.array(found, np.int64)


def _spans(table: Columns, items: NDArray[np.int64], seconds: float) -> NDArray[np.float64]:
    starts = np.array([table.number(row, "start") for row in range(len(items))])
    found = []
    for row, (item, start) in enumerate(zip(items, starts, strict=True)):
        later = starts[(items == item) & (starts > start)]
        stop = table.number(row, "end") if "end" in table.texts else min(later, default=seconds)
        if not 0 <= start < stop or start >= seconds:
            text = f"the motif from {start:g} to {stop:g} s is empty or beyond the longest sound of {seconds:.4g} s"
            raise InputError(f"{table.where(row, 'start')}: {text}")
        found.append((start, min(stop, seconds)))
    return np.array(found)


def _media(folder: Path) -> dict[str, Path]:
    """Return the images and sounds of a folder by their names, which have the folders within it."""
    found = [
        path
        for path in visible(folder.rglob("*"))
        if path.name.lower().endswith(IMAGES + SOUNDS)
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    if not found:
        raise InputError(f"there is no image (png, jpg) and no sound (wav) in {folder}: name the folder that has them")
    return {path.relative_to(folder).as_posix(): path for path in found}


def tables_of(folder: Path, labels: str, boxes: str) -> list[Path]:
    """Return the table of labels of a folder and, if there is one, that of motifs; arguments are those of `gathered`.

    Raises
    ------
    InputError
        If there is no table of labels, or there are several.
    """
    of_labels, of_boxes = _table(folder, "labels", labels), _table(folder, "boxes", boxes)
    if of_labels is None:
        text = f"there is no labels.csv in {folder}: a table of the columns file and labels, the tokens of each file "
        raise InputError(f"{text}in order, separated by spaces; another name with data.labels")
    return [of_labels, *([of_boxes] if of_boxes else [])]


def _table(folder: Path, name: str, chosen: str) -> Path | None:
    """Return the chosen table, or the one in the folder; None if there is none."""
    if chosen:
        return Path(chosen)
    found = [folder / f"{name}.{ending}" for ending in TABLES if (folder / f"{name}.{ending}").is_file()]
    if len(found) > 1:
        text = f"{folder} has {found[0].name} and {found[1].name}: remove one, or name one with data.{name}"
        raise InputError(text, (f"data.{name}", "data.path"))
    return found[0] if found else None


def _as_known(names: Sequence[str], known: Collection[str]) -> list[str]:
    """Return names as those of files are written: Unicode has two forms of an accented letter, and macOS changes it."""
    forms: dict[str, list[str]] = {}
    for name in known:
        forms.setdefault(unicodedata.normalize("NFC", name), []).append(name)
    others = {form: found[0] for form, found in forms.items() if len(found) == 1}
    return [name if name in known else others.get(unicodedata.normalize("NFC", name), name) for name in names]


def _unknown_file(name: str, folder: Path | None, known: Mapping[str, Any]) -> str:
    hint = did_you_mean(name, list(known))
    if folder is None:
        return f"{name!r} has no label; {hint or 'correct the name, or remove the row'}"
    return (
        f"there is no {folder / name}; {hint or 'add the file, or remove the row'}" if name else "the name is missing"
    )
