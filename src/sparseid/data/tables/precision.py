"""Numbers of users in the precision of a run, without a loss that is not told of."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseid.data.tables.numbers import BEYOND, exact, is_missing, number_of, refusal, shown
from sparseid.data.tables.rows import ROUNDING, Scale
from sparseid.errors import InputError

LOST = {"labels": 0.003}
"""Maximum part of typical differences (`_lost`) that rounding may take from numbers that are compared with others."""
LOST_OF_VALUES = 0.01
"""The same for other values."""
LOST_OF_REGIME = 0.1
"""The same for values of a regime (`_regimes`), whose differences are small for those from other regimes anyway."""
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

DIGITS = 15
"""Double precision tells all decimal numbers of so many digits apart, unless they are smaller than those of `SMALL`."""
SMALL = re.compile(r"[eE]-\d{3}")
"""An exponent of three digits or more: double precision has fewer digits for such numbers, or none."""
COMPLEX = "complex numbers: keep their real and imaginary parts, or others, as columns"
OF_DATES = "convert dates and durations to numbers, such as days since the first"
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
    If wide gaps divide the values into regimes, it must not take more than 10 % of those of a regime, either. Labels
    are compared with each other, so that 0.3 % is the limit, and no two whole numbers may become equal.

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
    """Return real numbers (rows, columns), or texts of them, in double precision; see `single_precision`.

    What they are used for is not known yet: no two whole numbers may become equal, as of labels.

    Raises
    ------
    InputError
        If they are complex, dates, no numbers or missing, a finite one becomes infinite, or rounding takes too much of
        a column.
    """
    if values.dtype.kind in "fiub":
        return _narrowed(name, values, np.float64, columns, by_number)
    if values.dtype.kind == "c":
        raise InputError(f"{name} are {COMPLEX}")
    if values.dtype.kind in "Mm":
        raise InputError(f"{name} are {values.dtype}: {OF_DATES}")
    if values.dtype.kind not in "OUS":
        raise InputError(f"{name} are not numbers, but {values.dtype}")
    numbers = np.empty(values.shape)
    for column, of_column in enumerate(values.T.tolist()):
        numbers[:, column] = _doubles_of(of_column, _named(columns, column))
    return numbers


def _doubles_of(column: list[Any], named: str) -> Doubles:
    """Return a column of objects; see `double_precision`."""
    numbers, marks = np.empty(len(column)), np.zeros(len(column), np.int64)
    for row, value in enumerate(column):
        if type(value) is float:
            numbers[row] = value
            continue
        try:
            numbers[row], marks[row] = _double_of(value)
        except InputError as error:
            raise InputError(f"{by_number(row)}, column {named}: {error}") from error.__cause__
    if marks.any() and np.isfinite(numbers).all() and doubtful(numbers, marks):
        check_exact(named, column)
    return numbers


def _double_of(value: Any) -> tuple[float, int]:
    """Return an object in double precision, and its mark as of `marks_of`."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        if not math.isfinite(number := number_of(value)):
            raise InputError(refusal(value))
        return number, 0 if (marks := marks_of([value])) is None else int(marks[0])
    if isinstance(value, np.datetime64 | np.timedelta64 | date | timedelta):
        raise InputError(f"{value} is a {type(value).__name__}: {OF_DATES}")
    if isinstance(value, complex | np.complexfloating):
        raise InputError(f"the values are {COMPLEX}")
    if is_missing(value) and not isinstance(value, np.floating):
        raise InputError(refusal(""))
    try:
        number = float(value)
    except OverflowError as error:
        raise InputError(f"{shown(value)} is {BEYOND}") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"it is no number ({error})") from error
    if math.isinf(number) and value != number:
        raise InputError(f"{shown(value)} is {BEYOND}")
    return number, 0 if value == number else hash(str(value))  # that of a number repeats


def marks_of(texts: Sequence[str]) -> NDArray[np.int64] | None:
    """Return marks of numbers in text for `doubtful`: 0 if double precision tells a number apart from all others.

    Equal marks are those of equal texts. None stands for zeros.
    """
    joined = " ".join(texts)
    small = ("e-" in joined or "E-" in joined) and SMALL.search(joined)  # the first is faster
    if not small and max(map(len, texts), default=0) <= DIGITS:
        return None
    short = np.fromiter(map(len, texts), np.int64, len(texts)) <= DIGITS
    if small:
        short &= [SMALL.search(text) is None for text in texts]
    return np.where(short, 0, np.fromiter(map(hash, texts), np.int64, len(texts)))


def doubtful(numbers: Doubles, marks: NDArray[np.int64]) -> bool:
    """Return whether rounding to double precision may have taken too much of a column, as its `marks_of` tell.

    So it may if different numbers became equal, or a part of them is about as close as neighbours in double precision.
    """
    order = np.argsort(numbers, kind="stable")
    ascending, marked = numbers[order], marks[order]
    equal = ascending[1:] == ascending[:-1]
    if (equal & (marked[1:] != marked[:-1])).any():
        return True
    different = ascending[np.r_[True, ~equal]]
    some = math.ceil(TRIMMED * len(different))
    near = different[some:] - different[:-some]
    return bool((near < LOST_OF_VALUES**-2 * np.spacing(np.abs(different[some:]))).any())


def check_exact(name: str, values: Sequence[Any]) -> None:
    """Refuse a column whose numbers, or texts of them, differ by too little for double precision; slow.

    Raises
    ------
    InputError
        If rounding takes too much of it.
    """
    _refuse_lost("the values", name, np.array([exact(value) for value in values], object), np.float64)


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
    """Refuse a column of finite numbers if rounding takes too much of it, or of one of its regimes."""
    different, first = np.unique(values, return_index=True)
    rounded = different.astype(kind)
    moved, after = _moved(different, rounded), len(np.unique(rounded))
    whole = 2 * int(_whole(different[moved]).sum()) > int(moved.sum())
    merged = (name == "labels" or kind is np.float64) and whole and after < len(different)
    in_order, few = values[np.sort(first)], FEW * len(different)
    limit = LOST.get(name, LOST_OF_VALUES)
    for part in _regimes(different):
        regime = different[part]
        within = in_order[(in_order >= regime[0]) & (in_order <= regime[-1])]
        if merged or (moved[part].sum() > few and _lost(regime, within, whole, kind) > limit):
            break
        limit = LOST.get(name, LOST_OF_REGIME)
    else:
        return
    of_labels = whole and name == "labels"
    remedy = remedy or f"subtract an offset, or {'number them from 0' if of_labels else 'rescale them'}"
    text = f"{name} differ by less than {PRECISION[kind]} precision can represent: {remedy}"
    if after < (1 - FEW) * len(different):
        raise InputError(f"{text} (the {len(different)} values of column {column} become {after})")
    spacing = _spacing(_bulk(regime), kind)
    raise InputError(f"{text} (those of column {column} are rounded to multiples of {spacing:g})")


def _whole(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers are whole."""
    if values.dtype == object:
        return np.array([value == value.to_integral_value() for value in values], bool)
    return np.equal(np.mod(values, 1), 0)


def _regimes(different: NDArray[Any]) -> Iterator[slice]:
    """Yield the places of all of a column's different values, ascending, and of those on either side of wide gaps.

    A gap is wide if it is more than half of the bulk around it, as between the values of two regimes, whose differences
    are small for the distance between them. Parts that may be outliers are left out.
    """
    fewest = max(2, math.ceil(TRIMMED * len(different)))
    parts = [slice(0, len(different))]
    while parts:
        part = parts.pop()
        yield part
        outer = _outer(part.stop - part.start)
        gaps = np.diff(different[part.start + outer : part.stop - outer].astype(np.float64))
        if len(gaps) and gaps.max() > gaps.sum() / 2:
            cut = part.start + outer + int(gaps.argmax()) + 1
            halves = slice(part.start, cut), slice(cut, part.stop)
            parts += [half for half in halves if half.stop - half.start >= fewest]


def _outer(count: int) -> int:
    """Return how many of ascending values may be outliers at either end."""
    return math.ceil(TRIMMED * (count - 1)) if count >= FEWEST else 0


def _bulk(different: NDArray[Any]) -> tuple[float, float]:
    """Return the ends of the bulk of a column's different values, ascending."""
    outer = _outer(len(different))
    low, high = different[[outer, -1 - outer]].tolist()
    return low, high


def _spacing(bulk: tuple[float, float], kind: type[np.floating]) -> float:
    return float(np.spacing(kind(max(map(abs, map(float, bulk))))))


def _lost(different: NDArray[Any], in_order: NDArray[Any], whole: bool, kind: type[np.floating]) -> float:
    """Return the part of a column's typical differences that rounding takes.

    Differences like rounding errors of a computation in double precision, which it holds apart, need not be kept.

    Parameters
    ----------
    different, in_order
        The different values, ascending, and in the order of their rows.
    whole
        Whether most of those that rounding moves are whole: their differences are no rounding errors.
    kind
        The precision.
    """
    if len(different) < 2:
        return 0.0
    low, high = _bulk(different)
    spacing = _spacing((low, high), kind)
    spread = float(high - low) / OF_NORMAL
    apart = kind is np.float32 or len(np.unique(different.astype(kind))) == len(different)
    if not whole and apart and spread <= ROUNDING * float(max(abs(low), abs(high))):
        return 0.0
    step = float(np.median(np.abs(np.diff(in_order.astype(np.float64)))))
    of_steps = min(1.0, spacing / step) if step else 1.0
    return math.sqrt(spacing / spread * of_steps) if spread else math.inf
