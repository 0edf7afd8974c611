"""Tables in text: csv, and with tabs or semicolons."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sparseid.data.tables.names import counted, doubled, position_of
from sparseid.data.tables.numbers import TRUTHS, is_written, number_of, refusal, says_missing, shown
from sparseid.data.tables.precision import check_exact, doubtful, marks_of
from sparseid.data.tables.table import Table
from sparseid.errors import InputError
from sparseid.text import open_text, table_of

ID_NAMES = ("", "id", "ids", "index", "unnamed: 0")
"""Names of a first column that holds ids, whatever its values."""
TOLD = re.compile("sep=([,;\t])\n", re.IGNORECASE)
"""A first line with which spreadsheets are told of the separator."""
IF_IDS = "If it holds ids of rows, name it id"


def table_of_text(path: Path, kind: str, columns: Sequence[str], ids: str, keys: tuple[str, ...]) -> Table:
    """Return the table of a csv or tsv file; arguments as for `sparseid.data.tables.reader.read_table`."""
    with text_records(path, kind, keys) as records:
        table, doubts = _of_records(records, columns, ids)
    if doubts:
        with text_records(path, kind, keys) as records:
            header = [name.strip() for name in next(records)[1]]
            places = [header.index(name) for name in doubts]
            texts = [[fields[place] for place in places] for _, fields in records]
        for name, of_column in zip(doubts, zip(*texts, strict=True), strict=True):
            check_exact(repr(name), of_column)
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
        separator = _separator("".join(start), kind)
        if start and (told := TOLD.fullmatch(start[-1])):
            separator, start[-1] = told[1], "\n"
        try:
            yield table_of(chain(start, file), separator)
        except ValueError as error:  # of quotes and numbers of fields
            raise InputError(str(error)) from error


def _separator(first: str, kind: str) -> str:
    """Return the separator of a first line: that of the format, unless another one occurs and it does not."""
    usual = "," if kind == "csv" else "\t"
    return next((one for one in (usual, "\t", ";", ",") if one in first), usual)


def _of_records(records: Iterator[tuple[int, list[str]]], columns: Sequence[str], ids: str) -> tuple[Table, list[str]]:
    """Return the table of records, and the names of columns of which double precision may have taken too much."""
    start, header = next(records, (1, []))
    header = [name.strip() for name in header]
    check_header(header, start)
    known = {name: position_of(header, name) for name in (*columns, *([ids] if ids else []))}
    first_may_be_ids = not ids and 0 not in known.values()
    features = [column for column in range(len(header)) if column not in known.values()]
    numbers = features[1:] if first_may_be_ids else features  # the first column is decided at the end
    lines, leading, rows, marks = [], [], [], []
    texts: dict[str, list[str]] = {name: [] for name in known}
    for line, fields in records:
        lines.append(line)
        leading.append(fields[0])
        row, of_row = _row(fields, numbers, header, line)
        rows.append(row)
        marks.append(of_row)
        for name, column in known.items():
            texts[name].append(fields[column].strip())
    if not rows:
        raise InputError("it has a line of names, and no rows")
    if len(header) == 1 and min(len(text.split()) for text in (header[0], leading[0])) > 1:
        fault = f"line {start} is a single name, {shown(header[0])}, and the rows have spaces, too"
        raise InputError(f"{fault}: separate columns by commas or tabs, not by spaces")
    values = np.stack(rows)
    found = texts[ids] if ids else counted(rows)
    names = [header[column] for column in numbers]
    doubts, remarks = _doubts(names, values, marks), _remarks_on_names(header, start)
    if first_may_be_ids:
        if header[0].casefold() in ID_NAMES:
            found = [text.strip() for text in leading]
        elif all(math.isnan(number_of(text)) for text in leading):
            found = [text.strip() for text in leading]
            _check_ids(found, header[0], lines)
            remarks.append(_remark_on_ids(header[0], found[0], lines[0]))
        else:
            one = [_first(text, header, line) for text, line in zip(leading, lines, strict=True)]
            first = np.stack([row for row, _ in one])
            doubts += _doubts(header[:1], first, [of_row for _, of_row in one])
            values, names = np.concatenate([first, values], axis=1), [header[0], *names]
    table = Table(
        values,
        np.array(names, np.str_),
        np.array(found, np.str_),
        {name: np.array(texts[name], np.str_) for name in columns},
        np.array(lines),
        tuple(remarks),
    )
    return table, doubts


def _check_ids(texts: Sequence[str], name: str, lines: Sequence[int]) -> None:
    """Refuse texts of a first column, none of them a number, that are no ids.

    Raises
    ------
    InputError
        If one is a truth or a number in another form, such as with a decimal comma or a unit, most are missing, or one
        occurs twice.
    """
    wrong = [row for row, text in enumerate(texts) if is_written(text) or text.casefold() in TRUTHS]
    missing = [row for row, text in enumerate(texts) if says_missing(text)]
    if 2 * len(missing) > len(texts):
        wrong = wrong or missing
    if wrong:
        raise InputError(f"line {lines[wrong[0]]}, column {name!r}: {refusal(texts[wrong[0]])}. {IF_IDS}")
    if twice := doubled(np.array(texts, np.str_)):
        places = " and ".join(f"line {lines[row]}" for row in twice)
        fault = f"{shown(texts[twice[0]])} is not a number, and no id of a row, since it occurs twice, in {places}"
        raise InputError(f"column {name!r}: {fault}; columns of text are named in the settings, or dropped")


def _remark_on_ids(name: str, text: str, line: int) -> str:
    held = f"column {name!r} holds text ({shown(text)} in line {line})"
    return f"{held}: it is taken for the ids of the rows. If it is something else, leave it out with data.ignore"


def _remarks_on_names(header: Sequence[str], line: int) -> list[str]:
    names = [name for name in header if name]
    if any(math.isnan(number_of(name)) for name in names):
        return []
    return [f"line {line} is taken for the names of the columns, which count them. If it is a row, add a line of names"]


def _doubts(names: Sequence[str], values: NDArray[np.float64], marks: Sequence[NDArray[np.int64] | None]) -> list[str]:
    """Return the names of columns that need `check_exact`."""
    if all(of_row is None for of_row in marks):
        return []
    zeros = np.zeros(len(names), np.int64)
    every = np.stack([zeros if of_row is None else of_row for of_row in marks])
    columns = np.flatnonzero(every.any(axis=0)).tolist()
    return [names[column] for column in columns if doubtful(values[:, column], every[:, column])]


def check_header(header: Sequence[str], line: int) -> None:
    """Refuse the line of names of a table unless they are names, each once.

    Raises
    ------
    InputError
        If it is empty, holds numbers, lacks a name or has one twice.
    """
    if not any(header):
        raise InputError("it is empty: it needs a line of names, and a line per row")
    names = [name for name in header if name]
    first = (0, 1) if not header[0] else (0,)  # pandas counts columns from 0; rows rarely begin with nothing, 1, 2
    counting = [[str(number) for number in range(start, start + len(names))] for start in first]
    if names not in counting and not any(math.isnan(number_of(name)) for name in names):
        raise InputError(f"line {line} holds numbers, where the names of the columns belong: add a line of names")
    if unnamed := [column for column, name in enumerate(header) if column and not name]:
        raise InputError(f"column {unnamed[0] + 1} has no name in line {line}: name it, or remove it")
    if twice := doubled(np.array(header, np.str_)):
        numbers = " and ".join(str(column + 1) for column in twice)
        raise InputError(f"the columns {numbers} are both named {header[twice[0]]!r}: make names unique")


def _row(
    fields: Sequence[str], columns: Sequence[int], header: Sequence[str], line: int
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """Return the numbers in some columns of a line, and their marks, see `marks_of`."""
    if not columns:
        return np.empty(0), None
    chosen = itemgetter(*columns)(fields)
    texts = (chosen,) if isinstance(chosen, str) else chosen
    try:
        if "_" not in "".join(texts):  # which float() takes for a separator of thousands
            numbers = np.fromiter(map(float, texts), np.float64, len(texts))
            if np.isfinite(numbers).all():
                return numbers, marks_of(texts)
    except ValueError:
        pass
    column, text = next(
        (column, text) for column, text in zip(columns, texts, strict=True) if not math.isfinite(number_of(text))
    )
    raise InputError(f"line {line}, column {header[column]!r}: {refusal(text)}")


def _first(text: str, header: Sequence[str], line: int) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """Return the number in the first column of a line, and its mark."""
    try:
        return _row([text], [0], header, line)
    except InputError as error:
        raise InputError(f"{error}. {IF_IDS}") from error
