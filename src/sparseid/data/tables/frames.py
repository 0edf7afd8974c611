"""Tables in data frames, and in parquet files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparseid.data.tables.names import counted, position_of
from sparseid.data.tables.numbers import number_of, refusal
from sparseid.data.tables.precision import double_precision
from sparseid.data.tables.table import Table
from sparseid.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def table_of_parquet(path: Path, columns: Sequence[str], ids: str) -> Table:
    """Return the table of a parquet file; see `table_of_frame`."""
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:  # of pyarrow
        raise InputError(f"it cannot be read as parquet ({str(error).splitlines()[0]})") from error
    return table_of_frame(frame, columns, ids)


def table_of_frame(frame: pd.DataFrame, columns: Sequence[str] = (), ids: str = "") -> Table:
    """Return the table of a data frame; its index holds the ids unless it only counts the rows.

    Parameters
    ----------
    frame
        A row per sample.
    columns, ids
        As for `sparseid.data.tables.reader.read_table`.

    Raises
    ------
    InputError
        As of `Table`; also if a column is missing or does not hold numbers.
    """
    import pandas as pd

    names = [str(name) for name in frame.columns]
    frame = frame.set_axis(names, axis=1)
    known = [names[position_of(names, name)] for name in (*columns, *([ids] if ids else []))]
    unnamed = isinstance(frame.index, pd.RangeIndex)
    found = np.asarray(frame[ids] if ids else counted(frame) if unnamed else frame.index).astype(np.str_)
    numbers = [place for place, name in enumerate(names) if name not in known]
    values = np.empty((len(frame), len(numbers)))
    for position, place in enumerate(numbers):
        column = frame.iloc[:, place]
        if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)):
            texts = [str(value) for value in column]
            wrong = next((row for row, text in enumerate(texts) if not math.isfinite(number_of(text))), 0)
            raise InputError(f"row {wrong + 1}, column {names[place]!r}: {refusal(texts[wrong])}")
        values[:, position] = double_precision("the values", _array_of(column)[:, None], [names[place]])[:, 0]
    texts_of = {name: np.asarray(frame[name].astype(str), np.str_) for name in columns}
    return Table(values, np.array([names[place] for place in numbers], np.str_), found, texts_of)


def _array_of(column: pd.Series) -> NDArray[Any]:
    """Return a column of numbers in its own type; in double precision if values are missing or it is not NumPy's."""
    kind: Any = getattr(column.dtype, "numpy_dtype", column.dtype)
    known = isinstance(kind, np.dtype) and kind.kind in "fiubc" and not column.isna().any()
    return column.to_numpy(kind) if known else column.to_numpy(np.float64, na_value=np.nan)
