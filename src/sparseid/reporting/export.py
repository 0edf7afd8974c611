"""Results of one run as files for other programs: csv, parquet and npz."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from sparseid.files import replace_file
from sparseid.papers.rows import newest, rows_frame
from sparseid.reporting.rows_file import flat
from sparseid.training.arrays import read_arrays
from sparseid.training.rows import read_rows
from sparseid.training.run_folder import RunFolder

NUMBERS = "numbers"
"""Stem of the files with all rows of a run."""
NAMES = ("row_ids", "feature_names")
"""Arrays of names: an axis of the same length is labelled with them."""


def export_run(folder: Path, target: Path) -> list[str]:
    """Write the rows, arrays and configuration of a finished run into a folder.

    ``numbers.csv`` and ``.parquet`` hold a line per number, ``arrays.npz`` every array. Each array that is a vector, a
    matrix, or a matrix per member of a stack is also a table (:func:`array_table`), ``<array>.csv`` and ``.parquet``.

    Parameters
    ----------
    folder
        The run's folder.
    target
        Folder to write to; files of the same names are replaced.

    Returns
    -------
    list of str
        Names of the written files.

    Raises
    ------
    RunError
        If its results are damaged.
    OSError
        If the folder cannot be written.
    """
    run = RunFolder(folder)
    rows, arrays = rows_frame(read_rows(run.result)), read_arrays(run.arrays)
    seeds = list(dict.fromkeys(rows["seed"].tolist()))
    tables = {NUMBERS: flat(newest(rows))}
    tables |= {name: array_table(values, seeds, arrays) for name, values in arrays.items() if _is_table(values, seeds)}
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for name, table in tables.items():
        replace_file(target / f"{name}.csv", partial(table.to_csv, index=False))
        replace_file(target / f"{name}.parquet", partial(table.to_parquet, index=False))
        written += [f"{name}.csv", f"{name}.parquet"]
    for name in ("arrays.npz", "config.yaml"):
        if (folder / name).is_file():
            with (folder / name).open("rb") as source:
                replace_file(target / name, partial(shutil.copyfileobj, source))
            written.append(name)
    return written


def array_table(values: np.ndarray, seeds: list[int], arrays: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return an array as a table.

    Parameters
    ----------
    values
        (rows,), (rows, columns) or, one per member, (seeds, rows, columns).
    seeds
        Seeds of the run's members.
    arrays
        Arrays of the run, among them those of :data:`NAMES`.

    Returns
    -------
    DataFrame
        A column ``seed`` if there is a matrix per member; ``row``, the row's name or number; a column per column of the
        array, with its name or number, or ``value`` for a vector.

    Examples
    --------
    >>> array_table(np.array([[1, 2], [3, 4]]), [0], {"feature_names": np.array(["a", "b"]), "row_ids": np.arange(5)})
      row  a  b
    0   a  1  2
    1   b  3  4
    """
    stacked = values if values.ndim == 3 else values[None] if values.ndim == 2 else values[None, :, None]
    rows, columns = stacked.shape[1:]
    names = ["value"] if values.ndim == 1 else _labels(columns, arrays)
    index = _labels(rows, arrays)
    parts = []
    for seed, member in zip(seeds if values.ndim == 3 else [0], stacked, strict=True):
        part = pd.DataFrame(member, columns=[str(name) for name in names])
        part.insert(0, "row", index)
        if values.ndim == 3:
            part.insert(0, "seed", seed)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _is_table(values: np.ndarray, seeds: list[int]) -> bool:
    return values.size > 0 and (values.ndim in (1, 2) or (values.ndim == 3 and len(values) == len(seeds)))


def _labels(length: int, arrays: Mapping[str, np.ndarray]) -> list:
    """Return the names of an axis of this length, else its numbers; names of which some are equal do not count."""
    for name in NAMES:
        found = arrays.get(name)
        if found is not None and found.shape == (length,) and len(set(found.tolist())) == length:
            return found.tolist()
    return list(range(length))
