"""Rows: the numeric results of a run, stored in its ``result.json``."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from sparseid.files import write_text
from sparseid.measurements import Key
from sparseid.text import parsed_json
from sparseid.training.errors import RunError


@dataclass(frozen=True)
class Row:
    """One number of one run.

    Parameters
    ----------
    run
        Name of the run's folder.
    paper, scale
        Paper of the run's preset, and scale of the run.
    recipe
        Hash of all settings that affect the results except the seed: rows with the same hash may be averaged.
    keys
        Row and column keys of the paper's tables, for example ``{"domain": "digitcircle", "steps_above": 2}``.
    seed
        Seed of the run, or of a member of its stack.
    metric, value, unit
        Measured value, in the unit of the paper's targets; None if undefined.
    n
        Number of items behind the value.
    commit
        Commit of the code that tested the run.
    dirty
        True if other code than `commit` was involved: local changes, or a resume under another commit.
    device
        Name of the device.
    written
        Time of writing, ISO 8601, UTC.
    """

    run: str
    paper: str
    scale: str
    recipe: str
    keys: dict[str, Key]
    seed: int
    metric: str
    value: float | None
    unit: str
    n: int
    commit: str
    dirty: bool
    device: str
    written: str


def plain_value(value: Any) -> float | None:
    """Convert a measured value for JSON: NaN (an undefined metric) becomes None.

    Raises
    ------
    ValueError
        If the value is infinite.
    """
    if value is None or math.isnan(value):
        return None
    if math.isinf(value):
        raise ValueError("an infinite value is not a valid measurement")
    return float(value)


def plain_keys(keys: dict[str, Any]) -> dict[str, Key]:
    """Return keys with NumPy and torch scalars converted to Python's."""
    return {name: value.item() if hasattr(value, "item") else value for name, value in keys.items()}


def write_rows(path: Path, rows: list[Row]) -> None:
    """Replace `path` by the rows as JSON, one row a line, atomically."""
    lines = ",\n".join(json.dumps(asdict(row), allow_nan=False) for row in rows)
    write_text(path, f'{{"rows": [\n{lines}\n]}}\n')


def read_rows(path: Path, remedy: str = "Repeat the run with force=true.") -> list[Row]:
    """Read the rows of a ``result.json``.

    Parameters
    ----------
    path
        The file.
    remedy
        Remedy for a damaged file; the end of the error message.

    Raises
    ------
    RunError
        If the file is missing, truncated or does not contain rows; the message names the file and the error.
    """
    try:
        content = parsed_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read as rows: {error}. {remedy}") from error
    rows = content.get("rows") if isinstance(content, dict) else None
    if not isinstance(rows, list):
        raise RunError(f'{path} has no list "rows". {remedy}')
    return [_row(entry, f"{path}, row {number}", remedy) for number, entry in enumerate(rows)]


_TYPES: dict[str, type | tuple[type, ...]] = {"keys": dict, "seed": int, "n": int, "dirty": bool}
_TYPES["value"] = (float, int, type(None))


def _row(entry: Any, where: str, remedy: str) -> Row:
    """Convert `entry` to a Row; it must have exactly a row's fields, of the correct types."""
    names = {f.name for f in fields(Row)}
    if not isinstance(entry, dict) or set(entry) != names:
        found = set(entry) if isinstance(entry, dict) else set()
        raise RunError(f"{where}: missing {sorted(names - found)}, unknown {sorted(found - names)}. {remedy}")
    for name, value in entry.items():
        if not isinstance(value, _TYPES.get(name, str)) or (isinstance(value, bool) and name != "dirty"):
            raise RunError(f"{where}: {name} is {value!r}. {remedy}")
    for name, value in entry["keys"].items():
        if not isinstance(value, str | int | float):
            raise RunError(f"{where}: key {name} is {value!r}. {remedy}")
    if entry["value"] is not None and not math.isfinite(entry["value"]):
        raise RunError(f"{where}: value is {entry['value']!r}. {remedy}")
    try:
        datetime.fromisoformat(entry["written"])
    except ValueError:
        raise RunError(f"{where}: written is {entry['written']!r}, not a time. {remedy}") from None
    return Row(**entry)
