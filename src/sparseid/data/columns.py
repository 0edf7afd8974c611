"""Named columns of text of a user's table: csv, tsv or parquet (no torch)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sparseid.data.paths import unusable
from sparseid.data.tables import kind_of
from sparseid.data.tables.frames import frame_of_parquet
from sparseid.data.tables.names import position_of
from sparseid.data.tables.numbers import number_of
from sparseid.data.tables.text import check_header, text_records
from sparseid.errors import InputError


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
        header, rows, places = _from_parquet(path) if kind == "parquet" else _from_text(path, kind)
        wanted = [*needed, *(name for name in optional if name in header)]
        columns = {name: position_of(header, name) for name in wanted}
        if not rows:
            raise InputError("it has a line of names, and no rows")
    except InputError as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from error
    return Columns(path, {name: [row[at].strip() for row in rows] for name, at in columns.items()}, places)


def _from_text(path: Path, kind: str) -> tuple[list[str], list[list[str]], list[str]]:
    with text_records(path, kind) as found:
        first, names = next(found, (1, []))
        header = [name.strip() for name in names]
        check_header(header, first)
        rows, places = [], []
        for line, fields in found:
            rows.append(fields)
            places.append(f"line {line}")
    return header, rows, places


def _from_parquet(path: Path) -> tuple[list[str], list[list[str]], list[str]]:
    frame = frame_of_parquet(path)
    texts = frame.astype(object).where(frame.notna(), "").astype(str)
    places = [f"row {number}" for number in range(1, len(frame) + 1)]
    return [str(name) for name in frame.columns], texts.to_numpy().tolist(), places
