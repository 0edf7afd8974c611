"""Large tables of numbers in text, parsed by pandas without its guesses: quotes, an index, truths, longer lines."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from sparseid.text import open_text, records_of

if TYPE_CHECKING:
    import pandas as pd

PART = 2**20
"""Number of characters that are searched at once."""

TRUTHS = ("True", "TRUE", "true", "False", "FALSE", "false")
"""Words that pandas takes for 1 and 0 where numbers are asked for."""


def frame_of_text(path: Path, separator: str, keys: tuple[str, ...], skip: int = 0, **options: Any) -> pd.DataFrame:
    """Return the lines of a file as a frame, a column per field; bytes that are not UTF-8 are read as Windows-1252.

    In columns of numbers a missing value, and the words of `TRUTHS`, are NaN. A column without a type in `options` is
    read as pandas guesses: give names and ids one.

    Parameters
    ----------
    path
        The file.
    separator
        Separator of fields; quotes are read as by `sparseid.text.records_of`.
    keys
        Settings at fault if the file cannot be read.
    skip
        Number of lines before the first row.
    **options
        Options of :func:`pandas.read_csv`, such as types of columns.

    Raises
    ------
    InputError
        If the file cannot be read, or is not text.
    ValueError
        If a quote is not closed, a field has a tab or a newline, a line is longer than others, or values are not of
        their types.
    """
    import pandas as pd  # slow to import

    with open_text(path, keys, western=True) as file:
        plain = not any('"' in part for part in iter(lambda: file.read(PART), ""))
    with open_text(path, keys, western=True) as file:
        for _ in range(skip):
            file.readline()
        source: TextIO = file
        if not plain or len(separator) > 1:  # pandas needs one character
            records = records_of(chain(["\n"] * skip, file), separator)  # so that lines keep their numbers
            source, separator = io.StringIO("".join(_with_tabs(records))), "\t"
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # lines longer than others
            try:
                quoting: Any = csv.QUOTE_NONE
                options = {"na_values": TRUTHS, "header": None, "index_col": False, "quoting": quoting} | options
                return pd.read_csv(source, sep=separator, **options)
            except pd.errors.ParserWarning as error:
                raise ValueError(str(error)) from error


def _with_tabs(records: Iterable[tuple[int, list[str]]]) -> Iterator[str]:
    """Yield lines of fields with tabs between."""
    for line, fields in records:
        joined = "\t".join(fields)
        if joined.count("\t") >= len(fields) or "\n" in joined:
            raise ValueError(f"line {line}: a field has a tab or a newline; is a quote not closed?")
        yield f"{joined}\n"
