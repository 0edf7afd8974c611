"""Provenance of a paper's numbers: code, devices, dates, and whether they are recorded or from runs on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True)
class Origin:
    """Rows of one scale that share commit, device and source."""

    scale: str
    commit: str
    device: str
    source: str
    """``outputs`` (runs on this machine) or ``recorded`` (in git)."""
    dirty: bool
    """True if some of them were computed with uncommitted changes."""
    first: str
    """First time of writing, UTC, ``2026-05-01 10:00``."""
    last: str
    runs: int
    rows: int


def origins(rows: pd.DataFrame) -> list[Origin]:
    """Return the origins of a collection's rows, the newest of each scale first."""
    if rows.empty:
        return []
    groups: Any = rows.groupby(["scale", "commit", "device", "source"], sort=False)
    found = []
    for (scale, commit, device, source), group in groups:
        first, last = (str(time)[:16].replace("T", " ") for time in (group["written"].min(), group["written"].max()))
        dirty, runs = bool(group["dirty"].any()), group["run"].nunique()
        found.append(Origin(scale, commit, device, source, dirty, first, last, runs, len(group)))
    newest_first = sorted(found, key=lambda origin: origin.last, reverse=True)
    return sorted(newest_first, key=lambda origin: origin.scale)
