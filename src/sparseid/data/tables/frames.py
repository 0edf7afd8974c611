"""Tables in data frames, and in parquet files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparseid.data.tables.names import counted, position_of, texts_of
from sparseid.data.tables.numbers import number_of, refusal
from sparseid.data.tables.precision import double_precision
from sparseid.data.tables.table import Table
from sparseid.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def table_of_parquet(path: Path, columns: Sequence[str], ids: str) -> Table:
    """Return the table of a parquet file; see `table_of_frame`."""
    return table_of_frame(frame_of_parquet(path), columns, ids)


def frame_of_parquet(path: Path) -> pd.DataFrame:
    """Return the frame of a parquet file; whole numbers stay whole where some of a column are missing.

    Raises
    ------
    InputError
        If it cannot be read; the message leaves out its name.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.read_table(path).to_pandas(integer_object_nulls=True)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"it cannot be read as parquet ({str(error).splitlines()[0]})") from error


def table_of_frame(frame: pd.DataFrame, columns: Sequence[str] = (), ids: str = "") -> Table:
    """Return the table of a data frame; its index holds the ids unless it has no name and counts the rows from 0.

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
    names = texts_of("names of columns", frame.columns).tolist()
    frame = frame.set_axis(names, axis=1)
    known = [names[position_of(names, name)] for name in (*columns, *([ids] if ids else []))]
    found = texts_of("ids of rows", frame[ids] if ids else counted(frame) if _counts(frame.index) else frame.index)
    numbers = [place for place, name in enumerate(names) if name not in known]
    values = np.empty((len(frame), len(numbers)))
    for position, place in enumerate(numbers):
        array = _array_of(frame.iloc[:, place], names[place])
        values[:, position] = double_precision("the values", array[:, None], [names[place]])[:, 0]
    texts = {name: texts_of(f"column {name!r}", frame[name]) for name in columns}
    return Table(values, np.array([names[place] for place in numbers], np.str_), found, texts)


def _counts(rows: pd.Index) -> bool:
    """Return whether an index is pandas' own, without a name: 0, 1, 2, ..."""
    import pandas as pd

    return isinstance(rows, pd.RangeIndex) and rows.name is None and rows.equals(pd.RangeIndex(len(rows)))


def _array_of(column: pd.Series, name: str) -> NDArray[Any]:
    """Return a column of numbers in its own type; as objects if values are missing or it is not NumPy's."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype) and pd.api.types.is_numeric_dtype(column.cat.categories):
        raise InputError(f"column {name!r} is categorical: convert it to numbers, or drop it")
    kind: Any = column.dtype
    kind = kind.subtype if isinstance(kind, pd.SparseDtype) else getattr(kind, "numpy_dtype", kind)
    if isinstance(kind, np.dtype) and kind.kind in "fiubc" and not column.isna().any():
        return column.to_numpy(kind)
    array = np.asarray(column) if isinstance(column.dtype, np.dtype) else np.asarray(column, object)
    texts = [(row, value) for row, value in enumerate(array.tolist()) if isinstance(value, str)]
    if texts:
        row, text = next(((row, text) for row, text in texts if not math.isfinite(number_of(text))), texts[0])
        number = math.isfinite(number_of(text))
        fault = f"{text!r} is a number as text: convert the column with pandas.to_numeric" if number else refusal(text)
        raise InputError(f"row {row + 1}, column {name!r}: {fault}")
    return array
