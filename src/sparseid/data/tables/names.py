"""Names of columns and ids of rows: their search, duplicates, and lists of them in messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized

import numpy as np
from numpy.typing import NDArray

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
