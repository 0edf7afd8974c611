"""Reader of the files of a release of MovieLens, with checks of their content."""

from __future__ import annotations

import codecs
import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd

from sparseid.data.movielens.sources import KEYS, Release
from sparseid.errors import InputError

FIELDS = ("userId", "movieId", "rating", "timestamp")
"""Fields of a line of ratings; the last one is not used."""
TITLE_FIELDS = ("movieId", "title")
LISTED_GENRES = 3
"""Number of fields of a film if the last one lists its genres."""
LOWEST, HIGHEST = 0.5, 5.0
"""Range of the stars of a rating."""
LISTED = 80
"""Maximum number of characters of a line in a message."""


def read_ratings(path: Path, release: Release) -> pd.DataFrame:
    """Return the columns userId, movieId and rating of a file, checked.

    Raises
    ------
    InputError
        If it is UTF-16, has another separator or missing fields, a value is not a number or not a rating, or a user has
        rated a film twice.
    """
    separator = release.separators[0]
    _check_first_line(path, release, separator, FIELDS)
    source: Path | io.StringIO = path
    if len(separator) > 1:  # the fast parser needs one character
        source, separator = io.StringIO(_text(path)[0].replace(separator, "\t")), "\t"
    try:
        table = pd.read_csv(
            source,
            sep=separator,
            names=None if release.header else list(FIELDS),
            usecols=list(FIELDS[:3]),
            dtype={"userId": np.int32, "movieId": np.int32, "rating": np.float32},
            encoding="latin-1",
        )
    except (ValueError, OverflowError) as error:  # pandas' errors are subclasses
        layout = _layout(FIELDS, release.separators[0])
        raise InputError(f"{path}{_wrong_line(path, release)} is not {layout} in numbers ({error})", KEYS) from error
    _check_ratings(path, release, table)
    return table


def _wrong_line(path: Path, release: Release) -> str:
    """Return the number and text of the first line of ratings without three numbers."""
    separator, names = release.separators[0], list(FIELDS)
    with path.open(encoding="latin-1") as file:
        for number, line in enumerate(file, start=1):
            fields = [field.strip(' "') for field in line.removeprefix("\xef\xbb\xbf").rstrip().split(separator)]
            if number == 1 and release.header:
                names = fields
            elif line.strip():
                values = dict(zip(names, fields, strict=False))
                try:
                    int(values["userId"]), int(values["movieId"]), float(values["rating"] or "nan")
                except (ValueError, KeyError):
                    return f", line {number}: {line.strip()[:LISTED]!r}"
    return ": a line"


def _line_numbers(path: Path, release: Release, rows: tuple[int, ...]) -> list[int]:
    """Return the line numbers of rows of the table in a file; blank lines are not rows."""
    with path.open(encoding="latin-1") as file:
        full = (number for number, line in enumerate(file, start=1) if line.strip())
        return [number for row, number in enumerate(full, start=-release.header) if row in rows]


def _check_ratings(path: Path, release: Release, table: pd.DataFrame) -> None:
    if table.empty:
        raise InputError(f"{path} has no ratings", KEYS)
    stars = table["rating"].to_numpy()
    if (missing := np.isnan(stars)).any():
        (line,) = _line_numbers(path, release, (int(missing.argmax()),))
        such = f", the first of {missing.sum()} such lines" if missing.sum() > 1 else ""
        raise InputError(f"line {line} of {path} has no rating{such}: remove it, or use the file of GroupLens", KEYS)
    wrong = (stars < LOWEST) | (stars > HIGHEST)
    if wrong.any():
        first = table.iloc[int(wrong.argmax())]
        text = f"{path}: {wrong.sum()} ratings are not between {LOWEST} and {HIGHEST}, the first of user"
        raise InputError(f"{text} {first.userId:.0f} for film {first.movieId:.0f}: {first.rating:g}", KEYS)
    pairs = pd.Series(table["userId"].to_numpy(np.int64) * 2**32 + table["movieId"].to_numpy(np.int64))
    twice = pairs.duplicated()
    if twice.any():
        row = int(twice.to_numpy().argmax())
        first = table.iloc[row]
        lines = _line_numbers(path, release, (int((pairs == pairs[row]).to_numpy().argmax()), row))
        raise InputError(
            f"{path}: {twice.sum()} pairs of user and film occur more than once, the first is user {first.userId:.0f} "
            f"and film {first.movieId:.0f} (lines {lines[0]} and {lines[1]}). The file of GroupLens has no "
            "duplicates: use that one, or remove all but one",
            KEYS,
        )


def read_titles(path: Path, release: Release) -> tuple[dict[int, str], dict[int, str], str]:
    """Return titles and genres of films, and a warning if the file is unexpectedly not UTF-8.

    Genres are as in the file, ``Action|Sci-Fi``; empty if the release has flags instead.

    Titles are only names: a byte that is not UTF-8 is read as Latin-1, the encoding of older releases, and does not
    stop a run.

    Raises
    ------
    InputError
        If it is UTF-16, has another separator, or fields are missing.
    """
    separator = release.separators[1]
    _check_first_line(path, release, separator, TITLE_FIELDS)
    text, latin = _text(path)
    remark = f"{path} is not UTF-8: its titles were read as Latin-1" if latin and release.header else ""
    titles, genres = {}, {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or (number == 1 and release.header):
            continue
        entry = next(csv.reader([line])) if separator == "," else line.split(separator)
        if len(entry) < 2 or not entry[0].strip().isdecimal():
            raise InputError(f"{path}, line {number}: {line[:LISTED]!r} is not a film and its title", KEYS)
        titles[int(entry[0])] = entry[1].strip()
        genres[int(entry[0])] = entry[2].strip() if len(entry) == LISTED_GENRES else ""
    return titles, genres, remark


def _text(path: Path) -> tuple[str, bool]:
    """Return the text of a file, and whether it is Latin-1 rather than UTF-8."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig"), False
    except UnicodeDecodeError:
        return content.decode("latin-1"), True


def _check_first_line(path: Path, release: Release, separator: str, fields: tuple[str, ...]) -> None:
    """Refuse a file whose first line lacks the fields: another separator, or missing columns."""
    with path.open("rb") as file:
        content = file.readline()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(f"{path} is UTF-16: save it as UTF-8", KEYS)
    line = content.decode("latin-1").removeprefix("\xef\xbb\xbf").rstrip("\r\n")
    found = [field.strip() for field in line.split(separator)]
    if release.header:
        if missing := [field for field in fields[:3] if field not in found]:
            text = f"{path}: no column {' and no column '.join(missing)} in the first line, {line[:LISTED]!r}"
            raise InputError(f"{text}. It should be {_layout(fields, separator)}", KEYS)
    elif len(found) < len(fields):
        text = f"{path}: {len(found)} fields in the first line, {line[:LISTED]!r}"
        raise InputError(f"{text}. It should be {_layout(fields, separator)}", KEYS)


def _layout(fields: tuple[str, ...], separator: str) -> str:
    named = {"\t": "tabulators", ",": "commas", "::": "'::'", "|": "'|'"}[separator]
    return f"{', '.join(fields)}, separated by {named}"
