"""Tables of the user's own runs in the report, with links to their folders."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sparseid.reporting.runs_table import RunsTable


@dataclass(frozen=True)
class RunLink:
    """One run of a line."""

    name: str
    """Name of its folder."""
    path: str
    """Address of its folder, of that with its figures if it has any, relative to the report's folder."""


@dataclass(frozen=True)
class OwnLine:
    """One line: texts under the table's header, and its runs."""

    texts: tuple[str, ...]
    runs: tuple[RunLink, ...]


@dataclass(frozen=True)
class OwnTable:
    """A table of runs, ready for the page."""

    title: str
    header: tuple[str, ...]
    left: int
    """Number of first columns that hold text."""
    lines: list[OwnLine]
    directions: str
    """Sentence that says which values are better; may be empty."""


def own_table(table: RunsTable, report: Path) -> OwnTable:
    """Return a table of runs for the page in the folder `report`; the first line of the same runs links to them."""
    lines, linked = [], set()
    for line, texts in zip(table.lines, table.texts, strict=True):
        folders = [] if line.folders in linked else line.folders
        linked.add(line.folders)
        lines.append(OwnLine(texts, tuple(RunLink(folder.name, _address(folder, report)) for folder in folders)))
    return OwnTable(table.title, table.header, len(table.header) - len(table.metrics) - 1, lines, table.directions)


def _address(folder: Path, report: Path) -> str:
    figures = folder / "figures"
    target = figures if any(figures.glob("*.svg")) else folder
    return quote(Path(os.path.relpath(target.absolute(), report.absolute())).as_posix() + "/")
