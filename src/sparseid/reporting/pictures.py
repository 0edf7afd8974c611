"""Pictures on the pages of the report, and those of the newest run, copied so that the report stands alone."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from sparseid.reporting.collect import RESULT, RunState

_SIZE = re.compile(rb'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_PIXELS_PER_POINT = 4 / 3


@dataclass(frozen=True)
class Picture:
    """An SVG picture: its path relative to the page, its name, width and height in pixels (0 where unknown)."""

    path: str
    name: str
    width: int
    height: int


@dataclass(frozen=True)
class RunPictures:
    """The pictures of one run."""

    run: str
    pictures: list[Picture]


def picture(svg: Path, report: Path) -> Picture:
    """Return an SVG file below `report` as a picture; its size is read from its head."""
    with svg.open("rb") as file:
        found = _SIZE.search(file.read(2000))
    width, height = (round(_PIXELS_PER_POINT * float(side)) for side in found.groups()) if found else (0, 0)
    return Picture(svg.relative_to(report).as_posix(), svg.stem, width, height)


def newest_pictures(runs: list[RunState], report: Path) -> dict[str, RunPictures]:
    """Copy the pictures of the newest finished run of a paper at each scale beside the page.

    Returns
    -------
    dict
        Scale -> pictures; a scale without a finished run that has pictures is left out.
    """
    newest: dict[str, tuple[float, RunState]] = {}
    for run in runs:
        if run.state == "done" and _drawn(run):
            written = (run.path / RESULT).stat().st_mtime
            if run.scale not in newest or written > newest[run.scale][0]:
                newest[run.scale] = (written, run)
    copied = {}
    for scale, (_, run) in newest.items():
        folder = report / scale / f"{run.paper}-run"
        folder.mkdir(parents=True, exist_ok=True)
        shown = [picture(Path(shutil.copyfile(svg, folder / svg.name)), report) for svg in _drawn(run)]
        copied[scale] = RunPictures(run.path.name, shown)
    return copied


def _drawn(run: RunState) -> list[Path]:
    return sorted((run.path / "figures").glob("*.svg"))
