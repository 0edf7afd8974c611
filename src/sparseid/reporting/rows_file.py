"""All rows as one table: a parquet file for pandas, polars, DuckDB or R."""

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
    """Return rows with typed columns.

    Parameters
    ----------
    rows
        Rows DataFrame from :func:`sparseid.reporting.collect.collect`.

    Returns
    -------
    DataFrame
        A line per row. ``run``, ``paper``, ``scale``, ``recipe``, ``metric``, ``unit``, ``commit``, ``device`` and
        ``source`` are text, ``value`` is a float (NaN where undefined), ``seed`` and ``n`` are whole numbers, ``dirty``
        and ``older_code`` bool, ``written`` a time in UTC. Key ``x`` is column ``key_x``: whole numbers, floats or
        text, text if a key has both; missing in rows without the key.
    """
    columns = {name: _TYPES.get(name, "string") for name in rows.columns.drop("written") if not name.startswith(PREFIX)}
    keys = {name: _column(rows[name]) for name in sorted(key_columns(rows))}
    plain = rows.drop(columns=list(keys)).assign(written=times(rows)).astype(columns)
    return plain.assign(**{name: values for name, values in keys.items() if values.notna().any()})


def _column(values: pd.Series) -> pd.Series:
    """Return the values of a key as a column of one type."""
    types = set(map(type, values.dropna()))
    if types <= {int, float}:
        return values.astype("Int64" if types == {int} else "Float64")
    return values.where(values.isna(), values.map(str)).astype("string")
