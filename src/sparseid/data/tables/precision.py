"""Numbers of users in the precision of a run, without a loss that is not told of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseid.data.tables.rows import ROUNDING, Scale
from sparseid.errors import InputError

LOST = {"labels": 0.003}
"""Maximum part of typical differences (`_lost`) that rounding may take from numbers that are compared with others."""
LOST_OF_VALUES = 0.01
"""The same for other values."""
TRIMMED = 0.05
"""Fraction of the different values at either end that may be outliers, such as a code for missing ones."""
FEWEST = 10
"""Minimum number of different values of which some are trimmed."""
FEW = 0.01
"""Fraction of the different values that may be rounded in any way."""
OF_NORMAL = 3.29
"""Standard deviations of a normal distribution between its 5 % and 95 % quantiles."""

Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]

LAST_WHOLE = 2**53
"""Double precision holds all whole numbers up to this one."""
PRECISION = {np.float32: "single", np.float64: "double"}


def by_number(row: int) -> str:
    """Return the place of a row for a message, by its number from 1."""
    return f"row {row + 1}"


def single_precision(
    name: str,
    values: NDArray[Any],
    columns: Sequence[str] = (),
    where: Callable[[int], str] = by_number,
    scale: Scale | None = None,
) -> Singles:
    """Return finite numbers (rows, columns) in single precision, scaled before they are rounded.

    Rounding must not take more than 1 % of the typical differences of a column, the geometric mean of two: the spread
    of the bulk of its different values, and the step from one row to the next (from one time to the next, in a series).
    Labels are compared with each other, so that 0.3 % is the limit, and no two whole numbers may become equal.

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
    scale
        Scale that is applied in double precision; None for the numbers as they are.

    Raises
    ------
    InputError
        If a value becomes infinite, or rounding takes too much of a column, as of times since 1970.
    """
    if scale is None:
        return _narrowed(name, values, np.float32, columns, where)
    remedy = "an outlier decides the scale: correct or drop it"
    return _narrowed(name, scale.apply(values), np.float32, columns, where, remedy)


def double_precision(name: str, values: NDArray[Any], columns: Sequence[str] = ()) -> Doubles:
    """Return real numbers (rows, columns) in double precision; see `single_precision`.

    Raises
    ------
    InputError
        If they are complex, a finite one becomes infinite, or rounding takes too much of a column of large integers.
    """
    if values.dtype.kind == "c":
        raise InputError(f"{name} are complex numbers: keep their real and imaginary parts, or others, as columns")
    return _narrowed(name, values, np.float64, columns, by_number)


def check_integers(name: str, texts: Sequence[str]) -> None:
    """Refuse a column of text with whole numbers that differ by too little for double precision.

    Raises
    ------
    InputError
        If rounding takes too much of it.
    """
    if all(text.strip().removeprefix("-").isdecimal() for text in texts):
        _refuse_lost("the values", repr(name), np.array([int(text) for text in texts], object), np.float64)


def held(
    values: NDArray[Any], kind: type[np.floating], columns: Sequence[str] = (), where: Callable[[int], str] = by_number
) -> NDArray[Any]:
    """Return numbers (rows, columns) in a precision that need not tell them apart.

    Raises
    ------
    InputError
        If a finite one becomes infinite.
    """
    with np.errstate(over="ignore"):
        rounded = values.astype(kind)
    lost = ~np.isfinite(rounded)
    if lost.any() and (lost := lost & np.isfinite(values)).any():
        row, column = (int(at) for at in np.argwhere(lost)[0])
        text = f"{where(row)}, column {_named(columns, column)}: {values[row, column]:g} is beyond {PRECISION[kind]}"
        raise InputError(f"{text} precision ({np.finfo(kind).max:.2g}): rescale the column")
    return rounded


def _narrowed(
    name: str,
    values: NDArray[Any],
    kind: type[np.floating],
    columns: Sequence[str],
    where: Callable[[int], str],
    remedy: str = "",
) -> NDArray[Any]:
    """Return numbers in a precision; refuse those that it cannot tell apart."""
    rounded = held(values, kind, columns, where)
    digits = values.dtype.itemsize * 8 - 1 if values.dtype.kind in "iu" else 0
    if np.can_cast(values.dtype, kind) and digits <= np.finfo(kind).nmant + 1:  # holds every value of the type
        return rounded
    moved = _moved(values, rounded)
    for column in np.flatnonzero(moved.any(axis=0)).tolist():
        of_column = values[:, column]
        _refuse_lost(name, _named(columns, column), of_column[np.isfinite(of_column)], kind, remedy)
    return rounded


def _moved(values: NDArray[Any], rounded: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers are not the same after rounding."""
    if values.dtype.kind not in "iu":
        return np.not_equal(rounded, values)
    with np.errstate(invalid="ignore"):  # the largest are rounded to one that the integers lack
        return np.not_equal(rounded.astype(values.dtype), values)


def _named(columns: Sequence[str], column: int) -> str:
    return repr(columns[column]) if len(columns) else str(column)


def _refuse_lost(name: str, column: str, values: NDArray[Any], kind: type[np.floating], remedy: str = "") -> None:
    """Refuse a column of finite numbers if rounding takes too much of it."""
    different, first = np.unique(values, return_index=True)
    whole = bool((np.mod(different, 1) == 0).all())
    after = len(np.unique(different.astype(kind)))
    merged = name == "labels" and whole and after < len(different)
    if not merged and _lost(different, values[np.sort(first)], whole, kind) <= LOST.get(name, LOST_OF_VALUES):
        return
    remedy = (
        remedy or f"subtract an offset, or {'number them from 0' if whole and name == 'labels' else 'rescale them'}"
    )
    text = f"{name} differ by less than {PRECISION[kind]} precision can represent: {remedy}"
    if after < (1 - FEW) * len(different):
        raise InputError(f"{text} (the {len(different)} values of column {column} become {after})")
    spacing = _spacing(_bulk(different), kind)
    raise InputError(f"{text} (those of column {column} are rounded to multiples of {spacing:g})")


def _bulk(different: NDArray[Any]) -> tuple[float, float]:
    """Return the ends of the bulk of a column's different values, ascending."""
    outer = math.ceil(TRIMMED * (len(different) - 1)) if len(different) >= FEWEST else 0
    low, high = different[[outer, -1 - outer]].tolist()
    return low, high


def _spacing(bulk: tuple[float, float], kind: type[np.floating]) -> float:
    return float(np.spacing(kind(max(map(abs, map(float, bulk))))))


def _lost(different: NDArray[Any], in_order: NDArray[Any], whole: bool, kind: type[np.floating]) -> float:
    """Return the part of a column's typical differences that rounding takes.

    Parameters
    ----------
    different, in_order
        The different values, ascending, and in the order of their rows.
    whole
        Whether they are whole numbers; the smallest differences of others are rounding errors of a computation.
    kind
        The precision.
    """
    if len(different) < 2 or _moved(different, different.astype(kind)).mean() <= FEW:
        return 0.0
    low, high = _bulk(different)
    spacing = _spacing((low, high), kind)
    spread = float(high - low) / OF_NORMAL
    if not whole and spread <= ROUNDING * max(abs(low), abs(high)):
        return 0.0
    step = float(np.median(np.abs(np.diff(in_order.astype(np.float64)))))
    of_steps = min(1.0, spacing / step) if step else 1.0
    return math.sqrt(spacing / spread * of_steps) if spread else math.inf
