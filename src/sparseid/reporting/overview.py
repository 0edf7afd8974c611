"""The start page's lines of one paper, kept in a file beside its page, so that a page can be written alone."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sparseid.files import write_text


@dataclass(frozen=True)
class ArtefactLine:
    """Counts of one artefact at one scale."""

    id: str
    title: str
    anchor: str
    """Anchor on the paper's page."""
    scale: str
    """Empty if the artefact is not built yet."""
    done: int
    """Number of finished runs of its presets."""
    expected: int
    """Number of runs of its presets."""
    claims: dict[str, int]
    """Outcome, or ``unchecked`` -> number of claims."""
    verdicts: dict[str, int]
    """Word of the verdict -> number of entries."""
    reading: bool = False
    """True for another reading of one of the paper's artefacts."""


@dataclass(frozen=True)
class Overview:
    """Counts of one paper's page."""

    paper: str
    title: str
    progress: dict[str, tuple[int, int]]
    """Scale -> numbers of finished and of expected runs; a run that artefacts share counts once."""
    artefacts: list[ArtefactLine]
    own: int = 0
    """Number of finished runs whose settings match no preset."""

    @property
    def path(self) -> str:
        """File name of the page."""
        return page_name(self.paper)

    @property
    def built(self) -> int:
        """Number of artefacts that are built."""
        return len({line.id for line in self.artefacts if line.scale})

    @property
    def planned(self) -> int:
        """Number of artefacts that are not built yet."""
        return sum(not line.scale for line in self.artefacts)

    def claims(self, scale: str) -> Counter[str]:
        """Return the number of claims of each outcome at a scale; another reading's are the paper's and count once."""
        lines = (line for line in self.artefacts if line.scale == scale and not line.reading)
        return sum((Counter(line.claims) for line in lines), Counter())


def page_name(paper: str) -> str:
    """Return the file name of a paper's page."""
    return f"{paper}.html"


def write_overview(overview: Overview, report: Path) -> None:
    """Write an overview to ``<report>/<paper>.json``."""
    write_text(report / f"{overview.paper}.json", json.dumps(asdict(overview), indent=1))


def read_overview(paper: str, report: Path) -> Overview | None:
    """Return the overview written with a paper's page, or None without a page, or with one of other code."""
    if not (report / page_name(paper)).is_file():
        return None
    try:
        fields: dict[str, Any] = json.loads((report / f"{paper}.json").read_text(encoding="utf-8"))
        fields["artefacts"] = [ArtefactLine(**line) for line in fields["artefacts"]]
        return Overview(**fields)
    except (OSError, ValueError, TypeError, KeyError):
        return None
