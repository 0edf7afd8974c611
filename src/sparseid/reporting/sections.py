"""Sections of the report: one artefact, either built (table, claims, figure) or only reported by the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.files import write_text
from sparseid.papers.artefact import Artefact
from sparseid.papers.claims import ClaimResult
from sparseid.papers.labels import entry_label
from sparseid.papers.presets import artefact_runs, of_artefact
from sparseid.papers.targets import PaperTargets, Statement
from sparseid.reporting.aggregate import Entry, entries
from sparseid.reporting.collect import Collection
from sparseid.reporting.figure_source import figure_source
from sparseid.reporting.figures import KINDS, save_changed
from sparseid.reporting.pictures import Picture, picture
from sparseid.reporting.tables import Line, caption, latex, lines, markdown, metric_text, paper_text

if TYPE_CHECKING:
    import pandas as pd

_REPORTED_HEADER = ("entry", "metric", "paper", "n", "source")


@dataclass(frozen=True)
class Section:
    """One artefact at one scale, ready for the page."""

    artefact: Artefact
    scale: str
    entries: list[Entry]
    table: list[Line]
    """Lines of the comparison table."""
    caption: str
    claims: list[ClaimResult]
    """The paper's claims about it with our findings."""
    unchecked: list[Statement]
    """The paper's claims about it without a check."""
    conditions: dict[str, str]
    """Claim id -> the check as a formula."""
    files: dict[str, str]
    """Type -> path of the table relative to the report's folder."""
    figure: Picture | None
    """None for a plain table, without anything to draw, and if the arrays of its runs are not available."""
    drawn_at: str
    """Scale whose figure shows the paper's numbers as well, because this one has no rows to draw; else empty."""
    expected: frozenset[tuple[str, int]]
    """Runs (recipe hash, seed) of its presets."""
    done: frozenset[tuple[str, int]]
    """Those of them that have rows."""

    @property
    def verdicts(self) -> Counter[str]:
        """Word -> number of entries."""
        return Counter(entry.verdict.word for entry in self.entries)

    @property
    def older_commits(self) -> list[str]:
        """Commits of rows marked as older code."""
        return sorted({commit for entry in self.entries for commit in entry.older_commits})

    @property
    def outcomes(self) -> Counter[str]:
        """Number of claims that hold, fail and are undecided."""
        return Counter(claim.finding.outcome for claim in self.claims)

    @property
    def draw_with(self) -> str:
        """Command of the runs that its figure needs if none of them is available, else empty."""
        if self.figure or self.artefact.draw_arrays is None:
            return ""
        return f"python run.py experiment={self.artefact.id} scale={self.scale}"

    @property
    def anchor(self) -> str:
        """Anchor on the paper's page."""
        return f"{self.scale}-{file_name(self.artefact.id)}"

    def claim_anchor(self, claim: str) -> str:
        """Return the anchor of a claim, by its id, on the paper's page."""
        return f"{self.anchor}-{claim}"


@dataclass(frozen=True)
class Reported:
    """An artefact that is not built yet: the numbers in the paper."""

    id: str
    title: str
    header: tuple[str, ...]
    table: list[tuple[str, ...]]
    """Its numbers as texts; empty if the paper prints none."""
    read_off: bool
    """True if some of its numbers were read off a plot."""
    statements: list[Statement]
    """The paper's claims about it."""

    @property
    def anchor(self) -> str:
        """Anchor on the paper's page."""
        return file_name(self.id)


def file_name(artefact_id: str) -> str:
    """Return the stem of an artefact's file names: ``sparling-fig4``."""
    return artefact_id.replace("/", "-")


def others_file(artefact_id: str) -> str:
    """Return the name of the file with the table of an artefact's last sweep with other settings than the preset's."""
    return f"{file_name(artefact_id)}-other-settings.md"


def write_artefact(
    artefact: Artefact, collection: Collection, report: Path, scale: str, kinds: Sequence[str] = ("svg",)
) -> Section:
    """Write table (.md, .tex) and figure (of `kinds`) of one artefact to ``<report>/<scale>``; return its section."""
    folder, name = report / scale, file_name(artefact.id)
    folder.mkdir(parents=True, exist_ok=True)
    rows_of = cache(partial(of_artefact, collection.rows, scale=scale, outputs=collection.outputs))
    rows = rows_of(artefact.id)
    found = entries(artefact, rows, scale)
    table, heading = lines(found, artefact), caption(artefact.title, scale, artefact.aggregation)
    write_text(folder / f"{name}.md", markdown(table, heading))
    write_text(folder / f"{name}.tex", latex(table, heading))
    others = [] if len(rows) or artefact.draw is None else collection.scales()
    drawn_at = next((other for other in others if len(rows_of(artefact.id, scale=other))), "")
    drawn = not drawn_at and _draw(artefact, rows, collection, scale, folder, kinds)
    for kind in set(KINDS) - set(kinds if drawn else ()):  # of an earlier report
        (folder / f"{name}.{kind}").unlink(missing_ok=True)
    expected = artefact_runs(artefact.id, scale, collection.outputs)
    return Section(
        artefact=artefact,
        scale=scale,
        entries=found,
        table=table,
        caption=heading,
        claims=artefact.check_claims(rows_of, scale),
        unchecked=artefact.unchecked,
        conditions={statement.id: statement.condition for statement in artefact.statements},
        files={kind: f"{scale}/{name}.{kind}" for kind in ("md", "tex")},
        figure=picture(folder / f"{name}.svg", report) if drawn else None,
        drawn_at=drawn_at,
        expected=expected,
        done=expected & set(zip(rows["recipe"], rows["seed"], strict=True)),
    )


def _draw(
    artefact: Artefact, rows: pd.DataFrame, collection: Collection, scale: str, folder: Path, kinds: Sequence[str]
) -> bool:
    """Draw an artefact's figure, unless its files show the same already; return whether there is one."""
    if artefact.draw is None and artefact.draw_arrays is None:
        return False
    source = figure_source(artefact, rows, collection, scale)
    draw = partial(artefact.figure, rows, collection.arrays(scale), scale)
    return save_changed(folder, file_name(artefact.id), kinds, source, draw)


def reported(paper: PaperTargets, artefact_id: str) -> Reported:
    """Return the numbers and claims of an artefact in the paper."""
    targets = paper.of(artefact_id)
    printed = [target for target in targets if target.value is not None or target.words]
    table: list[tuple[str, ...]] = [
        (
            entry_label(target.keys, paper.paper),
            metric_text(target.metric, target.unit, paper.paper),
            paper_text(target),
            "" if target.n is None else str(target.n),
            target.source,
        )
        for target in (targets if printed else [])
    ]
    columns = len(_REPORTED_HEADER) - (not any(target.source for target in targets))
    return Reported(
        id=artefact_id,
        title=paper.titles[artefact_id],
        header=_REPORTED_HEADER[:columns],
        table=[texts[:columns] for texts in table],
        read_off=any(target.uncertainty for target in printed),
        statements=paper.statements_about(artefact_id),
    )
