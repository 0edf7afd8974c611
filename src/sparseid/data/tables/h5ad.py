"""Tables in h5ad files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sparseid.data.h5 import open_h5
from sparseid.data.tables.names import listed, position_of
from sparseid.data.tables.table import Table
from sparseid.errors import InputError


def table_of_h5ad(path: Path, columns: Sequence[str], ids: str, matrix: str, keys: tuple[str, ...]) -> Table:
    """Return the table of an h5ad file; arguments as for `sparseid.data.tables.reader.read_table`."""
    from anndata.io import read_elem  # takes a second to import

    with open_h5(path, keys) as file:
        if "obs" not in file or "encoding-type" not in file["obs"].attrs:
            raise InputError("it has not the layout of anndata 0.7 or later: read it and write it again with anndata")
        place = {"": "X", "X": "X", "raw": "raw/X"}.get(matrix, matrix if "/" in matrix else f"layers/{matrix}")
        if place not in file or file[place].attrs.get("encoding-type") == "null":
            layers = [f"layers/{name}" for name in file.get("layers", ())]
            others = [name for name in ("X", "raw/X", *layers) if name in file]
            raise InputError(f"it has no {place} (matrices: {listed(others)}); name one with data.matrix")
        obs, values = read_elem(file["obs"]), read_elem(file[place])
        names = None if place.startswith("obsm/") else read_elem(file["raw/var" if place == "raw/X" else "var"]).index
    known = {name: obs[obs.columns[position_of([*obs.columns], name)]] for name in columns}
    found = obs[obs.columns[position_of([*obs.columns], ids)]] if ids else obs.index
    return Table.of(values, names, found, known)
