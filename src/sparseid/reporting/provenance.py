"""Where the numbers of a paper come from: code, devices, dates, and whether they were made here or are recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True)
class Origin:
    """Rows of one scale that share commit, device and source.

    Attributes
    ----------
    commit, device, source
        What they share; `source` is ``outputs`` (runs on this machine) or ``recorded`` (kept in git).
    dirty
        True if some of them were made with changes that no commit holds.
    first, last
        Times of writing, UTC, ``2026-05-01 10:00``.
    runs, rows
        How many.
    """

    scale: str
    commit: str
    device: str
    source: str
    dirty: bool
    first: str
    last: str
    runs: int
    rows: int


def origins(rows: pd.DataFrame) -> list[Origin]:
    """Return the origins of a collection's rows, the newest of each scale first."""
    if rows.empty:
        return []
    groups: Any = rows.groupby(["scale", "commit", "device", "source"], sort=False)
    found = [
        Origin(
            scale=scale,
            commit=commit,
            device=device,
            source=source,
            dirty=bool(group["dirty"].any()),
            first=str(group["written"].min())[:16].replace("T", " "),
            last=str(group["written"].max())[:16].replace("T", " "),
            runs=group["run"].nunique(),
            rows=len(group),
        )
        for (scale, commit, device, source), group in groups
    ]
    newest_first = sorted(found, key=lambda origin: origin.last, reverse=True)
    return sorted(newest_first, key=lambda origin: origin.scale)
