"""Named columns of text of a user's table: csv, tsv or parquet (no torch)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparseid.data.paths import unusable
from sparseid.data.tables import kind_of
from sparseid.data.tables.frames import frame_of_parquet
from sparseid.data.tables.names import position_of, texts_of
from sparseid.data.tables.numbers import number_of, shown
from sparseid.data.tables.text import check_header, text_records
from sparseid.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


class Columns(NamedTuple):
    """Columns of a table.

    Attributes
    ----------
    path
        The file.
    texts
        Name -> one text per row, without spaces around it; of the optional columns only those that there are.
    places
        Place of each row in the file, for messages: ``line 3`` or, in a parquet file, ``row 2``.
    """

    path: Path
    texts: dict[str, list[str]]
    places: list[str]

    def where(self, row: int, column: str) -> str:
        """Return the place of a value: file, row and column."""
        return f"{self.path}, {self.places[row]}, column {column!r}"

    def number(self, row: int, column: str) -> float:
        """Return a value as a finite number.

        Raises
        ------
        InputError
            If it is none.
        """
        text = self.texts[column][row]
        number = number_of(text)
        if not math.isfinite(number):
            raise InputError(f"{self.where(row, column)}: {text!r} is not a finite number")
        return number


def read_columns(path: Path, needed: Sequence[str], optional: Sequence[str] = ()) -> Columns:
    """Read columns of text; other columns of the file are left aside.

    Raises
    ------
    InputError
        If the file cannot be read, is no such table, has no rows or lacks a needed column.
    """
    if reason := unusable(path):
        raise InputError(f"{path} {reason}")
    kind = kind_of(path)
    if kind not in ("csv", "tsv", "parquet"):
        raise InputError(f"{path}: its ending is none of a csv, tsv or parquet file")
    try:
        columns, places = _from_parquet(path) if kind == "parquet" else _from_text(path, kind)
        names = list(columns)
        wanted = [names[position_of(names, name)] for name in (*needed, *(name for name in optional if name in names))]
        if not places:
            raise InputError("it has a line of names, and no rows")
        texts = {name: [text.strip() for text in _texts(name, columns[name])] for name in wanted}
    except InputError as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from error
    return Columns(path, texts, places)


def _from_text(path: Path, kind: str) -> tuple[dict[str, Sequence[str]], list[str]]:
    with text_records(path, kind) as found:
        first, names = next(found, (1, []))
        header = [name.strip() for name in names]
        check_header(header, first)
        rows, places = [], []
        for line, fields in found:
            rows.append(fields)
            places.append(f"line {line}")
    return dict(zip(header, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(header, ()), places


def _from_parquet(path: Path) -> tuple[dict[str, pd.Series], list[str]]:
    frame = frame_of_parquet(path)
    places = [f"row {number}" for number in range(1, len(frame) + 1)]
    return {str(name): column for name, column in frame.items()}, places


def _texts(name: str, column: Sequence[str] | pd.Series) -> list[str]:
    """Return the texts of a column; lists of tokens, which parquet files may hold, with spaces between."""
    what = f"column {name!r}"
    if not any(isinstance(value, np.ndarray) for value in column):
        return texts_of(what, column).tolist()
    return [_text_of_list(what, row, value) for row, value in enumerate(column, start=1)]


def _text_of_list(what: str, row: int, value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return str(texts_of(what, [value])[0])
    tokens = texts_of(f"the list in {what}, row {row}", value.tolist())
    if tokens.ndim != 1 or any(len(token.split()) != 1 for token in tokens.tolist()):
        fault = f"{shown(value.tolist())} is no list of tokens, which are not empty and have no spaces"
        raise InputError(f"{what}, row {row}: {fault}")
    return " ".join(tokens.tolist())
