"""Names of columns, ids of rows and classes: their text, search, duplicates, and lists of them in messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseid.data.tables.numbers import array_of, is_missing, says_missing, shown
from sparseid.errors import InputError
from sparseid.spelling import did_you_mean

LISTED = 10
"""Maximum number of names in a message."""


def counted(rows: Sized) -> list[str]:
    """Return the numbers of rows, from 1, as their ids."""
    return [str(number) for number in range(1, len(rows) + 1)]


def position_of(names: Sequence[str], wanted: str, what: str = "column") -> int:
    """Return the number of a column; the error for an unknown one suggests the nearest names."""
    if wanted in names:
        return list(names).index(wanted)
    hint = did_you_mean(wanted, [str(name) for name in names]) or f"{what}s: {listed(names)}"
    raise InputError(f"it has no {what} {wanted!r}; {hint}")


def listed(names: Iterable[str]) -> str:
    """Return at most `LISTED` names for a message, and the number of the others."""
    every = [str(name) for name in names]
    more = len(every) - LISTED
    return (", ".join(every[:LISTED]) or "none") + (f" and {more} more" if more > 0 else "")


def others(count: int) -> str:
    """Return how many values are like the first one, for a message."""
    return "the only one" if count == 1 else f"the first of {count}"


def doubled(names: NDArray[np.str_]) -> tuple[int, int] | None:
    """Return the positions of the first name that occurs a second time, or None."""
    if len(np.unique(names)) == len(names):
        return None
    seen: dict[str, int] = {}
    for position, name in enumerate(names.tolist()):
        if name in seen:
            return seen[name], position
        seen[name] = position
    return None


def texts_of(what: str, values: Any) -> NDArray[np.str_]:
    """Return names, ids or classes as text, empty where one is missing; bytes are read as UTF-8.

    Parameters
    ----------
    what
        Name of the values in messages.
    values
        A list, an array, or a series or index of pandas.

    Raises
    ------
    InputError
        If one is a list or another collection, bytes are not UTF-8, or a text ends with a NUL character, without which
        it would be another.

    Examples
    --------
    >>> texts_of("ids", ["a", 1, None, b"c"]).tolist()
    ['a', '1', '', 'c']
    """
    if hasattr(values, "isna") and values.dtype != object:  # pandas knows how its types are written
        found = np.where(values.isna(), "", np.asarray(values.astype(str), object))
    else:
        found = array_of(values)
        if found.dtype.kind in "Uiub":
            return found.astype(np.str_)
    texts = np.empty(found.shape, object)
    for place, value in np.ndenumerate(found):
        texts[place] = text = _text_of(what, place[0] if place else 0, value)
        if text.endswith("\0"):
            raise InputError(f"{what}, row {place[0] + 1}: {text!r} ends with a NUL character: remove it")
    return texts.astype(np.str_)


def _text_of(what: str, row: int, value: Any) -> str:
    if isinstance(value, list | dict | set | np.ndarray):
        kind = "list" if isinstance(value, np.ndarray) else type(value).__name__
        raise InputError(f"{what}, row {row + 1}: the value is a {kind}: give every row one text or number")
    if is_missing(value):
        return ""
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{what}, row {row + 1}: the bytes {shown(value)} are not UTF-8: save text as str") from error


def check_present(what: str, texts: NDArray[np.str_], where: Callable[[int], str]) -> None:
    """Refuse classes, such as environments, of which one is missing: it is no class of its own.

    Parameters
    ----------
    what
        Name of the classes in messages.
    texts
        (rows,) of `texts_of`.
    where
        Returns the place of a row in messages.

    Raises
    ------
    InputError
        If one is empty, or stands for a missing value (`says_missing`).
    """
    if (missing := np.isin(texts, [name for name in set(texts.tolist()) if says_missing(name)])).any():
        row, text = int(missing.argmax()), str(texts[missing.argmax()])
        said = f"{text!r} stands for a missing value" if text.strip() else "it is missing"
        remedy = "fill it, or drop the row" + ("; if it is a name, write it differently" if text.strip() else "")
        raise InputError(f"{where(row)}, {what}: {said} ({others(int(missing.sum()))}): {remedy}")
