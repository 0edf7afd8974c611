"""Rows as a table: a DataFrame with a line per number; columns ``key_<name>`` give its place in a paper's tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields

import numpy as np
import pandas as pd

from sparseid.measurements import Key
from sparseid.methods.baselines import NAMES
from sparseid.training.rows import Row

COLUMNS = [field.name for field in fields(Row) if field.name != "keys"]
"""Columns of every rows DataFrame, followed by those of keys."""
PREFIX = "key_"
"""Prefix of columns of keys: ``key_method``. They contain text and numbers as they are; None without the key."""


def no_rows() -> pd.DataFrame:
    """Return a rows DataFrame without rows."""
    return pd.DataFrame(columns=COLUMNS)


def rows_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Return rows as a rows DataFrame; undefined values become NaN."""
    columns = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    frame = pd.DataFrame(columns) if rows else no_rows()
    return with_keys(frame.astype({"value": float}), [row.keys for row in rows])


def key_columns(rows: pd.DataFrame) -> list[str]:
    """Return the names of the columns of keys."""
    return [name for name in rows.columns if name.startswith(PREFIX)]


def key(rows: pd.DataFrame, name: str) -> pd.Series:
    """Return the values of a key; None or NaN for rows without it."""
    return rows[PREFIX + name] if PREFIX + name in rows else pd.Series(None, index=rows.index, dtype=object)


def without_empty_keys(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows without the columns of keys that none of them has."""
    return rows.drop(columns=[name for name in key_columns(rows) if rows[name].isna().all()])


def without_baselines(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the method itself, without those of the simple baselines next to it."""
    return rows[~key(rows, "method").isin(list(NAMES))]


def keys_of(rows: pd.DataFrame, names: Sequence[str] | None = None) -> list[dict[str, Key]]:
    """Return the keys of each row, all or those named, as far as the row has them."""
    names = [name.removeprefix(PREFIX) for name in key_columns(rows)] if names is None else names
    keys: list[dict[str, Key]] = [{} for _ in range(len(rows))]
    for name in names:
        for of_row, value in zip(keys, key(rows, name), strict=True):
            if value is not None and value == value:  # NaN is missing
                of_row[name] = value
    return keys


def with_keys(rows: pd.DataFrame, keys: Iterable[Mapping[str, Key]]) -> pd.DataFrame:
    """Return the rows with these keys, one mapping per row, in place of their own."""
    keys = list(keys)
    names = dict.fromkeys(name for of_row in keys for name in of_row)
    columns = {PREFIX + name: [of_row.get(name) for of_row in keys] for name in names}
    plain = rows.drop(columns=key_columns(rows))
    return pd.concat([plain, pd.DataFrame(columns, index=rows.index, dtype=object)], axis=1) if columns else plain


def select(rows: pd.DataFrame, allowed: Mapping[str, Collection[Key | None]]) -> pd.DataFrame:
    """Return the rows that have every key of `allowed` with one of its values; None allows rows without the key."""
    chosen = np.ones(len(rows), dtype=bool)
    for name, values in allowed.items():
        chosen &= _fits(key(rows, name).to_numpy(object), values)
    return rows[chosen]


def _fits(column: np.ndarray, values: Collection[Key | None]) -> np.ndarray:
    fits = np.zeros(len(column), dtype=bool)
    for value in values:
        fits |= pd.isna(column) if value is None else column == value
    return fits


def per_seed(
    rows: pd.DataFrame, metric: str, allowed: Mapping[str, Collection[Key | None]] = {}, /, **keys: Key
) -> pd.Series:
    """Return the values of one metric of one table entry, indexed by seed.

    Rows must have the keys `allowed`, as of :func:`select`, and `keys`, each with a single value; they may have more.
    Rows without a value (undefined metrics) are dropped, several of a seed averaged.
    """
    found = per_replicate(rows, metric, (), {**allowed, **{name: (value,) for name, value in keys.items()}})
    return found.set_axis([seed for (seed,) in found.index])


def per_replicate(
    rows: pd.DataFrame, metric: str, by: Sequence[str] = (), allowed: Mapping[str, Collection[Key | None]] = {}
) -> pd.Series:
    """Return the values of one metric of one table entry, one per replicate, a seed and the values of the keys `by`.

    See :func:`per_seed` and :func:`replicate_means`.
    """
    chosen = np.flatnonzero(rows["metric"].to_numpy(object) == metric)
    for name, values in allowed.items():
        chosen = chosen[_fits(key(rows, name).to_numpy(object)[chosen], values)]
    means = replicate_means(replicates_of(rows, by, chosen), rows["value"].to_numpy(float)[chosen].tolist())
    return pd.Series(list(means.values()), index=pd.Index(list(means), tupleize_cols=False), dtype=float)


def replicates_of(rows: pd.DataFrame, by: Sequence[str], places: np.ndarray | slice = slice(None)) -> list[tuple]:
    """Return the replicate of each row in some places: its seed and its values of the keys `by`, None without one."""
    columns = [rows["seed"].to_numpy(), *(key(rows, name).to_numpy(object) for name in by)]
    return [
        tuple(part if part == part else None for part in parts)  # NaN is missing
        for parts in zip(*(column[places].tolist() for column in columns), strict=True)
    ]


def replicate_means(replicates: Iterable[tuple], values: Iterable[float]) -> dict[tuple, float]:
    """Return the mean value of each replicate; NaN (an undefined metric) is no value.

    The order is that of the replicates, not of the rows: bootstrap intervals depend on it.
    """
    found: dict[tuple, list[float]] = {}
    for replicate, value in zip(replicates, values, strict=True):
        if value == value:
            found.setdefault(replicate, []).append(value)
    ordered = sorted(found, key=lambda replicate: (replicate[0], *map(str, replicate[1:])))
    return {of: found[of][0] if len(found[of]) == 1 else float(np.mean(found[of])) for of in ordered}


def values_of(rows: pd.DataFrame, name: str) -> list[Key]:
    """Return the values of a key in `rows`, sorted."""
    return sorted(set(key(rows, name).dropna()))


def newest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the newest row of each recipe, table entry, seed and metric, in the order of their times."""
    ordered = rows.iloc[times(rows).argsort(kind="stable")]
    entry = ["paper", "scale", "recipe", "seed", "metric", *key_columns(rows)]
    return ordered.drop_duplicates(entry, keep="last").reset_index(drop=True)


def times(rows: pd.DataFrame) -> pd.Series:
    """Return the times of writing, in UTC."""
    return pd.to_datetime(rows["written"], utc=True, format="ISO8601")


def newest_row(rows: pd.DataFrame) -> pd.Series:
    """Return the row that was written last."""
    written = rows.drop_duplicates("written")  # runs write many rows at once
    return written.iloc[times(written).argmax()]


def joined(*parts: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all parts; empty ones do not change the types of columns."""
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def with_complements(rows: pd.DataFrame, complements: Mapping[str, str]) -> pd.DataFrame:
    """Add rows of metrics that are 100 minus another one, in percent: ``{"accuracy": "error"}``."""
    extra = []
    for name, source in complements.items():
        copy = rows[rows["metric"] == source]
        extra.append(copy.assign(metric=name, value=100 - copy["value"].astype(float)))
    return joined(rows, *extra)
