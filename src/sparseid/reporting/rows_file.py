"""All rows as one table: a parquet file that pandas, polars, DuckDB or R read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from sparseid.files import replace_file

ROWS_FILE = "rows.parquet"
_TYPES = {"value": "float64", "seed": "int64", "n": "int64", "dirty": "bool", "older_code": "bool"}


def write_rows_file(rows: pd.DataFrame, path: Path) -> None:
    """Write rows to a parquet file, replaced atomically; for its columns see :func:`flat`."""
    table = flat(rows)
    replace_file(path, lambda file: table.to_parquet(file, engine="pyarrow", index=False))


def flat(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with their keys as columns.

    Parameters
    ----------
    rows
        Rows DataFrame as ``reporting.collect`` gives it.

    Returns
    -------
    DataFrame
        A line per row. ``run``, ``paper``, ``scale``, ``recipe``, ``metric``, ``unit``, ``commit``, ``device`` and
        ``source`` are text, ``value`` is a float (NaN where undefined), ``seed`` and ``n`` are whole numbers, ``dirty``
        and ``older_code`` bool, ``written`` a time in UTC. Key ``x`` stands in column ``key_x``: whole numbers, floats
        or text, text where a key is used with both; missing where a row does not have it.
    """
    plain = rows.drop(columns="keys").assign(written=pd.to_datetime(rows["written"], utc=True, format="ISO8601"))
    plain = plain.astype({name: _TYPES.get(name, "string") for name in plain.columns.drop("written")})
    names = sorted({name for keys in rows["keys"] for name in keys})
    of_keys = {f"key_{name}": _column([keys.get(name) for keys in rows["keys"]]) for name in names}
    return plain.assign(**{name: values.set_axis(rows.index) for name, values in of_keys.items()})


def _column(values: list) -> pd.Series:
    """Return the values of a key as a column of one type."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int}:
        return pd.Series(values, dtype="Int64")
    if kinds <= {int, float}:
        return pd.Series(values, dtype="Float64")
    return pd.Series([None if value is None else str(value) for value in values], dtype="string")
