"""Settings of a user-provided matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparseid.data.table_settings import TableSettings
from sparseid.errors import InputError
from sparseid.settings import Run, SettingsError, setting

if TYPE_CHECKING:
    from sparseid.data.tables import Table


@dataclass
class MatrixSettings(TableSettings):
    """User-provided matrix of real values or of counts, a row per sample and a column per feature."""

    name: str = "matrix"
    likelihood: str = setting(
        "Likelihood of a row: gaussian (real values) or multinomial (counts, such as words or 0 and 1 for items).",
        default="gaussian",
        choices=("gaussian", "multinomial"),
    )
    standardise: bool = setting(
        "Scale real values to the mean and spread of the training rows: errors are then in squared standard "
        "deviations. Counts are never scaled.",
        default=True,
    )
    divide_rows: bool = setting(
        "Show encoders each row of counts divided by its sum: for counts whose sums differ widely.", default=True
    )
    labels: str = setting(
        "Column with the class of each row, to be predicted from factors; empty for none.", default=""
    )

    loads = "sparseid.data.matrix.datamodule:MatrixData"
    interface = "feature_matrix"

    @property
    def negative(self) -> bool:
        """True if features can be negative."""
        if self.likelihood == "multinomial":
            return False
        try:
            return self.standardise or bool((self.table().values < 0).any())
        except InputError:
            return False

    def columns(self) -> list[str]:
        """Return the columns left out, and that of the classes."""
        return [*super().columns(), *([self.labels] if self.labels else [])]

    def table_errors(self, table: Table, run: Run) -> Iterator[SettingsError]:
        """Yield counts that are none, and classes that are too rare."""
        from sparseid.data.matrix.checks import class_fault, count_fault  # NumPy

        yield from super().table_errors(table, run)
        if self.likelihood == "multinomial" and (fault := count_fault(table)):
            text = f"{self.path}: {fault}, where data.likelihood=multinomial needs counts: correct it, or set "
            yield SettingsError(("data.likelihood", "data.path"), f"{text}data.likelihood=gaussian")
        if self.labels and (fault := class_fault(table.classes(self.labels), self.held_out)):
            yield SettingsError(("data.labels", "data.held_out"), f"{self.path}, column {self.labels!r}: {fault}")
