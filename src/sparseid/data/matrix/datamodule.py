"""Data module of a user-provided matrix, the same for all members of the stack."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray

from sparseid.data.feature_matrix import FeatureData, Matrices
from sparseid.data.matrix.checks import count_fault
from sparseid.data.tables import Scale, Table, split_rows
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.matrix.settings import MatrixSettings
    from sparseid.settings import RunNumbers


class MatrixData(FeatureData):
    """Training and held-out rows of a table; members differ only in initialisation and batches.

    Parameters
    ----------
    table
        The matrix, from a file or from arrays in memory.
    seeds
        One per member.
    batch_size
        Training rows of a member per step.
    held_out
        Fraction of the rows that are only tested on.
    likelihood
        gaussian or multinomial.
    standardise
        Scale real values to the mean and spread of the training rows.
    divide_rows
        Show encoders each row of counts divided by its sum.
    labels
        Column of the table with the class of each row; None without classes.

    Raises
    ------
    InputError
        If the values do not suit the likelihood, or single precision.
    """

    has_baselines = True

    def __init__(
        self,
        table: Table,
        seeds: Sequence[int],
        batch_size: int,
        held_out: float,
        likelihood: Literal["gaussian", "multinomial"] = "gaussian",
        standardise: bool = True,
        divide_rows: bool = True,
        labels: str | None = None,
    ) -> None:
        counts = likelihood == "multinomial"
        if counts and (fault := count_fault(table)):
            raise InputError(f"{fault}, which is no count")
        self._parts = train, test = split_rows(len(table.ids), held_out)
        super().__init__(seeds, batch_size, len(test))
        self.likelihood, self.row_normalised = likelihood, counts and divide_rows
        self.input_scale = Scale.of(table.values, train) if standardise and not counts else None
        self._values = table.singles(self.input_scale)
        self.features, self.feature_names, self.row_ids = len(table.names), table.names.tolist(), table.ids[test]
        self.labels = table.classes(labels)[test] if labels else None
        self.remarks += remarks_on(table, train, self.input_scale)

    @classmethod
    def from_settings(cls, settings: MatrixSettings, run: RunNumbers) -> Self:  # type: ignore[override]
        """Return the data module of a run, which reads the file."""
        made = cls(
            settings.table(),
            run.seeds,
            run.batch_size,
            settings.held_out,
            settings.likelihood,  # type: ignore[arg-type]
            settings.standardise,
            settings.divide_rows,
            settings.labels or None,
        )
        made.record_files([Path(settings.path)])
        return made

    def make(self) -> Matrices:
        """Return the training and the held-out rows."""
        train, test = (torch.from_numpy(self._values[part])[None] for part in self._parts)
        return Matrices(train, test)


def remarks_on(table: Table, train: NDArray[np.int64], scale: Scale | None) -> list[str]:
    """Return lines for the log: those of a table, its size, and its columns that do not vary in the training rows."""
    rows, features = table.values.shape
    constant = table.names[np.ptp(table.values[train], axis=0) == 0 if scale is None else np.isinf(scale.spread)]
    lines = [*table.remarks, f"{rows} rows, {len(train)} of them for training; {features} columns"]
    if len(constant):
        lines.append(f"columns that do not vary in the training rows: {', '.join(constant[:5])} ({len(constant)})")
    return lines
