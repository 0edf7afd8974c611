"""Tables of the user's own runs in the report, with their curves, pictures and links to their folders."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

from sparseid.reporting.collect import RESULT
from sparseid.reporting.curves import draw_curves
from sparseid.reporting.figure_source import files_source
from sparseid.reporting.figures import save_changed
from sparseid.reporting.pictures import Picture, RunPictures, copied_pictures, picture
from sparseid.reporting.runs_table import RunsTable, setting_text
from sparseid.reporting.sections import file_name
from sparseid.training.run_folder import RunFolder

CURVES = "curves"
"""Name of the picture of a table's training curves."""


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
    curves: Picture | None
    """Training curves of all its runs; None if they have none."""
    newest: RunPictures
    """Pictures of its newest run."""


def own_table(table: RunsTable, report: Path) -> OwnTable:
    """Return a table of runs for the page in the folder `report`, and write its pictures.

    The first line of the same runs links to them.
    """
    lines, linked = [], set()
    for line, texts in zip(table.lines, table.texts, strict=True):
        folders = [] if line.folders in linked else line.folders
        linked.add(line.folders)
        lines.append(OwnLine(texts, tuple(RunLink(folder.name, _address(folder, report)) for folder in folders)))
    folder = report / table.scale / f"{file_name(table.experiment)}-own"
    newest = max((run for line in table.lines for run in line.folders), key=lambda run: (run / RESULT).stat().st_mtime)
    return OwnTable(
        table.title,
        table.header,
        len(table.header) - len(table.metrics) - 1,
        lines,
        table.directions,
        _curves(table, folder, report),
        copied_pictures(newest, folder, report),
    )


def _curves(table: RunsTable, folder: Path, report: Path) -> Picture | None:
    """Draw the curves of a table's runs, unless their file shows the same already."""
    runs = {
        ", ".join(
            f"{name}={setting_text(value)}" for name, value in zip(table.settings, line.settings, strict=True)
        ): line.folders
        for line in table.lines
    }
    source = files_source(RunFolder(run).metrics for of_line in runs.values() for run in of_line)
    drawn = save_changed(folder, CURVES, ["svg"], source, partial(draw_curves, runs))
    return picture(folder / f"{CURVES}.svg", report) if drawn else None


def _address(folder: Path, report: Path) -> str:
    figures = folder / "figures"
    target = figures if any(figures.glob("*.svg")) else folder
    return quote(Path(os.path.relpath(target.absolute(), report.absolute())).as_posix() + "/")
