"""What the report shows of one artefact: built (table, claims, figure) or only reported by the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sparseid.files import write_text
from sparseid.papers.artefact import Artefact
from sparseid.papers.claims import ClaimResult
from sparseid.papers.labels import written_cell
from sparseid.papers.presets import artefact_runs, of_artefact
from sparseid.papers.targets import PaperTargets, Statement
from sparseid.reporting.aggregate import Cell, cells
from sparseid.reporting.collect import Collection
from sparseid.reporting.figures import KINDS, save_figure
from sparseid.reporting.pictures import Picture, picture
from sparseid.reporting.tables import Line, caption, latex, lines, markdown, metric_text, paper_text

_REPORTED_HEADER = ("cell", "metric", "paper", "n", "source")


@dataclass(frozen=True)
class Section:
    """One artefact at one scale, ready for the page.

    Attributes
    ----------
    artefact, scale
        What it is.
    cells, table
        Its entries, and the lines of its comparison table.
    caption
        Of the table.
    claims
        The paper's claims about it with our findings.
    unchecked
        The paper's claims about it without a check.
    conditions
        Claim id -> the check as a formula.
    files
        Kind -> path of the table relative to the report's folder.
    figure
        None for a plain table, and where the runs that it is drawn from are not at hand.
    expected, made
        Runs (recipe hash, seed) that its presets ask for, and those of them that have rows.
    """

    artefact: Artefact
    scale: str
    cells: list[Cell]
    table: list[Line]
    caption: str
    claims: list[ClaimResult]
    unchecked: list[Statement]
    conditions: dict[str, str]
    files: dict[str, str]
    figure: Picture | None
    expected: frozenset[tuple[str, int]]
    made: frozenset[tuple[str, int]]

    @property
    def verdicts(self) -> Counter[str]:
        """Word -> number of cells."""
        return Counter(cell.verdict.word for cell in self.cells)

    @property
    def older_commits(self) -> list[str]:
        """Commits of rows marked as made by older code."""
        return sorted({commit for cell in self.cells for commit in cell.older_commits})

    @property
    def outcomes(self) -> Counter[str]:
        """Number of claims that hold, fail and are undecided."""
        return Counter(claim.finding.outcome for claim in self.claims)

    @property
    def draw_with(self) -> str:
        """The command of the runs that its picture needs, where none of them is at hand; empty where it needs none."""
        if self.figure or self.artefact.draw_arrays is None:
            return ""
        return f"python run.py experiment={self.artefact.id} scale={self.scale}"

    @property
    def anchor(self) -> str:
        """Its place on the paper's page."""
        return f"{self.scale}-{file_name(self.artefact.id)}"


@dataclass(frozen=True)
class Reported:
    """An artefact that is not built yet: what the paper reports.

    Attributes
    ----------
    id, title
        What it is.
    header, table
        Its numbers as texts; `table` is empty where the paper prints no number of it.
    read_off
        True if some of its numbers were read off a plot.
    statements
        The paper's claims about it.
    """

    id: str
    title: str
    header: tuple[str, ...]
    table: list[tuple[str, ...]]
    read_off: bool
    statements: list[Statement]

    @property
    def anchor(self) -> str:
        """Its place on the paper's page."""
        return file_name(self.id)


def file_name(artefact_id: str) -> str:
    """Return the name of an artefact's files: ``sparling-fig4``."""
    return artefact_id.replace("/", "-")


def write_artefact(
    artefact: Artefact, collection: Collection, report: Path, scale: str, kinds: Sequence[str] = ("svg",)
) -> Section:
    """Write table (.md, .tex) and figure (of `kinds`) of one artefact to ``<report>/<scale>``.

    Returns
    -------
    Section
        What the page shows of it.
    """
    folder, name = report / scale, file_name(artefact.id)
    folder.mkdir(parents=True, exist_ok=True)
    rows_of = partial(of_artefact, collection.rows, scale=scale, outputs=collection.outputs)
    rows = rows_of(artefact.id)
    made = cells(artefact, rows, scale)
    table, heading = lines(made, artefact.convention), caption(artefact.title, scale, artefact.convention)
    write_text(folder / f"{name}.md", markdown(table, heading))
    write_text(folder / f"{name}.tex", latex(table, heading))
    figure = artefact.figure(rows, collection.arrays(scale), scale)
    written = [] if figure is None else save_figure(figure, folder, name, kinds)
    for path in {folder / f"{name}.{kind}" for kind in KINDS} - set(written):  # of an earlier report
        path.unlink(missing_ok=True)
    expected = artefact_runs(artefact.id, scale, collection.outputs)
    return Section(
        artefact=artefact,
        scale=scale,
        cells=made,
        table=table,
        caption=heading,
        claims=artefact.check_claims(rows_of, scale),
        unchecked=artefact.unchecked,
        conditions={statement.id: statement.condition for statement in artefact.statements},
        files={kind: f"{scale}/{name}.{kind}" for kind in ("md", "tex")},
        figure=picture(folder / f"{name}.svg", report) if figure is not None else None,
        expected=expected,
        made=expected & set(zip(rows["recipe"], rows["seed"], strict=True)),
    )


def reported(paper: PaperTargets, artefact_id: str) -> Reported:
    """Return what the paper reports in an artefact."""
    targets = paper.of(artefact_id)
    printed = [target for target in targets if target.value is not None or target.words]
    table: list[tuple[str, ...]] = [
        (
            written_cell(target.keys),
            metric_text(target.metric, target.unit),
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
