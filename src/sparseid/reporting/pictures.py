"""Pictures on the pages of the report; those of the newest run are copied, so that the report is self-contained."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from sparseid.reporting.collect import RESULT, RunState
from sparseid.text import visible

_SIZE = re.compile(rb'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_PIXELS_PER_POINT = 4 / 3


@dataclass(frozen=True)
class Picture:
    """An SVG picture."""

    path: str
    """Relative to the page."""
    name: str
    width: int
    """Pixels; 0 if unknown, like `height`."""
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
    """Copy the pictures of a paper's newest finished run at each scale into the report.

    Returns
    -------
    dict
        Scale -> pictures, for every scale with a finished run that has pictures.
    """
    done = [run for run in runs if run.state == "done" and _svgs(run.path)]
    newest = {run.scale: run for run in sorted(done, key=lambda run: (run.path / RESULT).stat().st_mtime)}
    return {
        scale: copied_pictures(run.path, report / scale / f"{run.paper}-run", report) for scale, run in newest.items()
    }


def copied_pictures(run: Path, folder: Path, report: Path) -> RunPictures:
    """Copy the pictures of a run to a folder of the report."""
    folder.mkdir(parents=True, exist_ok=True)
    return RunPictures(run.name, [picture(Path(shutil.copyfile(svg, folder / svg.name)), report) for svg in _svgs(run)])


def _svgs(run: Path) -> list[Path]:
    return visible((run / "figures").glob("*.svg"))
