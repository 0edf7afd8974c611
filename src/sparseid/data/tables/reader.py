"""Reader of a file with a table, by its format."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from sparseid.data.paths import unusable
from sparseid.data.tables.frames import table_of_parquet
from sparseid.data.tables.h5ad import table_of_h5ad
from sparseid.data.tables.npz import table_of_npz
from sparseid.data.tables.table import Table
from sparseid.data.tables.text import table_of_text
from sparseid.errors import InputError

FORMATS = """\
csv, tsv   a line of names, then a line per row; the first column may hold ids of the rows
parquet    a column per feature, the index may hold ids
npz        X (rows, features); optional row_ids and feature_names; further columns by their names
h5ad       X or a layer; ids and further columns from obs, names from var"""
"""Files that are read, for messages and documentation."""

ENDINGS = {"csv": "csv", **dict.fromkeys(("tsv", "txt", "tab"), "tsv"), "npz": "npz", "h5ad": "h5ad"}
ENDINGS |= dict.fromkeys(("parquet", "pq"), "parquet")
"""Ending of a file's name -> its format."""
ZIPPED = ("csv", "tsv")
"""Formats whose files may be gzipped."""


def read_table(
    path: str | Path,
    columns: Sequence[str] = (),
    ids: str = "",
    matrix: str = "",
    keys: tuple[str, ...] = ("data.path",),
) -> Table:
    """Read the table of a file; read once for all runs of a sweep.

    Parameters
    ----------
    path
        A file of one of `FORMATS`.
    columns
        Names of columns that are not features, such as labels; they may hold text.
    ids
        Name of the column of ids; empty for the first column of a csv file if it is named like one (`ID_NAMES`) or
        holds no number, and for the ids of the other formats.
    matrix
        Array of an npz file; layer of an h5ad file (or ``raw``, or ``obsm/NAME``). Empty for ``X``, or for the only
        table of an npz file.
    keys
        Settings at fault if the file cannot be used.

    Raises
    ------
    InputError
        If the file cannot be read, or is not a table of finite numbers with unique ids and names; the message has the
        file, row and column.
    """
    path = Path(path)
    if reason := unusable(path):
        raise InputError(f"{path} {reason}", keys)
    status = path.stat()
    version = status.st_mtime_ns, status.st_size, status.st_ino
    try:
        return _read(path, version, tuple(columns), ids, matrix, keys)
    except InputError as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}", keys) from error


@functools.lru_cache(maxsize=2)
def _read(
    path: Path, version: tuple[int, ...], columns: tuple[str, ...], ids: str, matrix: str, keys: tuple[str, ...]
) -> Table:
    kind = kind_of(path)
    if not kind:
        zipped = "only text may be gzipped, unpack other files; " if path.suffix.lower() == ".gz" else ""
        raise InputError(f"its ending is none of a table's; {zipped}it can be\n{FORMATS}")
    if matrix and kind not in ("npz", "h5ad"):
        raise InputError(f"a {kind} file has no matrices to choose from: leave {matrix!r} out")
    if kind == "npz":
        return table_of_npz(path, columns, ids, matrix)
    if kind == "h5ad":
        return table_of_h5ad(path, columns, ids, matrix, keys)
    if kind == "parquet":
        return table_of_parquet(path, columns, ids)
    return table_of_text(path, kind, columns, ids, keys)


def kind_of(path: Path) -> str:
    """Return the format of a file by its ending, csv, tsv, parquet, npz or h5ad; empty for another ending.

    Examples
    --------
    >>> kind_of(Path("cells.tab.gz")), kind_of(Path("cells.npz.gz")), kind_of(Path("cells.xlsx"))
    ('tsv', '', '')
    """
    name = path.name.lower()
    kind = ENDINGS.get(name.removesuffix(".gz").rpartition(".")[2], "")
    return kind if kind in ZIPPED or not name.endswith(".gz") else ""
