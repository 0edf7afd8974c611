"""Tables in npz files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseid.data.npz import open_npz
from sparseid.data.tables.names import listed, position_of
from sparseid.data.tables.table import Table
from sparseid.errors import InputError

ROW_IDS, FEATURE_NAMES = "row_ids", "feature_names"
"""Arrays of a file with the ids of its rows and the names of its columns."""


def table_of_npz(path: Path, columns: Sequence[str], ids: str, matrix: str) -> Table:
    """Return the table of an npz file; arguments as for `sparseid.data.tables.reader.read_table`."""
    with open_npz(path) as file:  # arrays that are not asked for may be unreadable
        chosen = matrix or ("X" if "X" in file.files else _only_table(file))
        if chosen not in file.files:
            wanted = f"no array {chosen!r}" if chosen else "no array X, and not exactly one table"
            raise InputError(f"it has {wanted} (arrays: {listed(file.files)}); name one with data.matrix")
        values = file[chosen]
        known = {name: _one_per_row(file, name) for name in columns}
        rows = _one_per_row(file, ids) if ids else file.get(ROW_IDS)
        names = file.get(FEATURE_NAMES)
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise InputError(f"its {chosen} is {values.dtype} {values.shape}, not a table of numbers with samples in rows")
    return Table.of(values, names, rows, known)


def _only_table(file: np.lib.npyio.NpzFile) -> str:
    """Return the name of the only table of a file; empty if there is none, or several."""
    tables = [name for name in file.files if file[name].ndim == 2]
    return tables[0] if len(tables) == 1 else ""


def _one_per_row(file: np.lib.npyio.NpzFile, name: str) -> NDArray[Any]:
    values = file[file.files[position_of(file.files, name, "array")]]
    if values.ndim != 1:
        raise InputError(f"its {name} is of shape {values.shape}, not one value per row")
    return values
