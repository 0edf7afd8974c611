"""All rows as one table: a parquet file that pandas, polars, DuckDB or R read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from sparseid.files import replace_file
from sparseid.papers.rows import PREFIX, key_columns, times

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
    columns = {name: _TYPES.get(name, "string") for name in rows.columns.drop("written") if not name.startswith(PREFIX)}
    keys = {name: _column(rows[name]) for name in sorted(key_columns(rows))}
    plain = rows.drop(columns=list(keys)).assign(written=times(rows)).astype(columns)
    return plain.assign(**{name: values for name, values in keys.items() if values.notna().any()})


def _column(values: pd.Series) -> pd.Series:
    """Return the values of a key as a column of one type."""
    kinds = set(map(type, values.dropna()))
    if kinds <= {int, float}:
        return values.astype("Int64" if kinds == {int} else "Float64")
    return values.where(values.isna(), values.map(str)).astype("string")
