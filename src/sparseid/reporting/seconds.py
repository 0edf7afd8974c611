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
    """Return a row ``seconds`` for each seed of a finished run: making its data and training, by a wall clock.

    They stand beside the rows of a run and not among them, because they are the only ones that another start would not
    repeat. A stack's seconds are divided by its members.

    Parameters
    ----------
    folder
        The run.
    rows
        Its rows.

    Returns
    -------
    list of Row
        Empty where ``timing.json`` does not say, as in folders of earlier versions.
    """
    try:
        timing = json.loads(folder.timing.read_text(encoding="utf-8"))
        seconds = float(timing["prepare_s"]) + float(timing["train_s"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
    of_seed: dict[int, Row] = {}
    for row in rows:
        first = of_seed.setdefault(row.seed, row)
        common = {name: value for name, value in first.keys.items() if row.keys.get(name) == value}
        of_seed[row.seed] = replace(first, keys=common)
    share = round(seconds / max(len(of_seed), 1), 3)
    return [replace(row, metric="seconds", value=share, unit="second", n=1) for row in of_seed.values()]
