"""A table of numbers with names and ids, and its checks: the same for files and arrays in memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseid.data.sparse import sparse_fault
from sparseid.data.tables.names import doubled, others
from sparseid.data.tables.numbers import SHOWN, number_of, refusal
from sparseid.data.tables.precision import LAST_WHOLE, Singles, check_integers, double_precision, single_precision
from sparseid.data.tables.rows import Scale
from sparseid.errors import InputError


@dataclass(frozen=True, eq=False)
class Table:
    """A matrix of finite numbers with the ids of its rows and the names of its columns.

    Attributes
    ----------
    values
        (rows, features) float64.
    names
        (features,) names, all different.
    ids
        (rows,) ids, all different.
    columns
        Name -> (rows,) text of further columns, such as labels.
    lines
        (rows,) line of each row in its file; None if it has no lines.

    Raises
    ------
    InputError
        If it is empty, its parts differ in length, a value is not finite, or an id or name occurs twice.

    Examples
    --------
    >>> table = Table.of([[1, 2], [3, 4]], names=["height", "weight"])
    >>> table.ids.tolist(), table.names.tolist()
    (['1', '2'], ['height', 'weight'])
    """

    values: NDArray[np.float64]
    names: NDArray[np.str_]
    ids: NDArray[np.str_]
    columns: dict[str, NDArray[np.str_]] = field(default_factory=dict)
    lines: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        values: Any,
        names: Any = None,
        ids: Any = None,
        columns: Mapping[str, Any] | None = None,
    ) -> Table:
        """Return the table of an array (rows, features); names and ids are numbers from 1 unless they are given."""
        if fault := sparse_fault(values):
            raise InputError(f"the values are no sparse matrix: {fault}")
        try:
            array = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
            array = array if array.dtype.kind in "fiubc" else array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"the values are not numbers ({error})") from error
        if array.ndim != 2:
            raise InputError(f"the values are of shape {array.shape}, not a table of rows and features")
        numbers = double_precision("the values", array, [] if names is None else [str(name) for name in names])
        counted = [np.arange(1, size + 1) for size in numbers.shape]
        texts = {name: np.asarray(column).astype(np.str_) for name, column in (columns or {}).items()}
        named, of_rows = (
            np.asarray(numbers_of if given is None else given).astype(np.str_)
            for given, numbers_of in ((names, counted[1]), (ids, counted[0]))
        )
        for what, found in (("names", named), ("ids of rows", of_rows), *texts.items()):
            if found.ndim != 1:
                raise InputError(f"its {what} are of shape {found.shape}, not a list")
        return cls(numbers, named, of_rows, texts)

    def __post_init__(self) -> None:
        rows, features = self.values.shape
        if not rows:
            raise InputError("it has no rows")
        if not features:
            raise InputError("it has no column of numbers")
        for what, found, wanted in (
            ("names", len(self.names), features),
            ("ids of rows", len(self.ids), rows),
            *((f"values of {name!r}", len(column), rows) for name, column in self.columns.items()),
        ):
            if found != wanted:
                axis = "columns" if wanted is features and what == "names" else "rows"
                raise InputError(f"it has {found} {what} for {wanted} {axis}")
        finite = np.isfinite(self.values)
        if not finite.all():
            row, column = (int(at) for at in np.argwhere(~finite)[0])
            text = f"{self.place(row, column)} is {self.values[row, column]:g}"
            raise InputError(f"{text}, {others(int((~finite).sum()))}: fill them, or drop their rows or columns")
        if twice := doubled(self.ids):
            first, second = (self.where(row) for row in twice)
            raise InputError(
                f"the id {str(self.ids[twice[0]])!r} occurs twice, in {first} and {second}: make ids unique"
            )
        if twice := doubled(self.names):
            numbers = " and ".join(str(column + 1) for column in twice)
            raise InputError(f"the columns {numbers} are both named {str(self.names[twice[0]])!r}: make names unique")

    def where(self, row: int) -> str:
        """Return the place of a row: its line in a text file, otherwise its number, from 1, and its id."""
        if self.lines is not None:
            return f"line {self.lines[row]}"
        known = "" if self.ids[row] == str(row + 1) else f" ({str(self.ids[row])[:SHOWN]!r})"
        return f"row {row + 1}{known}"

    def place(self, row: int, column: int) -> str:
        """Return the place of a value: its row and the name of its column."""
        return f"{self.where(row)}, column {str(self.names[column])!r}"

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return one of the further columns as finite numbers (rows,).

        Raises
        ------
        InputError
            If a value is not a finite number.
        """
        numbers, texts = np.empty(len(self.ids)), self.columns[name].tolist()
        for row, text in enumerate(texts):
            numbers[row] = number_of(text)
            if not math.isfinite(numbers[row]):
                raise InputError(f"{self.where(row)}, column {name!r}: {refusal(text)}")
        if (np.abs(numbers) > LAST_WHOLE).any():
            check_integers(name, texts)
        return numbers

    def singles(self, scale: Scale | None = None) -> Singles:
        """Return the values (rows, features), scaled or as they are, in single precision.

        Raises
        ------
        InputError
            If a value is too large for it, or the values of a column differ by too little.
        """
        return single_precision("values", self.values, self.names.tolist(), self.where, scale)
