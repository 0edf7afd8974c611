"""Reader of the files of a release of MovieLens, with checks of their content."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from sparseid.data.movielens.sources import KEYS, Release
from sparseid.data.text_frames import frame_of_text
from sparseid.errors import InputError
from sparseid.text import as_lines, lines_of, open_text, other_byte, read_text, records_of

FIELDS = ("userId", "movieId", "rating", "timestamp")
"""Fields of a line of ratings; the last one is not used."""
TITLE_FIELDS = ("movieId", "title")
LISTED_FIELDS = (*TITLE_FIELDS, "genres")
"""Fields of a film, the last one of which lists its genres; ml-100k has others instead."""
EXACT = 2**53
"""Whole numbers up to this are exact even if they were parsed as doubles."""
MOST_DIGITS = 20
"""Number of digits of 2^64, the limit of ids."""
LOWEST, HIGHEST = 0.5, 5.0
"""Range of the stars of a rating."""
LISTED = 80
"""Maximum number of characters of a line in a message."""


def read_ratings(path: Path, release: Release) -> pd.DataFrame:
    """Return the columns userId, movieId and rating of a file, checked.

    Raises
    ------
    InputError
        If it is UTF-16, has another separator, missing fields or one twice, a value is not a number or not a rating, or
        a user has rated a film twice.
    """
    table = _table(path, release)
    if any(table[name].max() >= EXACT or table[name].min() <= -EXACT for name in FIELDS[:2]):
        table = _exact(path, release)
    _check_ratings(path, release, table)
    return table


def _table(path: Path, release: Release, kind: type = np.int64) -> pd.DataFrame:
    """Return the ratings of a file, ids as `kind`; parsed as they are, not checked."""
    separator = release.separators[0]
    found = _first_line(path, release, separator, FIELDS)
    columns = [found.index(name) for name in FIELDS[:3]] if release.header else [0, 1, 2]
    try:
        table = frame_of_text(
            path,
            separator,
            KEYS,
            skip=int(release.header),
            names=range(len(found)),  # without usecols, with which longer lines would be cut: 3,5 stars become 3
            dtype=dict(zip(columns, (kind, kind, np.float64), strict=True)),
        )
    except (ValueError, OverflowError) as error:  # pandas' errors are subclasses
        layout = _layout(FIELDS, release.separators[0])
        text = f"{layout} in numbers, and ids below 2^64, below 2^63 where one is negative"
        raise InputError(f"{path}{_wrong_line(path, release)} is not {text} ({error})", KEYS) from error
    for other in set(table.columns).difference(columns):
        del table[other]  # at once: a copy of the others would need twice the memory
    table.columns = pd.Index(table.columns.map(dict(zip(columns, FIELDS[:3], strict=True))))
    return table


def _exact(path: Path, release: Release) -> pd.DataFrame:
    """Return the ratings of a file with numbers that a double cannot hold: pandas rounds them if one is written 1.0."""
    table = _table(path, release, str)
    for name in FIELDS[:2]:
        numbers: list[int] = []
        try:
            numbers.extend(map(int, table[name]))
        except ValueError as error:
            (line,) = _line_numbers(path, release, (len(numbers),))
            text = f"{path}, line {line}: a {name} is not a whole number below 2^64 ({error})"
            raise InputError(f"{text}: write it without a point", KEYS) from error
        table[name] = np.array(numbers, np.int64 if max(numbers) < 2**63 else np.uint64)
    return table


def _wrong_line(path: Path, release: Release) -> str:
    """Return the number and text of the first line of ratings without three numbers."""
    separator, names = release.separators[0], list(FIELDS)
    negative: dict[str, str] = {}
    large: set[str] = set()
    with open_text(path, KEYS, western=True) as file:
        for number, line in enumerate(file, start=1):
            fields = [field.strip(' "') for field in line.rstrip().split(separator)]
            place = f", line {number}: {line.strip()[:LISTED]!r}"
            if number == 1 and release.header:
                names = fields
            elif line.strip():
                values = dict(zip(names, fields, strict=False))
                if len(fields) > len(names):
                    return place
                try:
                    ids = {name: int(values[name]) for name in FIELDS[:2]}
                    wrong = "_" in line or min(ids.values()) < -(2**63) or max(ids.values()) >= 2**64
                    float(values["rating"] or "nan")
                except (ValueError, KeyError):
                    wrong = True
                if wrong:
                    return place
                negative = {name: place for name, one in ids.items() if one < 0} | negative
                large |= {name for name, one in ids.items() if one >= 2**63}
    return next((place for name, place in negative.items() if name in large), ": a line")


def _line_numbers(path: Path, release: Release, rows: tuple[int, ...]) -> list[int]:
    """Return the line numbers of rows of the table in a file; blank lines are not rows."""
    with open_text(path, KEYS, western=True) as file:
        full = (number for number, line in enumerate(file, start=1) if line.strip())
        return [number for row, number in enumerate(full, start=-release.header) if row in rows]


def _check_ratings(path: Path, release: Release, table: pd.DataFrame) -> None:
    if table.empty:
        raise InputError(f"{path} has no ratings", KEYS)
    stars = table["rating"].to_numpy()
    if (missing := np.isnan(stars)).any():
        (line,) = _line_numbers(path, release, (int(missing.argmax()),))
        such = f", the first of {missing.sum()} such lines" if missing.sum() > 1 else ""
        remedy = "write a number, remove the line, or use the file of GroupLens"
        raise InputError(f"line {line} of {path} has no rating{such}: {remedy}", KEYS)
    wrong = (stars < LOWEST) | (stars > HIGHEST)
    if wrong.any():
        user, movie, star = (table[name].iloc[int(wrong.argmax())] for name in FIELDS[:3])
        text = f"{path}: {wrong.sum()} ratings are not between {LOWEST} and {HIGHEST}, the first of user"
        raise InputError(f"{text} {user} for film {movie}: {star:g}", KEYS)
    pairs = table[["userId", "movieId"]]
    twice = pairs.duplicated()
    if twice.any():
        row = int(twice.to_numpy().argmax())
        first = pairs.iloc[row]
        lines = _line_numbers(path, release, (int((pairs == first).all(axis=1).to_numpy().argmax()), row))
        raise InputError(
            f"{path}: {twice.sum()} pairs of user and film occur more than once, the first is user {first.userId} "
            f"and film {first.movieId} (lines {lines[0]} and {lines[1]}). The file of GroupLens has no "
            "duplicates: use that one, or remove all but one",
            KEYS,
        )


def read_titles(path: Path, release: Release) -> tuple[dict[int, str], dict[int, str], str]:
    """Return titles and genres of films, and a warning if the file is unexpectedly not UTF-8.

    Genres are as in the file, ``Action|Sci-Fi``; empty if the release has flags instead.

    Titles are only names: a byte that is not UTF-8 is read as Windows-1252, which contains the letters of Latin-1, the
    encoding of older releases, and does not stop a run.

    Raises
    ------
    InputError
        If it is UTF-16, has another separator, fields are missing or too many, or a film is listed twice.
    """
    separator = release.separators[1]
    found = _first_line(path, release, separator, TITLE_FIELDS)
    text = read_text(path, KEYS, western=True)
    remark = f"{path} is not UTF-8: its titles were read as Latin-1 (Windows-1252)" if _told(path, release) else ""
    movie, title, *genre = (found.index(name) for name in LISTED_FIELDS if name in found) if release.header else (0, 1)
    if not release.header and len(found) == len(LISTED_FIELDS):
        genre = [2]
    titles: dict[int, str] = {}
    genres: dict[int, str] = {}
    lines: dict[int, int] = {}
    try:
        records = list(records_of(as_lines(text), separator))
    except ValueError as error:
        raise InputError(f"{path}, {error}: a title with a comma is quoted, quotes in it are doubled", KEYS) from error
    for number, entry in records[release.header :]:
        film = _film(entry[movie]) if len(entry) > max(title, movie) else None
        if film is None:
            line = lines_of(text)[number - 1]
            raise InputError(f"{path}, line {number}: {line[:LISTED]!r} is not a film and its title", KEYS)
        if release.header and any(field.strip() for field in entry[len(found) :]):
            text = f"{len(entry)} fields where the first line has {len(found)}: quote a title that has commas"
            raise InputError(f"{path}, line {number}: {text}", KEYS)
        if not release.header and len(entry) != len(found):
            text = f"{len(entry)} fields, separated by {separator!r}, where line 1 has {len(found)}"
            raise InputError(f"{path}, line {number}: {text}: write a title that has {separator!r} differently", KEYS)
        if film in titles:
            text = f"film {film} has a title in line {lines[film]} already, {titles[film][:LISTED]!r}: remove one"
            raise InputError(f"{path}, line {number}: {text}", KEYS)
        titles[film], lines[film] = entry[title].strip(), number
        genres[film] = entry[genre[0]].strip() if genre and len(entry) > genre[0] else ""
    return titles, genres, remark


def _film(text: str) -> int | None:
    """Return the number of a film, which some programs write with a decimal place, ``1.0``; None if it is none."""
    number, _, decimals = text.strip().partition(".")
    return int(number) if number.isdecimal() and not decimals.strip("0") and len(number) <= MOST_DIGITS else None


def _told(path: Path, release: Release) -> bool:
    """Return whether titles are unexpectedly not UTF-8: those of older releases, without a header, are Latin-1."""
    return release.header and bool(other_byte(path))


def _first_line(path: Path, release: Release, separator: str, fields: tuple[str, ...]) -> list[str]:
    """Return the fields of the first line; refuse a file whose first line lacks some (or has another separator)."""
    with open_text(path, KEYS, western=True) as file:
        line = file.readline().rstrip("\n")
    try:
        found = [field.strip() for _, entry in records_of([line], separator) for field in entry]
    except ValueError as error:
        raise InputError(f"{path}, {error}. It should be {_layout(fields, separator)}", KEYS) from error
    if release.header:
        if missing := [field for field in fields[:3] if field not in found]:
            text = f"{path}: no column {' and no column '.join(missing)} in the first line, {line[:LISTED]!r}"
            raise InputError(f"{text}. It should be {_layout(fields, separator)}", KEYS)
        if twice := [field for field in (*fields, *LISTED_FIELDS) if found.count(field) > 1]:
            text = f"the column {twice[0]} is there {found.count(twice[0])} times: remove or rename all but one"
            raise InputError(f"{path}, line 1: {text}", KEYS)
    elif len(found) < len(fields) or (fields == TITLE_FIELDS and separator == "::" and len(found) > len(LISTED_FIELDS)):
        text = f"{path}: {len(found)} fields in the first line, {line[:LISTED]!r}"
        raise InputError(f"{text}. It should be {_layout(fields, separator)}", KEYS)
    return found


def _layout(fields: tuple[str, ...], separator: str) -> str:
    named = {"\t": "tabulators", ",": "commas", "::": "'::'", "|": "'|'"}[separator]
    return f"{', '.join(fields)}, separated by {named}"
