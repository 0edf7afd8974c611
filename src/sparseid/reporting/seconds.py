"""Durations of runs as rows, for the run times that papers report."""

from __future__ import annotations

import json
from dataclasses import replace

from sparseid.training.rows import Row, read_rows
from sparseid.training.run_folder import RunFolder


def rows_with_seconds(folder: RunFolder) -> list[Row]:
    """Return the rows of a finished run and its `seconds_rows`; RunError if they cannot be read."""
    rows = read_rows(folder.result)
    return rows + seconds_rows(folder, rows)


def seconds_rows(folder: RunFolder, rows: list[Row]) -> list[Row]:
    """Return a row ``seconds`` of a finished run of one seed: the wall time of data preparation and training.

    It is not among the run's own `rows`, because it is the only number that another run would not reproduce. Stacks
    have none: a member's fraction of their time is not the time that it takes alone.

    Returns
    -------
    list of Row
        Empty for a stack, and if ``timing.json`` is missing, as in folders of earlier versions.
    """
    if len({row.seed for row in rows}) != 1:
        return []
    try:
        timing = json.loads(folder.timing.read_text(encoding="utf-8"))
        seconds = float(timing["prepare_s"]) + float(timing["train_s"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
    first = rows[0]
    common = {name: value for name, value in first.keys.items() if all(row.keys.get(name) == value for row in rows)}
    return [replace(first, keys=common, metric="seconds", value=round(seconds, 3), unit="second", n=1)]
