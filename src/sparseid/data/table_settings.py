"""Common settings of tables of users (no torch)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.errors import InputError
from sparseid.settings import DataSettings, Keys, Run, SettingsError, setting

if TYPE_CHECKING:
    from sparseid.data.tables import Table

FEWEST_ROWS = 2
"""Minimum number of rows for training, and of held-out rows."""


@dataclass
class TableSettings(DataSettings):
    """Settings of a data set that is a table of the user."""

    path: str = setting("Path of the table: csv, tsv, parquet, npz or h5ad.", default="", file=True)
    ids: str = setting(
        "Column with the ids of the rows; empty for the first one if it is named id or index, or holds text.",
        default="",
    )
    matrix: str = setting(
        "Array (npz) or layer (h5ad; also raw, or obsm/NAME) that holds the values; empty for X.", default=""
    )
    ignore: list[str] = setting("Columns that are left out.", default=[])
    held_out: float = setting("Fraction of the rows, chosen at random, that are only tested on.", above=0, below=1)

    def columns(self) -> list[str]:
        """Return the columns that are not features; subclasses add theirs, such as labels."""
        return list(self.ignore)

    def table(self) -> Table:
        """Return the table of the file.

        Raises
        ------
        InputError
            If it cannot be used.
        """
        from sparseid.data.tables import read_table

        if not self.path:
            raise InputError(self._ask(), ("data.path",))
        return read_table(self.path, self.columns(), self.ids, self.matrix)

    def table_errors(self, table: Table, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the content of a table."""
        from sparseid.data.tables import split_rows  # NumPy

        train, test = map(len, split_rows(len(table.ids), self.held_out))
        if min(train, test) < FEWEST_ROWS:
            text = f"{test} of {train + test} rows would be held out and {train} train: each needs {FEWEST_ROWS}"
            yield SettingsError(("data.held_out", "data.path"), text)

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the file's content; `missing_files` reports an unnamed file."""
        if not self.path:
            return
        try:
            yield from self.table_errors(self.table(), run)
        except InputError as error:
            text = str(error) if error.keys else f"{self.path}: {error}"  # errors of a table's values have no keys
            yield SettingsError(error.keys or ("data.path",), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield an error if no file is named."""
        if not self.path:
            yield SettingsError(("data.path",), self._ask())

    def _ask(self) -> str:
        return "set data.path to your table: a csv, tsv, parquet, npz or h5ad file, a row per sample"

    def row_keys(self) -> Keys:
        """Add the name of the file."""
        return super().row_keys() | {"source": Path(self.path).name.partition(".")[0]}
