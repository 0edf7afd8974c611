"""Tables in text: csv, and with tabs or semicolons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sparseid.data.tables.names import counted, doubled, position_of
from sparseid.data.tables.numbers import number_of, refusal
from sparseid.data.tables.precision import LAST_WHOLE, check_integers
from sparseid.data.tables.table import Table
from sparseid.errors import InputError
from sparseid.text import open_text, table_of

ID_NAMES = ("", "id", "ids", "index", "unnamed: 0")
"""Names of a first column that holds ids, whatever its values."""


def table_of_text(path: Path, kind: str, columns: Sequence[str], ids: str, keys: tuple[str, ...]) -> Table:
    """Return the table of a csv or tsv file; arguments as for `sparseid.data.tables.reader.read_table`."""
    with text_records(path, kind, keys) as records:
        table = _of_records(records, columns, ids)
    for name in table.names[(np.abs(table.values) > LAST_WHOLE).any(axis=0)].tolist():
        with text_records(path, kind, keys) as records:
            column = [field.strip() for field in next(records)[1]].index(name)
            check_integers(name, [fields[column] for _, fields in records])
    return table


@contextmanager
def text_records(path: Path, kind: str, keys: tuple[str, ...] = ()) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Open a csv or tsv file and yield the line and the fields of its names and of each row, all of the same number.

    Raises
    ------
    InputError
        If it cannot be read as text, its quotes do not match, or lines differ in their number of fields.
    """
    with open_text(path, keys) as file:
        start: list[str] = []
        for line in file:  # up to the names
            start.append(line)
            if line.strip():
                break
        try:
            yield table_of(chain(start, file), _separator("".join(start), kind))
        except ValueError as error:  # of quotes and numbers of fields
            raise InputError(str(error)) from error


def _separator(first: str, kind: str) -> str:
    """Return the separator of a first line: that of the format, unless another one occurs and it does not."""
    usual = "," if kind == "csv" else "\t"
    return next((one for one in (usual, "\t", ";", ",") if one in first), usual)


def _of_records(records: Iterator[tuple[int, list[str]]], columns: Sequence[str], ids: str) -> Table:
    start, header = next(records, (1, []))
    header = [name.strip() for name in header]
    check_header(header, start)
    known = {name: position_of(header, name) for name in (*columns, *([ids] if ids else []))}
    first_may_be_ids = not ids and 0 not in known.values()
    features = [column for column in range(len(header)) if column not in known.values()]
    numbers = features[1:] if first_may_be_ids else features  # the first column is decided at the end
    lines, leading, rows = [], [], []
    texts: dict[str, list[str]] = {name: [] for name in known}
    for line, fields in records:
        lines.append(line)
        leading.append(fields[0])
        rows.append(_row(fields, numbers, header, line))
        for name, column in known.items():
            texts[name].append(fields[column].strip())
    if not rows:
        raise InputError("it has a line of names, and no rows")
    values = np.stack(rows)
    found = texts[ids] if ids else counted(rows)
    names = [header[column] for column in numbers]
    if first_may_be_ids:
        if header[0].casefold() in ID_NAMES or all(math.isnan(number_of(text)) for text in leading):
            found = [text.strip() for text in leading]
        else:
            one = [_row([text], [0], header, line) for text, line in zip(leading, lines, strict=True)]
            values, names = np.concatenate([np.stack(one), values], axis=1), [header[0], *names]
    return Table(
        values,
        np.array(names, np.str_),
        np.array(found, np.str_),
        {name: np.array(texts[name], np.str_) for name in columns},
        np.array(lines),
    )


def check_header(header: Sequence[str], line: int) -> None:
    """Refuse the line of names of a table unless they are names, each once.

    Raises
    ------
    InputError
        If it is empty, holds numbers, lacks a name or has one twice.
    """
    if not any(header):
        raise InputError("it is empty: it needs a line of names, and a line per row")
    names = [number_of(name) for name in header if name]
    counted = [[float(number) for number in range(start, start + len(names))] for start in (0, 1)]
    if not any(math.isnan(number) for number in names) and names not in counted:
        raise InputError(f"line {line} holds numbers, where the names of the columns belong: add a line of names")
    if unnamed := [column for column, name in enumerate(header) if column and not name]:
        raise InputError(f"column {unnamed[0] + 1} has no name in line {line}: name it, or remove it")
    if twice := doubled(np.array(header, np.str_)):
        numbers = " and ".join(str(column + 1) for column in twice)
        raise InputError(f"the columns {numbers} are both named {header[twice[0]]!r}: make names unique")


def _row(fields: Sequence[str], columns: Sequence[int], header: Sequence[str], line: int) -> NDArray[np.float64]:
    """Return the numbers in some columns of a line."""
    if not columns:
        return np.empty(0)
    chosen = itemgetter(*columns)(fields)
    texts = (chosen,) if isinstance(chosen, str) else chosen
    try:
        if "_" not in "".join(texts):  # which float() takes for a separator of thousands
            numbers = np.fromiter(map(float, texts), np.float64, len(texts))
            if np.isfinite(numbers).all():
                return numbers
    except ValueError:
        pass
    column, text = next(
        (column, text) for column, text in zip(columns, texts, strict=True) if not math.isfinite(number_of(text))
    )
    raise InputError(f"line {line}, column {header[column]!r}: {refusal(text)}")
