"""Tables of users: values, ids of rows and names of features, from csv, parquet, npz and h5ad files (no torch).

The same checks hold for arrays in memory: build a `Table` from them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sparseid.data.cache import DAMAGED
from sparseid.data.h5 import open_h5
from sparseid.data.paths import unusable
from sparseid.errors import InputError
from sparseid.spelling import did_you_mean
from sparseid.streams import FIXED
from sparseid.text import open_text, records_of

if TYPE_CHECKING:
    import pandas as pd

FORMATS = """\
csv, tsv   a line of names, then a line per row; the first column may hold ids of the rows
parquet    a column per feature, the index may hold ids
npz        X (rows, features); optional row_ids and feature_names; further columns by their names
h5ad       X or a layer; ids and further columns from obs, names from var"""
"""Files that are read, for messages and documentation."""

ENDINGS = {"csv": "csv", **dict.fromkeys(("tsv", "txt", "tab"), "tsv"), "npz": "npz", "h5ad": "h5ad"}
ENDINGS |= dict.fromkeys(("parquet", "pq"), "parquet")
"""Ending of a file's name, before .gz -> its format."""
ID_NAMES = ("", "id", "ids", "index", "unnamed: 0")
"""Names of a first column that holds ids, whatever its values."""
ROW_IDS, FEATURE_NAMES = "row_ids", "feature_names"
"""Arrays of an npz file with the ids of its rows and the names of its columns."""
LISTED = 10
"""Maximum number of names in a message."""
SHOWN = 40
"""Maximum number of characters of a value in a message."""

COARSE = {"labels": 1e-5}
"""Distance of single-precision numbers, relative to the standard deviation of a column, above which it is coarse."""
COARSE_VALUES = 1e-3
"""The same for values that are not compared with each other."""
LAST_WHOLE = 2**24
"""Single precision holds all whole numbers up to this one."""
MERGED = 0.01
"""Fraction of a column's values that may become equal; by chance some of many always do."""

Singles = NDArray[np.float32]


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
        try:
            numbers = np.asarray(values.toarray() if hasattr(values, "toarray") else values, np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"the values are not numbers ({error})") from error
        if numbers.ndim != 2:
            raise InputError(f"the values are of shape {numbers.shape}, not a table of rows and features")
        counted = [np.arange(1, size + 1) for size in numbers.shape]
        texts = {name: np.asarray(column).astype(np.str_) for name, column in (columns or {}).items()}
        return cls(
            numbers,
            np.asarray(counted[1] if names is None else names).astype(np.str_),
            np.asarray(counted[0] if ids is None else ids).astype(np.str_),
            texts,
        )

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
            raise InputError(f"{text}, {_others(int((~finite).sum()))}: fill them, or drop their rows or columns")
        if twice := _doubled(self.ids):
            first, second = (self.where(row) for row in twice)
            raise InputError(
                f"the id {str(self.ids[twice[0]])!r} occurs twice, in {first} and {second}: make ids unique"
            )
        if twice := _doubled(self.names):
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
        numbers = np.empty(len(self.ids))
        for row, text in enumerate(self.columns[name].tolist()):
            numbers[row] = number_of(text)
            if not math.isfinite(numbers[row]):
                raise InputError(f"{self.where(row)}, column {name!r}: {_refusal(text)}")
        return numbers

    def singles(self) -> Singles:
        """Return the values (rows, features) in single precision.

        Raises
        ------
        InputError
            If a value is too large for it, or it would make too many values of a column equal.
        """
        return single_precision("values", self.values, self.names.tolist(), self.where)


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


def read_table(
    path: str | Path,
    columns: Sequence[str] = (),
    ids: str = "",
    matrix: str = "",
    keys: tuple[str, ...] = ("data.path",),
) -> Table:
    """Read the table of a file; read once for all runs of a sweep.

    Parameters
    ----------
    path
        A file of one of `FORMATS`.
    columns
        Names of columns that are not features, such as labels; they may hold text.
    ids
        Name of the column of ids; empty for the first column of a csv file if it is named like one (`ID_NAMES`) or
        holds no number, and for the ids of the other formats.
    matrix
        Array of an npz file; layer of an h5ad file (or ``raw``, or ``obsm/NAME``). Empty for ``X``, or for the only
        table of an npz file.
    keys
        Settings at fault if the file cannot be used.

    Raises
    ------
    InputError
        If the file cannot be read, or is not a table of finite numbers with unique ids and names; the message has the
        file, row and column.
    """
    path = Path(path)
    if reason := unusable(path):
        raise InputError(f"{path} {reason}", keys)
    status = path.stat()
    version = status.st_mtime_ns, status.st_size, status.st_ino
    try:
        return _read(path, version, tuple(columns), ids, matrix, keys)
    except InputError as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}", keys) from error


@functools.lru_cache(maxsize=2)
def _read(
    path: Path, version: tuple[int, ...], columns: tuple[str, ...], ids: str, matrix: str, keys: tuple[str, ...]
) -> Table:
    kind = kind_of(path)
    if not kind:
        raise InputError(f"its ending is none of a table's; it can be\n{FORMATS}")
    if matrix and kind not in ("npz", "h5ad"):
        raise InputError(f"a {kind} file has no matrices to choose from: leave {matrix!r} out")
    if kind == "npz":
        return _from_npz(path, columns, ids, matrix)
    if kind == "h5ad":
        return _from_h5ad(path, columns, ids, matrix, keys)
    if kind == "parquet":
        return _from_parquet(path, columns, ids)
    return _from_text(path, kind, columns, ids, keys)


def kind_of(path: Path) -> str:
    """Return the format of a file by its ending, csv, tsv, parquet, npz or h5ad; empty for another ending.

    Examples
    --------
    >>> kind_of(Path("cells.tab.gz")), kind_of(Path("cells.xlsx"))
    ('tsv', '')
    """
    return ENDINGS.get(path.name.lower().removesuffix(".gz").rpartition(".")[2], "")


# text


def _from_text(path: Path, kind: str, columns: Sequence[str], ids: str, keys: tuple[str, ...]) -> Table:
    with text_records(path, kind, keys) as found:
        return _of_records(found, columns, ids)


@contextmanager
def text_records(path: Path, kind: str, keys: tuple[str, ...] = ()) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Open a csv or tsv file, and yield the line and the fields of its records; the first one has the names.

    Raises
    ------
    InputError
        If it cannot be read as text, or its quotes do not match.
    """
    with open_text(path, keys) as file:
        start: list[str] = []
        for line in file:  # up to the names
            start.append(line)
            if line.strip():
                break
        try:
            yield _records(chain(start, file), _separator("".join(start), kind))
        except ValueError as error:  # of quotes
            raise InputError(f"{error}: close them, or double quotes within a field") from error


def _separator(first: str, kind: str) -> str:
    """Return the separator of a first line: that of the format, unless another one occurs and it does not."""
    usual = "," if kind == "csv" else "\t"
    return next((one for one in (usual, "\t", ";", ",") if one in first), usual)


def _records(lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    if separator == ",":
        yield from records_of(lines, separator)
        return
    for number, fields in records_of(lines, separator):
        yield number, [_unquoted(part) for part in fields]


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _of_records(records: Iterator[tuple[int, list[str]]], columns: Sequence[str], ids: str) -> Table:
    start, header = next(records, (1, []))
    header = [name.strip() for name in header]
    check_header(header, start)
    known = {name: position_of(header, name) for name in (*columns, *([ids] if ids else []))}
    first_may_be_ids = not ids and 0 not in known.values()
    features = [column for column in range(len(header)) if column not in known.values()]
    numbers = features[1:] if first_may_be_ids else features  # the first column is decided at the end
    lines, leading, rows = [], [], []
    texts: dict[str, list[str]] = {name: [] for name in known}
    for line, fields in records:
        check_width(line, fields, header)
        lines.append(line)
        leading.append(fields[0])
        rows.append(_row(fields, numbers, header, line))
        for name, column in known.items():
            texts[name].append(fields[column].strip())
    if not rows:
        raise InputError("it has a line of names, and no rows")
    values = np.stack(rows)
    found = texts[ids] if ids else _counted(rows)
    names = [header[column] for column in numbers]
    if first_may_be_ids:
        if header[0].casefold() in ID_NAMES or all(math.isnan(number_of(text)) for text in leading):
            found = [text.strip() for text in leading]
        else:
            one = [_row([text], [0], header, line) for text, line in zip(leading, lines, strict=True)]
            values, names = np.concatenate([np.stack(one), values], axis=1), [header[0], *names]
    return Table(
        values,
        np.array(names, np.str_),
        np.array(found, np.str_),
        {name: np.array(texts[name], np.str_) for name in columns},
        np.array(lines),
    )


def check_width(line: int, fields: Sequence[str], header: Sequence[str]) -> None:
    """Raise an `InputError` if a line has not as many fields as there are names."""
    if len(fields) != len(header):
        text = f"line {line} has {len(fields)} fields, the line of names {len(header)}"
        raise InputError(f"{text}: correct it, or quote text that contains the separator")


def check_header(header: Sequence[str], line: int) -> None:
    """Raise an `InputError` if a line is none of different names."""
    if not any(header):
        raise InputError("it is empty: it needs a line of names, and a line per row")
    names = [number_of(name) for name in header if name]
    counted = [[float(number) for number in range(start, start + len(names))] for start in (0, 1)]
    if not any(math.isnan(number) for number in names) and names not in counted:
        raise InputError(f"line {line} holds numbers, where the names of the columns belong: add a line of names")
    if unnamed := [column for column, name in enumerate(header) if column and not name]:
        raise InputError(f"column {unnamed[0] + 1} has no name in line {line}: name it, or remove it")
    if twice := _doubled(np.array(header, np.str_)):
        numbers = " and ".join(str(column + 1) for column in twice)
        raise InputError(f"the columns {numbers} are both named {header[twice[0]]!r}: make names unique")


def _row(fields: Sequence[str], columns: Sequence[int], header: Sequence[str], line: int) -> NDArray[np.float64]:
    """Return the numbers in some columns of a line."""
    if not columns:
        return np.empty(0)
    chosen = itemgetter(*columns)(fields)
    texts = (chosen,) if isinstance(chosen, str) else chosen
    try:
        if "_" not in "".join(texts):  # which float() takes for a separator of thousands
            numbers = np.fromiter(map(float, texts), np.float64, len(texts))
            if np.isfinite(numbers).all():
                return numbers
    except ValueError:
        pass
    column, text = next(
        (column, text) for column, text in zip(columns, texts, strict=True) if not math.isfinite(number_of(text))
    )
    raise InputError(f"line {line}, column {header[column]!r}: {_refusal(text)}")


def number_of(text: str) -> float:
    """Return the number that a text is; NaN if it is none."""
    try:
        return float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


def _refusal(text: str) -> str:
    """Return why a text is not a finite number, and the remedy."""
    text = text.strip()
    if not text or text.casefold() in ("na", "nan", "n/a", "null", "none", "-"):
        return f"{'the value' if not text else repr(text)} is missing: fill it, or drop the row or column"
    if math.isinf(number_of(text)):
        return f"{text} is infinite: replace it"
    comma = ": write decimals with a point" if not math.isnan(number_of(text.replace(",", ".", 1))) else ""
    return f"{text[:SHOWN]!r} is not a number{comma or '; columns of text are named in the settings, or dropped'}"


# other formats


def _from_parquet(path: Path, columns: Sequence[str], ids: str) -> Table:
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:  # of pyarrow
        raise InputError(f"it cannot be read as parquet ({str(error).splitlines()[0]})") from error
    return table_of_frame(frame, columns, ids)


def table_of_frame(frame: pd.DataFrame, columns: Sequence[str] = (), ids: str = "") -> Table:
    """Return the table of a data frame; its index holds the ids unless it only counts the rows.

    Parameters
    ----------
    frame
        A row per sample.
    columns, ids
        As for `read_table`.

    Raises
    ------
    InputError
        As of `Table`; also if a column is missing or does not hold numbers.
    """
    import pandas as pd

    names = [str(name) for name in frame.columns]
    frame = frame.set_axis(names, axis=1)
    known = [names[position_of(names, name)] for name in (*columns, *([ids] if ids else []))]
    counted = isinstance(frame.index, pd.RangeIndex)
    found = np.asarray(frame[ids] if ids else _counted(frame) if counted else frame.index).astype(np.str_)
    numbers = [place for place, name in enumerate(names) if name not in known]
    values = np.empty((len(frame), len(numbers)))
    for position, place in enumerate(numbers):
        column = frame.iloc[:, place]
        if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)):
            texts = [str(value) for value in column]
            wrong = next((row for row, text in enumerate(texts) if not math.isfinite(number_of(text))), 0)
            raise InputError(f"row {wrong + 1}, column {names[place]!r}: {_refusal(texts[wrong])}")
        values[:, position] = column.to_numpy(np.float64, na_value=np.nan)
    texts_of = {name: np.asarray(frame[name].astype(str), np.str_) for name in columns}
    return Table(values, np.array([names[place] for place in numbers], np.str_), found, texts_of)


def _from_npz(path: Path, columns: Sequence[str], ids: str, matrix: str) -> Table:
    try:
        loaded = np.load(path, allow_pickle=False)
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            raise InputError("it holds one array without a name; numpy.savez saves several by name")
        with loaded as file:
            arrays = {name: file[name] for name in file.files}
    except DAMAGED as error:
        pickled = "allow_pickle" in str(error) and not isinstance(error, BadZipFile)
        text = "it is no npz file, or has pickled objects, which are refused: save arrays of numbers with numpy.savez"
        raise InputError(text if pickled else "it is not a complete npz file") from error
    tables = [name for name, values in arrays.items() if values.ndim == 2]
    chosen = matrix or ("X" if "X" in arrays else tables[0] if len(tables) == 1 else "")
    if chosen not in arrays:
        wanted = f"no array {chosen!r}" if chosen else "no array X, and not exactly one table"
        raise InputError(f"it has {wanted} (arrays: {_listed(arrays)}); name one with data.matrix")
    values = arrays[chosen]
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise InputError(f"its {chosen} is {values.dtype} {values.shape}, not a table of numbers with samples in rows")
    known = {name: _one_per_row(arrays, name) for name in columns}
    rows = _one_per_row(arrays, ids) if ids else arrays.get(ROW_IDS)
    return Table.of(values, arrays.get(FEATURE_NAMES), rows, known)


def _one_per_row(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    values = arrays[[*arrays][position_of([*arrays], name, "array")]]
    if values.ndim != 1:
        raise InputError(f"its {name} is of shape {values.shape}, not one value per row")
    return values


def _from_h5ad(path: Path, columns: Sequence[str], ids: str, matrix: str, keys: tuple[str, ...]) -> Table:
    from anndata.io import read_elem  # takes a second to import

    with open_h5(path, keys) as file:
        if "obs" not in file or "encoding-type" not in file["obs"].attrs:
            raise InputError("it has not the layout of anndata 0.7 or later: read it and write it again with anndata")
        place = {"": "X", "X": "X", "raw": "raw/X"}.get(matrix, matrix if "/" in matrix else f"layers/{matrix}")
        if place not in file or file[place].attrs.get("encoding-type") == "null":
            layers = [f"layers/{name}" for name in file.get("layers", ())]
            others = [name for name in ("X", "raw/X", *layers) if name in file]
            raise InputError(f"it has no {place} (matrices: {_listed(others)}); name one with data.matrix")
        obs, values = read_elem(file["obs"]), read_elem(file[place])
        names = None if place.startswith("obsm/") else read_elem(file["raw/var" if place == "raw/X" else "var"]).index
    known = {name: obs[obs.columns[position_of([*obs.columns], name)]] for name in columns}
    found = obs[obs.columns[position_of([*obs.columns], ids)]] if ids else obs.index
    return Table.of(values, names, found, known)


def _counted(rows: Sized) -> list[str]:
    """Return the numbers of rows, from 1, as their ids."""
    return [str(number) for number in range(1, len(rows) + 1)]


def split_rows(rows: int, held_out: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the training rows and the held-out fraction, each ascending: chosen at random, the same for every seed.

    Examples
    --------
    >>> [len(part) for part in split_rows(1005, 0.2)]
    [804, 201]
    """
    order = FIXED.numpy("tables/split", rows).permutation(rows)
    test = round(rows * held_out)
    return np.sort(order[test:]), np.sort(order[:test])


class Scale(NamedTuple):
    """Mean and spread of columns over the training rows.

    Attributes
    ----------
    mean, spread
        (features,); the spread of a constant column is infinite.
    """

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.float64], training: NDArray[np.int64]) -> Scale:
        """Return the scale of the training rows of values (rows, features)."""
        mean, spread = values[training].mean(axis=0), values[training].std(axis=0)
        return cls(mean, np.where(spread > 1e-9 * np.abs(mean), spread, np.inf))  # less is rounding

    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return columns with mean 0 and standard deviation 1 over the training rows; constant columns become 0."""
        return (values - self.mean) / self.spread

    def undo(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scaled values in their own units."""
        return values * np.where(np.isfinite(self.spread), self.spread, 0) + self.mean


def scaled(values: NDArray[np.float64], training: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return columns with mean 0 and standard deviation 1 over the training rows; constant columns become 0."""
    return Scale.of(values, training).apply(values)


# messages


def position_of(names: Sequence[str], wanted: str, what: str = "column") -> int:
    """Return the number of a column; the error for an unknown one suggests the nearest names."""
    if wanted in names:
        return list(names).index(wanted)
    hint = did_you_mean(wanted, [str(name) for name in names]) or f"{what}s: {_listed(names)}"
    raise InputError(f"it has no {what} {wanted!r}; {hint}")


def _listed(names: Iterable[str]) -> str:
    every = [str(name) for name in names]
    more = len(every) - LISTED
    return (", ".join(every[:LISTED]) or "none") + (f" and {more} more" if more > 0 else "")


def _others(count: int) -> str:
    return "the only one" if count == 1 else f"the first of {count}"


def _doubled(names: NDArray[np.str_]) -> tuple[int, int] | None:
    """Return the positions of the first name that occurs a second time, or None."""
    if len(np.unique(names)) == len(names):
        return None
    seen: dict[str, int] = {}
    for position, name in enumerate(names.tolist()):
        if name in seen:
            return seen[name], position
        seen[name] = position
    return None
