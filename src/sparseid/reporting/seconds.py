"""How long runs took, as rows: for the run times that papers report."""

from __future__ import annotations

import json
from dataclasses import replace

from sparseid.training.rows import Row, read_rows
from sparseid.training.run_folder import RunFolder


def rows_with_seconds(folder: RunFolder) -> list[Row]:
    """Return all rows of a finished run: its own and those of `seconds_rows`; RunError if they cannot be read."""
    rows = read_rows(folder.result)
    return rows + seconds_rows(folder, rows)


def seconds_rows(folder: RunFolder, rows: list[Row]) -> list[Row]:
    """Return a row ``seconds`` of a finished run of one seed: making its data and training, by a wall clock.

    It stands beside the rows of a run and not among them, because it is the only one that another start would not
    repeat. A stack has none: its members' share of its time is not the time that one of them takes alone.

    Parameters
    ----------
    folder
        The run.
    rows
        Its rows.

    Returns
    -------
    list of Row
        Empty for a stack, and where ``timing.json`` does not say, as in folders of earlier versions.
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
