"""Tables in h5ad files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from sparseid.data.h5ad import open_h5ad
from sparseid.data.tables.frames import table_of_frame
from sparseid.data.tables.names import listed, position_of
from sparseid.data.tables.table import Table
from sparseid.errors import InputError


def table_of_h5ad(path: Path, columns: Sequence[str], ids: str, matrix: str, keys: tuple[str, ...]) -> Table:
    """Return the table of an h5ad file; arguments as for `sparseid.data.tables.reader.read_table`."""
    place = {"": "X", "X": "X", "raw": "raw/X"}.get(matrix, matrix if "/" in matrix else f"layers/{matrix}")
    with open_h5ad(path, keys) as file:
        if not file.has(place):
            named = [f"{group}/{name}" for group in ("layers", "obsm") for name in file.names(group)]
            others = [name for name in ("X", "raw/X", *named) if file.has(name)]
            raise InputError(f"it has no {place} (matrices: {listed(others)}); name one with data.matrix")
        obs = file.annotations([*columns, ids])
        known = {name: obs[obs.columns[position_of([*obs.columns], name)]] for name in columns}
        found = obs[obs.columns[position_of([*obs.columns], ids)]] if ids else file.row_names()
        names = None if place.startswith("obsm/") else file.column_names(place)
        values = file.matrix(place, len(found), None if names is None else len(names))
    if isinstance(values, pd.DataFrame):  # of obsm, with types of its columns
        of_frame = table_of_frame(values)
        values, names = of_frame.values, of_frame.names.tolist()
    return Table.of(values, names, found, known)
