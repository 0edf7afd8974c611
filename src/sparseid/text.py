"""Text files of users: one way to read tables, titles, JSON, presets and masks (standard library only).

Text is UTF-8 and has no NUL bytes, at which other programs end it. Byte order marks are no part of it, wherever they
are: joined files have some within. Lines end at a newline (that of Unix, Windows or an old Macintosh) and nowhere else:
not at U+2028, a form feed or 0x85, as for `str.splitlines`. A newline within quotes belongs to its field.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from sparseid.errors import InputError

MARKS = {codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}
"""Byte order marks of encodings that are refused, UTF-32 before the UTF-16 that begins like it."""

OTHER = {
    b"\x1f\x8b": "is compressed with gzip: let its name end with .gz, or unpack it",
    b"PK\x03\x04": "is a zip archive, as spreadsheets are: save the table as text",
}
"""First bytes of files that are not text -> what they are, and the remedy."""

QUOTING = (",", ";", "\t")
"""Separators of formats in which a quoted field may contain them."""
LONGEST = 2**31 - 1
"""Maximum number of characters of a field that Python's csv takes on every system."""
SHOWN = 40
"""Maximum number of characters of a field in a message."""
QUOTED = re.compile(r'"((?:[^"]|"")*+)"(?=\t|\Z)')
"""A quoted field between tabs."""

WESTERN = "sparseid.western"
"""Error handler of decoders: bytes that are not UTF-8 are read as Windows-1252, which contains Latin-1's letters."""


def _western(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    part = error.object[error.start : error.end]
    try:
        return part.decode("cp1252"), error.end
    except UnicodeDecodeError:  # five bytes have no letter there
        return part.decode("latin-1"), error.end


codecs.register_error(WESTERN, _western)


@contextmanager
def open_text(path: Path, keys: tuple[str, ...] = (), western: bool = False) -> Iterator[TextIO]:
    """Open a file, possibly gzipped, for reading; errors while it is read within the context name it.

    Parameters
    ----------
    path
        The file.
    keys
        Settings at fault if it cannot be read.
    western
        Read bytes that are not UTF-8 as Windows-1252 (for files whose numbers count, and whose texts are only names)
        instead of refusing them.

    Raises
    ------
    InputError
        If the file cannot be read, is not UTF-8, or has a NUL byte.
    """
    try:
        with _opened(path) as file:
            start = file.read(len(codecs.BOM_UTF32_LE))
            if encoding := next((name for mark, name in MARKS.items() if start.startswith(mark)), ""):
                raise InputError(f"{path} is {encoding}: save it as UTF-8", keys)
            if fault := next((fault for first, fault in OTHER.items() if start.startswith(first)), ""):
                raise InputError(f"{path} {fault}", keys)
            file.seek(0)
            with io.TextIOWrapper(io.BufferedReader(_Clean(file)), "utf-8", WESTERN if western else "strict") as text:
                yield text
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({other_byte(path)}): save it as UTF-8", keys) from error
    except _NulError as error:
        with _opened(path) as file:
            content = file.read()
        line = _line_at(content, content.index(b"\0"))
        remedy = "it is damaged, or not UTF-8: copy it again, or save it as UTF-8"
        raise InputError(f"{path} has a NUL byte in line {line}: {remedy}", keys) from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}", keys) from error


def _opened(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


_BEGUN_MARKS = tuple(codecs.BOM_UTF8[:length] for length in (2, 1, 0))


class _NulError(Exception):
    """A byte that is zero."""


class _Clean(io.RawIOBase):
    """Bytes of a file without UTF-8's byte order marks, up to the first NUL."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._begun = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        found = b""
        while not found and (read := self._file.read(len(buffer) - len(self._begun))):
            if b"\0" in read:
                raise _NulError
            found = (self._begun + read).replace(codecs.BOM_UTF8, b"")
            self._begun = next(mark for mark in _BEGUN_MARKS if found.endswith(mark))  # its end may be read next
            found = found.removesuffix(self._begun)
        if not found:
            found, self._begun = self._begun, b""
        buffer[: len(found)] = found
        return len(found)


def other_byte(path: Path) -> str:
    """Return the first byte that is not UTF-8 and its line (``byte 0xf6 in line 3``); empty if there is none."""
    with _opened(path) as file:
        content = file.read()
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte 0x{content[error.start]:02x} in line {_line_at(content, error.start)}"
    return ""


def _line_at(content: bytes, place: int) -> int:
    """Return the number of the line of a byte."""
    return content[:place].replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1


def read_text(path: Path, keys: tuple[str, ...] = (), western: bool = False) -> str:
    """Return the text of a file, without byte order marks and with Unix newlines; see `open_text`."""
    with open_text(path, keys, western) as file:
        return file.read()


def read_json(path: Path, keys: tuple[str, ...] = ()) -> Any:
    """Return what a JSON file holds.

    Raises
    ------
    InputError
        As of `open_text`, and if the file is not JSON, with the place.
    """
    text = read_text(path, keys)
    try:
        return parsed_json(text)
    except ValueError as error:
        raise InputError(f"{path} cannot be read as JSON ({error})", keys) from error


def parsed_json(text: str | bytes) -> Any:
    """Return what a text in JSON holds.

    Raises
    ------
    ValueError
        If it is not JSON, an object has a name twice, or brackets are nested more deeply than Python's parser follows.

    Examples
    --------
    >>> parsed_json('{"a": [1, null]}')
    {'a': [1, None]}
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError as error:
        raise ValueError("its brackets are nested too deeply") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, whose names are all different; Python would keep the last of equal ones."""
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"an object has the name {next(name for name in names if names.count(name) > 1)!r} twice")
    return made


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text.

    Examples
    --------
    >>> lines_of("a\u2028b\x0cc\nd\n")
    ['a\u2028b\x0cc', 'd']
    """
    return text.removesuffix("\n").split("\n") if text else []


def records_of(text: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the number of its first line and the fields of each record of a table; blank lines are skipped.

    Parameters
    ----------
    text
        Lines with their newlines, such as an open file.
    separator
        A comma, semicolon or tab: fields that begin and end with quotes may contain it, with quotes doubled within.
        Others separate fields without quotes. Between tabs other quotes are part of a field, and a line ends a row.

    Raises
    ------
    ValueError
        If a quote is not closed, a text follows it, or spaces come before it; the message gives the line in which its
        record begins.

    Examples
    --------
    >>> list(records_of(['1,"a, b\n', ' ""c"" d"\n', '\n', '2,e'], ","))
    [(1, ['1', 'a, b\n "c" d']), (4, ['2', 'e'])]
    >>> list(records_of(['"one"\t5"\t"5"" pipe"'], "\t"))
    [(1, ['one', '5"', '5" pipe'])]
    """
    lines, number = iter(text), 0
    for line in lines:
        number, first = number + 1, number + 1
        if separator not in QUOTING or '"' not in line:
            fields = line.rstrip("\n").split(separator)
        elif separator == "\t":
            fields = tabbed(line)
        else:
            reader = csv.reader(chain([line], lines), delimiter=separator, strict=True)
            try:
                fields = _next(reader)
            except csv.Error as error:
                fault = f"the quotes do not match ({error}): close them, or double quotes within a field"
                raise ValueError(f"line {first}: {fault}") from error
            number += reader.line_num - 1
            _check_spaces(fields, separator, line, first)
        if len(fields) > 1 or "".join(fields).strip():
            yield first, fields


def tabbed(line: str) -> list[str]:
    r"""Return the fields between the tabs of a line; see `records_of`.

    Examples
    --------
    >>> tabbed('"a\tb"\t"c\td"e\n')
    ['a\tb', '"c', 'd"e']
    """
    line, fields, place = line.rstrip("\n"), [], 0
    while place <= len(line):
        if quoted := QUOTED.match(line, place):
            fields.append(quoted[1].replace('""', '"'))
            place = quoted.end() + 1
            continue
        stop = line.find("\t", place)
        field = line[place : None if stop < 0 else stop]
        place += len(field) + 1
        fields.append(field[1:-1] if len(field) > 1 and field[0] == field[-1] == '"' else field)
    return fields


def _next(reader: Iterator[list[str]]) -> list[str]:
    """Return the next record of Python's csv, whose limit of a field's length is one for the whole process."""
    limit = csv.field_size_limit(LONGEST)
    try:
        return next(reader)
    finally:
        csv.field_size_limit(limit)


def _check_spaces(fields: Iterable[str], separator: str, line: str, number: int) -> None:
    """Refuse spaces before a quote, which then is part of its field; the same text may be quoted in `line`."""
    for field in fields:
        if field[:1].isspace() and field.lstrip()[:1] == '"' and separator + field in separator + line:
            fault = f"there are spaces before the quote of {field.strip()[:SHOWN]}"
            raise ValueError(f"line {number}: {fault}: remove them, so that it follows the separator")


def check_once(names: Sequence[str], needed: Iterable[str], line: int) -> None:
    """Refuse a table of which a needed column is there twice.

    Parameters
    ----------
    names
        Names of all columns, which are in a line of the file.
    needed
        Names of columns that are read.

    Raises
    ------
    ValueError
        If one is there twice; with its line.
    """
    if twice := [name for name in needed if names.count(name) > 1]:
        raise ValueError(f"line {line}: the column {twice[0]} is there twice: remove or rename one of them")


def table_of(text: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the line and the fields of the names and of each row of a table, all of the same number.

    Separators at the end of a line, with nothing behind them, add no field to those that have a name.

    Parameters
    ----------
    text, separator
        As for `records_of`.

    Raises
    ------
    ValueError
        As of `records_of`, and if a row has more or fewer fields than the names.

    Examples
    --------
    >>> list(table_of(["a\tb\n", "1\t2\t\n"], "\t"))
    [(1, ['a', 'b']), (2, ['1', '2'])]
    """
    names: list[str] = []
    for row, (line, fields) in enumerate(records_of(text, separator)):
        while len(fields) > max(1, len(names)) and not fields[-1].strip():
            fields.pop()
        names = names or fields
        if len(fields) != len(names):
            remedy = "correct it, or quote text that contains the separator"
            if any(first.strip().startswith("#") for first in (names[0], fields[0])):
                remedy += "; a line that begins with # is no comment here: remove it"
            elif row == 1 and len(fields) == len(names) + 1:
                remedy += "; if rows begin with their names, as R writes them, their column needs one, such as id"
            raise ValueError(f"line {line} has {len(fields)} fields, the line of names {len(names)}: {remedy}")
        yield line, fields


def as_lines(text: str) -> Iterable[str]:
    """Return the lines of a text with their newlines, for `records_of`."""
    return io.StringIO(text, newline="\n")


def visible(paths: Iterable[Path]) -> list[Path]:
    """Return the files that are not hidden, sorted: macOS leaves ``._name`` and ``.DS_Store`` next to others."""
    return sorted(path for path in paths if not path.name.startswith("."))
