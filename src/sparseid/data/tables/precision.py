"""Numbers of users in the precision of a run, without a loss that is not told of."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
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
"""The same for values of a regime (`_lost_in_regimes`), whose differences are small for those from others anyway."""
FEWEST_OF_REGIME = 4
"""Minimum number of different values of a regime: fewer are near each other by chance."""
APART = 3
"""Minimum distance of a regime from its neighbours, relative to the spread of its bulk."""
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
    Nor must it take more than 10 % of those within regimes, groups of values that are far from all others. Labels are
    compared with each other, so that 0.3 % is the limit, and no two whole numbers may become equal unless they are
    scaled.

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
        Scale that is applied in double precision; None for the numbers as they are. What rounding takes is measured in
        their own units: scaling itself loses them for an outlier of 1e15 times their spread.

    Raises
    ------
    InputError
        If a value becomes infinite, or rounding takes too much of a column, as of times since 1970.
    """
    return _narrowed(name, values, np.float32, columns, where, scale)


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
    numbers = np.array([exact(value) for value in values], object)
    _refuse_lost("the values", name, numbers, numbers.astype(np.float64))


def held(
    values: NDArray[Any],
    kind: type[np.floating],
    columns: Sequence[str] = (),
    where: Callable[[int], str] = by_number,
    scale: Scale | None = None,
) -> NDArray[Any]:
    """Return numbers (rows, columns), scaled if there is a scale, in a precision that need not tell them apart.

    Raises
    ------
    InputError
        If a finite one becomes infinite.
    """
    with np.errstate(over="ignore"):
        rounded = (values if scale is None else scale.apply(values)).astype(kind)
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
    scale: Scale | None = None,
) -> NDArray[Any]:
    """Return numbers in a precision; refuse those that it cannot tell apart."""
    rounded = held(values, kind, columns, where, scale)
    digits = values.dtype.itemsize * 8 - 1 if values.dtype.kind in "iu" else 0
    every = np.can_cast(values.dtype, kind) and digits <= np.finfo(kind).nmant + 1  # holds every value of the type
    if scale is None and every:
        return rounded
    units = np.ones(values.shape[1]) if scale is None else scale.spread
    changed = _moved(values, rounded).any(axis=0) if scale is None else np.isfinite(units)
    for column in np.flatnonzero(changed).tolist():
        finite = np.isfinite(values[:, column])
        of_column = values[finite, column], rounded[finite, column]
        _refuse_lost(name, _named(columns, column), *of_column, None if scale is None else float(units[column]))
    return rounded


def _moved(values: NDArray[Any], rounded: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers are not the same after rounding."""
    if values.dtype.kind not in "iu":
        return np.not_equal(rounded, values)
    with np.errstate(invalid="ignore"):  # the largest are rounded to one that the integers lack
        return np.not_equal(rounded.astype(values.dtype), values)


def _named(columns: Sequence[str], column: int) -> str:
    return repr(columns[column]) if len(columns) else str(column)


def _refuse_lost(
    name: str, column: str, values: NDArray[Any], rounded: NDArray[Any], unit: float | None = None
) -> None:
    """Refuse a column of finite numbers if rounding takes too much of it, or of its regimes.

    Parameters
    ----------
    name, column
        Names of the numbers and of their column in messages.
    values
        The numbers.
    rounded
        The same after rounding.
    unit
        Number by which they were divided before they were rounded; None if they were not scaled.
    """
    kind = rounded.dtype.type
    different, first = np.unique(values, return_index=True)
    steps = np.spacing(np.abs(rounded[first])).astype(np.float64) * (unit or 1)
    moved = np.ones(len(different), bool) if unit else _moved(different, rounded[first])
    after, count = len(np.unique(rounded)), len(different)
    whole = 2 * int(_whole(different[moved]).sum()) > int(moved.sum())
    low, high = _bulk(count)
    # Differences like rounding errors of a computation in double precision, which it holds apart, need not be kept
    errors = not whole and (kind is np.float32 or after == count)
    least = ROUNDING * max(abs(float(different[low])), abs(float(different[high]))) if errors else -1.0
    merged = not unit and (name == "labels" or kind is np.float64) and whole and after < count
    spacing = max(steps[low], steps[high])
    if not merged:
        lost, spread = 0.0, float(_apart(different[[low]], different[[high]])[0]) / OF_NORMAL
        if moved.sum() > FEW * count and count > 1 and spread > least:
            lost = _lost(spread, spacing, values[np.sort(first)])
        if lost <= LOST.get(name, LOST_OF_VALUES):
            near = moved & _lost_in_regimes(different, steps, LOST.get(name, LOST_OF_REGIME), least)
            if near.sum() < max(1, TRIMMED * count):
                return
            spacing = steps[near].max()
    remedy = f"subtract an offset, or {'number them from 0' if whole and name == 'labels' else 'rescale them'}"
    if unit:
        remedy = "an outlier decides the scale: correct or drop it"
    text = f"{name} differ by less than {PRECISION[kind]} precision can represent: {remedy}"
    if after < (1 - FEW) * count:
        raise InputError(f"{text} (the {count} values of column {column} become {after})")
    raise InputError(f"{text} (those of column {column} are rounded to multiples of {spacing:g})")


def _whole(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers are whole."""
    if values.dtype == object:
        return np.array([value == value.to_integral_value() for value in values], bool)
    return np.equal(np.mod(values, 1), 0)


def _lost_in_regimes(different: NDArray[Any], steps: Doubles, limit: float, least: float) -> NDArray[np.bool_]:
    """Return which of a column's different values, ascending, rounding takes from the others of their regime.

    A regime is a group of values that are much nearer to each other than to those on either side. Groups are found for
    every distance that may be too small: their values are linked by gaps of up to so many steps of rounding.

    Parameters
    ----------
    different, steps
        The values, and the distance between neighbours in the precision at each.
    limit
        Maximum part of the spread of a regime that rounding may take.
    least
        Spread up to which nothing need be kept; negative if all must be.
    """
    fewest = FEWEST_OF_REGIME - 1
    tightest = _apart(different[:-fewest], different[fewest:])
    if not (np.maximum(steps[:-fewest], steps[fewest:]) > limit * tightest / OF_NORMAL).any():
        return np.zeros(len(different), bool)  # a regime that loses as much has such values at one of its ends
    gaps = np.r_[np.inf, _apart(different[:-1], different[1:]), np.inf]
    in_steps = np.r_[np.inf, gaps[1:-1] / np.maximum(steps[:-1], steps[1:]), np.inf]
    found, ends = np.zeros(len(different), bool), np.arange(len(gaps))
    for link in 2.0 ** np.arange(math.log2(APART * OF_NORMAL / limit) + 1):
        ends = ends[in_steps[ends] > link]
        starts, stops = ends[:-1], ends[1:]
        counts = stops - starts
        outer = _outer(counts)
        low, high = starts + outer, stops - 1 - outer
        spread = _apart(different[low], different[high])
        apart = np.minimum(gaps[starts], gaps[stops]) > APART * spread
        lost = np.maximum(steps[low], steps[high]) > limit * spread / OF_NORMAL
        kept = (counts < FEWEST_OF_REGIME) | (spread <= OF_NORMAL * least)
        found |= np.repeat(apart & lost & ~kept, counts)
    return found


def _apart(low: NDArray[Any], high: NDArray[Any]) -> Doubles:
    """Return differences of numbers, exact for integers of 64 bits, too."""
    if low.dtype.kind in "iu":
        low, high = low.astype(np.uint64), high.astype(np.uint64)  # modulo 2^64, as is their difference
    with np.errstate(over="ignore"):
        return (high - low).astype(np.float64)


def _outer(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many of ascending values may be outliers at either end."""
    return np.where(counts >= FEWEST, np.ceil(TRIMMED * (counts - 1)), 0).astype(np.int64)


def _bulk(count: int) -> tuple[int, int]:
    """Return the places of the ends of the bulk of ascending values."""
    outer = int(_outer(np.array(count)))
    return outer, count - 1 - outer


def _lost(spread: float, spacing: float, in_order: NDArray[Any]) -> float:
    """Return the part of a column's typical differences that rounding takes.

    Parameters
    ----------
    spread
        Standard deviation of the bulk of the different values.
    spacing
        Distance between neighbours in the precision.
    in_order
        The different values in the order of their rows.
    """
    step = float(np.median(np.abs(np.diff(in_order.astype(np.float64)))))
    of_steps = min(1.0, spacing / step) if step else 1.0
    return math.sqrt(spacing / spread * of_steps) if spread else math.inf
