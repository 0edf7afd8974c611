"""Checks of a matrix's counts and classes (no torch)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparseid.data.tables import Table, split_rows

FEWEST_OF_CLASS = 5
"""Minimum number of held-out rows of a class, for fivefold cross-validated accuracy (`metrics.classification`)."""


def count_fault(table: Table) -> str:
    """Return the first value that is no count, or row without any; empty if there is none.

    Examples
    --------
    >>> count_fault(Table.of([[1, 0], [0.5, 2]], names=["apple", "pear"]))
    "row 2, column 'apple' is 0.5"
    """
    wrong = (table.values < 0) | (table.values != np.floor(table.values))
    if wrong.any():
        row, column = (int(at) for at in np.argwhere(wrong)[0])
        return f"{table.place(row, column)} is {table.values[row, column]:g}"
    empty = table.values.sum(axis=1) == 0
    return f"{table.where(int(empty.argmax()))} is 0 in every column" if empty.any() else ""


def class_fault(labels: NDArray[np.str_], held_out: float) -> str:
    """Return why classes cannot be predicted on the held-out rows; empty if they can."""
    _, test = split_rows(len(labels), held_out)
    names, counts = np.unique(labels[test], return_counts=True)
    if len(names) < 2:
        return "the held-out rows are of one class: there is nothing to predict"
    if counts.min() < FEWEST_OF_CLASS:
        rare = f"class {str(names[counts.argmin()])!r} has {counts.min()} of the {len(test)} held-out rows"
        return f"{rare}, and {FEWEST_OF_CLASS} are needed to predict it: raise data.held_out, or remove rare classes"
    return ""
