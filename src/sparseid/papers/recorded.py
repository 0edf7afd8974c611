"""Recorded results: the rows of finished runs as CSV files in git (``outputs/recorded``).

``<paper>.csv`` has a line per number: recipe, a column ``key_<name>`` per key, seed, metric, value, unit, n and run.
``runs.csv`` has a line per run, with a digest of its rows that reading checks. Both are sorted, so that a diff shows
new numbers. An empty field is a missing key or the value of an undefined metric. Numbers have all their digits; a text
that could be read as a number begins with an apostrophe, as in a spreadsheet: ``'3``.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from sparseid.config.search_path import CONFIGS
from sparseid.errors import InputError
from sparseid.files import write_text
from sparseid.homes import expanded
from sparseid.measurements import Key
from sparseid.papers.rows import COLUMNS, PREFIX, joined, key_columns, no_rows, times
from sparseid.text import visible

RECORDED = CONFIGS.parent / "outputs" / "recorded"
"""The project's own recorded results; an installed package has none."""
VARIABLE = "SPARSEID_RECORDED"
"""Environment variable that names another folder of recorded results."""
RUNS = "runs.csv"
PRESETS = "presets.csv"
"""Runs of each preset, see :mod:`sparseid.papers.presets`."""

_RUN_COLUMNS = ("run", "paper", "scale", "recipe", "seeds", "commit", "dirty", "device", "written", "sha256")
_BEFORE_KEYS, _BEHIND_KEYS = ("recipe",), ("seed", "metric", "value", "unit", "n", "run")
_DIGEST_LENGTH = 12


def read_recorded(folder: Path | None = None) -> tuple[pd.DataFrame, dict[str, str]]:
    """Read all recorded rows.

    Parameters
    ----------
    folder
        Their folder, which need not exist; None for that of ``$SPARSEID_RECORDED``, by default the project's own.

    Returns
    -------
    rows
        A rows DataFrame.
    damaged
        Paper -> message about its damaged file, with the remedy; its rows are missing. Rows that differ from the digest
        of their run in ``runs.csv`` are damage, too. All papers if ``runs.csv`` cannot be read.
    """
    folder = Path(expanded(os.environ.get(VARIABLE) or str(RECORDED))) if folder is None else folder
    papers = [path for path in visible(folder.glob("*.csv")) if path.name not in (RUNS, PRESETS)]
    found, damaged = [], {}
    try:
        runs = read_runs(folder).set_index("run")
    except InputError as error:
        return no_rows(), {path.stem: str(error) for path in papers}
    for path in papers:
        try:
            found.append(_read_paper(path, runs))
        except InputError as error:
            damaged[path.stem] = str(error)
    rows = joined(no_rows(), *found)
    return rows[[*COLUMNS, *key_columns(rows)]], damaged


def read_runs(folder: Path = RECORDED) -> pd.DataFrame:
    """Return the table of recorded runs: paper, scale, recipe, seeds (a tuple), commit and so on.

    Raises
    ------
    InputError
        If it is damaged.
    """
    if not (folder / RUNS).exists():
        return pd.DataFrame(columns=_RUN_COLUMNS)
    dirty = {"false": False, "true": True}.__getitem__
    parsers: dict[str, Callable[[str], Any]] = {"seeds": parse_seeds, "dirty": dirty}
    return read_table(folder / RUNS, _RUN_COLUMNS, parsers)


def record(rows: pd.DataFrame, folder: Path = RECORDED) -> None:
    """Add the rows of runs to the recorded ones, replacing older rows of the same runs.

    Raises
    ------
    InputError
        If a recorded file is damaged; then nothing is written.
    """
    known, damaged = read_recorded(folder)
    if damaged:
        raise InputError(next(iter(damaged.values())))
    last = rows["run"].map(times(rows).groupby(rows["run"]).idxmax())
    rows = rows.assign(written=rows["written"].loc[last].to_numpy())  # a run has one time
    others = known[~known["run"].isin(rows["run"])]
    together = joined(others, rows)
    folder.mkdir(parents=True, exist_ok=True)
    for paper in sorted({*rows["paper"], *known["paper"][known["run"].isin(rows["run"])]}):
        _write_paper(together[together["paper"] == paper], folder / f"{paper}.csv")
    write_table(folder / RUNS, _RUN_COLUMNS, sorted(_run_lines(together)))


def run_digests(rows: pd.DataFrame) -> dict[str, str]:
    """Return the shortened SHA-256 of each run's rows, whatever their order."""
    columns = {name: _encoded(rows[name].tolist()) for name in COLUMNS if name != "value"}
    columns["value"] = [
        repr(value) if isfinite(value) else _encode(value) for value in rows["value"].astype(float).tolist()
    ]
    columns["keys"] = _encoded_keys(rows)
    line = ", ".join(f'"{name}": %s' for name in sorted(columns)).join("{}")
    lines: dict[str, list[str]] = {}
    for run, entries in zip(rows["run"], zip(*(columns[name] for name in sorted(columns)), strict=True), strict=True):
        lines.setdefault(run, []).append(line % entries)
    return {
        run: hashlib.sha256("\n".join(sorted(of_run)).encode()).hexdigest()[:_DIGEST_LENGTH]
        for run, of_run in lines.items()
    }


def read_table(
    path: Path, columns: Sequence[str], parsers: Mapping[str, Callable[[str], Any]] = {}, remedy: str = ""
) -> pd.DataFrame:
    """Return a CSV file with a header as text, with columns parsed by `parsers`.

    Parameters
    ----------
    path
        The file.
    columns
        Required columns; further ones are keys.
    parsers
        Column -> function that parses its text, with a KeyError or ValueError if it is invalid.
    remedy
        Advice if the file is damaged; by default to restore it with git.

    Raises
    ------
    InputError
        If it is damaged; the message names file, line and remedy.
    """
    remedy = remedy or f"Restore the file: git -C {path.parent} restore {path.name}"

    def damaged(line: int, what: object) -> InputError:
        return InputError(f"{path}, line {line}: {what}. {remedy}")

    records, lines = [], []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            unknown = [name for name in header if name not in columns and not name.startswith(PREFIX)]
            if missing := [name for name in columns if name not in header]:
                raise damaged(1, f"no column {', '.join(missing)}")
            if unknown or len(set(header)) < len(header):
                raise damaged(1, f"columns are {', '.join(header)}")
            for record in reader:
                if len(record) != len(header):
                    raise damaged(reader.line_num, f"{len(record)} fields, not {len(header)}")
                records.append(record)
                lines.append(reader.line_num)
    except (OSError, ValueError, csv.Error) as error:
        raise damaged(len(records) + 2, error) from error
    table: dict[str, list] = dict(zip(header, map(list, zip(*records, strict=True)), strict=bool(records)))
    for name in header:
        texts, parse = table.get(name, []), parsers.get(name, parse_key if name.startswith(PREFIX) else str)
        values = {}
        for text in set(texts):  # few differ
            try:
                values[text] = parse(text)
            except (KeyError, ValueError):
                raise damaged(lines[texts.index(text)], f"{name} is {text!r}") from None
        table[name] = [values[text] for text in texts]
    keys = {name: "object" for name in header if name.startswith(PREFIX)}
    return pd.DataFrame({name: pd.Series(values, dtype=keys.get(name)) for name, values in table.items()})


def write_table(path: Path, header: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Replace a CSV file, atomically."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *lines])
    write_text(path, text.getvalue())


def key_text(value: Key | None) -> str:
    """Return the text of a key's value; :func:`parse_key` is the inverse.

    Examples
    --------
    >>> [key_text(value) for value in ("tbr", "3", 3, 3.0, None)]
    ['tbr', "'3", '3', '3.0', '']
    """
    if not isinstance(value, str):
        return "" if pd.isna(value) else repr(value)
    return value if value and not value.startswith("'") and parse_key(value) == value else f"'{value}"


def parse_key(text: str) -> Key | None:
    """Return the value of a :func:`key_text`."""
    if not text or text.startswith("'"):
        return text[1:] if text else None
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def seeds_text(seeds: Iterable[int]) -> str:
    """Return the text of seeds: ``0 1 2``."""
    return " ".join(map(str, seeds))


def parse_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of a :func:`seeds_text`."""
    return tuple(map(int, text.split()))


def _encode(value: object) -> str:
    return "null" if value != value else json.dumps(value, sort_keys=True)


def _encoded(values: Sequence[Any]) -> list[str]:
    """Return values of one type as JSON, each different one encoded once."""
    texts = {value: _encode(value) for value in set(values)}
    return [texts[value] for value in values]


def _encoded_keys(rows: pd.DataFrame) -> list[str]:
    """Return the keys of each row as JSON, each combination encoded once; 3 and 3.0 are different."""
    names = [name for name in key_columns(rows) if rows[name].notna().any()]
    known: dict[tuple, str] = {}
    texts = []
    for values in zip(*(rows[name].tolist() for name in names), strict=True) if names else [()] * len(rows):
        combination = (values, *map(type, values))
        if combination not in known:
            present = zip(names, values, strict=True)
            keys = {name.removeprefix(PREFIX): value for name, value in present if not pd.isna(value)}
            known[combination] = _encode(keys)
        texts.append(known[combination])
    return texts


def _read_paper(path: Path, runs: pd.DataFrame) -> pd.DataFrame:
    parsers: dict[str, Callable[[str], Any]] = {"seed": int, "n": int, "value": lambda text: float(text or "nan")}
    parsers["run"] = {name: name for name in runs.index}.__getitem__  # others are damage
    rows = read_table(path, [*_BEFORE_KEYS, *_BEHIND_KEYS], parsers).astype({"value": float})
    rows = rows.join(runs.drop(columns=["recipe", "seeds", "sha256"]), on="run")
    own, found = runs[runs["paper"] == path.stem], run_digests(rows)
    recorded: dict[str, str] = dict(zip(own.index, own["sha256"], strict=True))
    if changed := sorted(run for run in recorded | found if recorded.get(run) != found.get(run)):
        others = f" and of {len(changed) - 1} other runs" if changed[1:] else ""
        raise InputError(
            f"{path}: the rows of {changed[0]}{others} are not those that were recorded (another digest in {RUNS}), "
            f"so that none of the {len(own)} recorded runs of this paper is used. "
            f"Restore both files: git -C {path.parent} restore {path.name} {RUNS}"
        )
    return rows


def _write_paper(rows: pd.DataFrame, path: Path) -> None:
    keys = sorted(name for name in key_columns(rows) if rows[name].notna().any())
    header = [*_BEFORE_KEYS, *keys, *_BEHIND_KEYS]
    texts = {name: rows[name].map(key_text) for name in (*keys, "value")}
    write_table(path, header, sorted(rows.assign(**texts)[header].itertuples(index=False, name=None)))


def _run_lines(rows: pd.DataFrame) -> Iterable[list[str]]:
    digests = run_digests(rows)
    for run, of_run in rows.groupby("run"):
        first = of_run.iloc[0]
        shared = first[["commit", "dirty", "device", "written"]].tolist()
        shared[1] = "true" if shared[1] else "false"
        seeds = seeds_text(sorted(set(of_run["seed"])))
        yield [str(run), first["paper"], first["scale"], first["recipe"], seeds, *shared, digests[str(run)]]
