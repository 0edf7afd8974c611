"""The start page's lines of one paper, kept in a file beside its page, so that a page can be written alone."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sparseid.files import write_text
from sparseid.text import parsed_json


@dataclass(frozen=True)
class OpenClaim:
    """A claim of the paper that does not hold, or not yet."""

    statement: str
    outcome: str
    """``fails`` or ``undecided``."""
    anchor: str
    """Anchor on the paper's page."""


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
    """True for another reading of one of the paper's artefacts, whose claims count once, as the paper's."""
    open_claims: list[OpenClaim] = field(default_factory=list)
    """Those of its claims that do not hold."""

    @property
    def measured(self) -> bool:
        """True if it has a number."""
        return any(count for word, count in self.verdicts.items() if word != "missing")


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
    url: str = ""
    """Address of the paper; empty if unknown."""

    @property
    def path(self) -> str:
        """File name of the page."""
        return page_name(self.paper)

    @property
    def built(self) -> int:
        """Number of artefacts that are built, without other readings."""
        return len({line.id for line in self.artefacts if line.scale and not line.reading})

    @property
    def planned(self) -> int:
        """Number of artefacts that are not built yet."""
        return sum(not line.scale for line in self.artefacts)

    def measured(self, scale: str) -> bool:
        """Return whether any run of a scale is finished."""
        return self.progress[scale][0] > 0

    @property
    def scale(self) -> str:
        """The scale with the most finished runs; smoke, which decides nothing, only without others; else empty."""
        found = [scale for scale in self.progress if self.measured(scale)]
        return max(found, key=lambda scale: (scale != "smoke", self.progress[scale][0]), default="")

    @property
    def empty_scales(self) -> list[str]:
        """The scales without a finished run."""
        return [scale for scale in self.progress if not self.measured(scale)]

    def lines(self, measured: bool) -> list[ArtefactLine]:
        """Return the lines of the scales with finished runs and those without a scale, or the lines of empty scales."""
        return [line for line in self.artefacts if (line.scale not in self.empty_scales) == measured]

    def claims(self, scale: str) -> Counter[str]:
        """Return the number of claims of each outcome at a scale; another reading's are the paper's and count once."""
        return sum((Counter(line.claims) for line in self._own(scale)), Counter())

    def open_claims(self, outcome: str) -> list[OpenClaim]:
        """Return the claims with an outcome at :attr:`scale`."""
        return [claim for line in self._own(self.scale) for claim in line.open_claims if claim.outcome == outcome]

    @property
    def sentence(self) -> str:
        """A sentence in plain English about what was reproduced at :attr:`scale` and what was not."""
        planned = f", {self.planned} more {_are(self.planned)} not built yet" if self.planned else ""
        if not self.scale:
            return f"No run is finished yet: {_tables(self.built)} {_are(self.built)} built{planned}."
        measured = sum(line.measured for line in self._own(self.scale))
        found = self.claims(self.scale)
        parts = [
            _counted(found["holds"], "holds", "hold"),
            _counted(found["fails"], "fails", "fail"),
            _counted(found["undecided"], "is undecided", "are undecided"),
        ]
        if found["unchecked"]:
            parts.append(_counted(found["unchecked"], "is not checked yet", "are not checked yet"))
        outcomes = f"{', '.join(parts[:-1])} and {parts[-1]}"
        return f"At scale={self.scale}, {measured} of {_tables(self.built)} {_are(measured)} measured{planned}" + (
            f"; of the paper's {_claims(found.total())}, {outcomes}." if found.total() else "."
        )

    def _own(self, scale: str) -> list[ArtefactLine]:
        """Return the lines of a scale without those of other readings."""
        return [line for line in self.artefacts if line.scale == scale and not line.reading]


def _claims(count: int) -> str:
    return f"{count} claim" if count == 1 else f"{count} claims"


def _tables(count: int) -> str:
    return f"{count} table or figure" if count == 1 else f"{count} tables and figures"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _counted(count: int, singular: str, plural: str) -> str:
    """Return a count with its verb, ``none fails``, ``1 fails`` or ``2 fail``."""
    return f"{count} {plural}" if count > 1 else f"{count or 'none'} {singular}"


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
        fields: dict[str, Any] = parsed_json((report / f"{paper}.json").read_text(encoding="utf-8"))
        for line in fields["artefacts"]:
            line["open_claims"] = [OpenClaim(**claim) for claim in line["open_claims"]]
        fields["artefacts"] = [ArtefactLine(**line) for line in fields["artefacts"]]
        return Overview(**fields)
    except (OSError, ValueError, TypeError, KeyError):
        return None
