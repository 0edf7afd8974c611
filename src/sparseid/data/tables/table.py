"""A table of numbers with names and ids, and its checks: the same for files and arrays in memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseid.data.sparse import dense, sparse_fault
from sparseid.data.tables.names import check_present, counted, doubled, others, texts_of
from sparseid.data.tables.numbers import SHOWN, TRUTHS, array_of, number_of, refusal
from sparseid.data.tables.precision import Singles, check_exact, double_precision, doubtful, marks_of, single_precision
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
        Name -> (rows,) text of further columns, such as labels; empty where one is missing.
    lines
        (rows,) line of each row in its file; None if it has no lines.
    remarks
        Lines for a run's log: what was taken for names or ids without being named so.

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
    remarks: tuple[str, ...] = ()

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
            array = array_of(dense(values))
        except (TypeError, ValueError) as error:
            raise InputError(f"the values are not numbers ({error})") from error
        if array.ndim != 2:
            raise InputError(f"the values are of shape {array.shape}, not a table of rows and features")
        of_rows, named = (
            texts_of(what, counted(range(size)) if given is None else given)
            for what, given, size in zip(("ids of rows", "names"), (ids, names), array.shape, strict=True)
        )
        texts = {name: texts_of(f"column {name!r}", column) for name, column in (columns or {}).items()}
        for what, found in (("names", named), ("ids of rows", of_rows), *texts.items()):
            if found.ndim != 1:
                raise InputError(f"its {what} are of shape {found.shape}, not a list")
        known = named.tolist() if len(named) == array.shape[1] else []
        return cls(double_precision("the values", array, known), named, of_rows, texts)

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
        if (unnamed := self.names == "").any():
            raise InputError(f"column {int(unnamed.argmax()) + 1} has no name: give it one")
        if (unnamed := self.ids == "").any():
            raise InputError(f"{self.where(int(unnamed.argmax()))} has no id: give it one")
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
        known = "" if self.ids[row] in ("", str(row + 1)) else f" ({str(self.ids[row])[:SHOWN]!r})"
        return f"row {row + 1}{known}"

    def place(self, row: int, column: int) -> str:
        """Return the place of a value: its row and the name of its column."""
        return f"{self.where(row)}, column {str(self.names[column])!r}"

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return one of the further columns as finite numbers (rows,); truths, and nothing else, are 1 and 0.

        Raises
        ------
        InputError
            If a value is not a finite number.
        """
        numbers, texts = np.empty(len(self.ids)), self.columns[name].tolist()
        if {text.casefold() for text in texts} <= set(TRUTHS):
            return np.array([TRUTHS[text.casefold()] for text in texts])
        for row, text in enumerate(texts):
            numbers[row] = number_of(text)
            if not math.isfinite(numbers[row]):
                raise InputError(f"{self.where(row)}, column {name!r}: {refusal(text)}")
        if (marks := marks_of(texts)) is not None and doubtful(numbers, marks):
            check_exact(repr(name), texts)
        return numbers

    def classes(self, name: str) -> NDArray[np.str_]:
        """Return one of the further columns as names (rows,), such as those of environments.

        Raises
        ------
        InputError
            If one is missing.
        """
        check_present(f"column {name!r}", self.columns[name], self.where)
        return self.columns[name]

    def singles(self, scale: Scale | None = None) -> Singles:
        """Return the values (rows, features), scaled or as they are, in single precision.

        Raises
        ------
        InputError
            If a value is too large for it, or the values of a column differ by too little.
        """
        return single_precision("values", self.values, self.names.tolist(), self.where, scale)
