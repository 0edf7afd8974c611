"""Numbers of users in single precision, without a loss that is not told of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseid.errors import InputError

COARSE = {"labels": 1e-5}
"""Distance of single-precision numbers, relative to the standard deviation of a column, above which it is coarse."""
COARSE_VALUES = 1e-3
"""The same for values that are not compared with each other."""
LAST_WHOLE = 2**24
"""Single precision holds all whole numbers up to this one."""
MERGED = 0.01
"""Fraction of a column's values that may become equal; by chance some of many always do."""

Singles = NDArray[np.float32]


def single_precision(
    name: str,
    values: NDArray[Any],
    columns: Sequence[str] = (),
    where: Callable[[int], str] = lambda row: f"row {row + 1}",
) -> Singles:
    """Return finite numbers (rows, columns) in single precision.

    Labels are compared with each other, so that no two that are whole numbers may become equal, and others only if they
    are close for the spread of the labels. Of other values only a coarse rounding, relative to their spread, matters.

    Parameters
    ----------
    name
        Name of the numbers in messages; ``labels`` are labels.
    values
        The numbers.
    columns
        Names of the columns in messages; their numbers, from 0, without names.
    where
        Returns the place of a row in messages.

    Raises
    ------
    InputError
        If a value becomes infinite, or too many values of a column become equal, as those of times since 1970 do.
    """
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32)
    named = [repr(column) for column in columns] or [str(column) for column in range(values.shape[1])]
    if not (held := np.isfinite(rounded)).all():
        row, column = (int(at) for at in np.argwhere(~held)[0])
        text = f"{where(row)}, column {named[column]}: {values[row, column]:g} is beyond single precision"
        raise InputError(f"{text} (3.4e38): rescale the column")
    if np.can_cast(values.dtype, np.float32):  # which can hold every value of smaller types
        return rounded
    changed = (values > LAST_WHOLE) | (values < -LAST_WHOLE) if values.dtype.kind in "iu" else rounded != values
    for column in np.flatnonzero(changed.any(axis=0)).tolist():
        _refuse_merged(name, named[column], values[:, column], rounded[:, column])
    return rounded


def _refuse_merged(name: str, column: str, values: NDArray[np.generic], rounded: Singles) -> None:
    """Refuse a column if single precision makes too many of its values equal."""
    step = float(np.spacing(np.abs(rounded).max()))
    coarse = step > COARSE.get(name, COARSE_VALUES) * float(np.std(values.astype(np.float64)))
    whole = name == "labels" and bool((np.mod(values, 1) == 0).all())
    if not coarse and not whole:
        return
    before, after = len(np.unique(values)), len(np.unique(rounded))
    if (coarse and before - after > MERGED * before) or (whole and after < before):
        remedy = f"subtract an offset, or {'number them from 0' if whole else 'rescale them'}"
        text = f"{name} differ by less than single precision can represent: {remedy}"
        raise InputError(f"{text} (the {before} values of column {column} become {after})")
