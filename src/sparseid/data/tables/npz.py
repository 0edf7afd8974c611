"""Tables in npz files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sparseid.data.npz import open_npz
from sparseid.data.tables.names import listed, position_of
from sparseid.data.tables.table import Table
from sparseid.errors import InputError

ROW_IDS, FEATURE_NAMES = "row_ids", "feature_names"
"""Arrays of a file with the ids of its rows and the names of its columns."""


def table_of_npz(path: Path, columns: Sequence[str], ids: str, matrix: str) -> Table:
    """Return the table of an npz file; arguments as for `sparseid.data.tables.reader.read_table`."""
    with open_npz(path) as file:
        arrays = {name: file[name] for name in file.files}
    tables = [name for name, values in arrays.items() if values.ndim == 2]
    chosen = matrix or ("X" if "X" in arrays else tables[0] if len(tables) == 1 else "")
    if chosen not in arrays:
        wanted = f"no array {chosen!r}" if chosen else "no array X, and not exactly one table"
        raise InputError(f"it has {wanted} (arrays: {listed(arrays)}); name one with data.matrix")
    values = arrays[chosen]
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise InputError(f"its {chosen} is {values.dtype} {values.shape}, not a table of numbers with samples in rows")
    known = {name: _one_per_row(arrays, name) for name in columns}
    rows = _one_per_row(arrays, ids) if ids else arrays.get(ROW_IDS)
    return Table.of(values, arrays.get(FEATURE_NAMES), rows, known)


def _one_per_row(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    values = arrays[[*arrays][position_of([*arrays], name, "array")]]
    if values.ndim != 1:
        raise InputError(f"its {name} is of shape {values.shape}, not one value per row")
    return values
