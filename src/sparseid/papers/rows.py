"""Reading result rows: a DataFrame with a line per (run, evaluation, metric); column ``keys`` names the cell."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields

import pandas as pd

from sparseid.measurements import Key
from sparseid.training.rows import Row

COLUMNS = [field.name for field in fields(Row)]
"""Columns of a rows DataFrame; ``keys`` holds dictionaries."""


def no_rows() -> pd.DataFrame:
    """Return a rows DataFrame without rows."""
    return pd.DataFrame(columns=COLUMNS)


def select(rows: pd.DataFrame, allowed: Mapping[str, Collection[Key | None]]) -> pd.DataFrame:
    """Return the rows that carry every key of `allowed` with one of its values; None allows rows without the key."""
    fits: dict[int, bool] = {}  # by identity: rows of a cell share their keys, so few are looked at
    for keys in rows["keys"]:
        if id(keys) not in fits:
            fits[id(keys)] = all(keys.get(name) in values for name, values in allowed.items())
    chosen = [fits[id(keys)] for keys in rows["keys"]]
    return rows[pd.Series(chosen, index=rows.index, dtype=bool)]


def per_seed(rows: pd.DataFrame, metric: str, **keys: Key) -> pd.Series:
    """Return the values of one metric of one cell, indexed by seed.

    Parameters
    ----------
    rows
        A rows DataFrame; the newest row of each cell and seed only.
    metric
        Name of the metric.
    **keys
        Keys that the cell must carry; a cell may carry more.

    Returns
    -------
    Series of float64, index ``seed``; rows without a value (undefined metrics) are dropped.
    """
    chosen = select(rows[rows["metric"] == metric], {name: (value,) for name, value in keys.items()})
    values = pd.Series(chosen["value"].to_numpy(float), index=chosen["seed"].to_numpy(), dtype=float).dropna()
    return values.groupby(level=0).mean()


def per_replicate(rows: pd.DataFrame, metric: str, keys: Sequence[str] = ()) -> pd.Series:
    """Return the values of one metric of one cell, one per replicate: a seed and the values of `keys`.

    Rows without a value (undefined metrics) are dropped; further rows of a replicate are averaged. The order is that of
    the replicates, not of the rows: a bootstrap interval depends on it.
    """
    chosen = rows[rows["metric"] == metric]
    extra = [[entry.get(name) for entry in chosen["keys"]] for name in keys]
    replicates = list(zip(chosen["seed"], *extra, strict=True))
    order = sorted(range(len(replicates)), key=lambda row: (replicates[row][0], *map(str, replicates[row][1:])))
    index = pd.Index([replicates[row] for row in order], tupleize_cols=False)
    values = pd.Series(chosen["value"].to_numpy(float)[order], index=index).dropna()
    return values.groupby(level=0, sort=False).mean()


def values_of(rows: pd.DataFrame, key: str) -> list[Key]:
    """Return the values that `key` takes in `rows`, sorted."""
    return sorted({keys[key] for keys in rows["keys"] if key in keys})


def with_complements(rows: pd.DataFrame, complements: Mapping[str, str]) -> pd.DataFrame:
    """Add rows of metrics that are 100 minus another one, in percent: ``{"accuracy": "error"}``."""
    extra = []
    for name, source in complements.items():
        copy = rows[rows["metric"] == source]
        extra.append(copy.assign(metric=name, value=100 - copy["value"].astype(float)))
    return pd.concat([rows, *(frame for frame in extra if len(frame))], ignore_index=True) if extra else rows
