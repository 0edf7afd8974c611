"""What the report shows of one artefact: built (table, claims, figure) or only reported by the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import pandas as pd

from sparseid.files import write_text
from sparseid.papers.artefact import Arrays, Artefact
from sparseid.papers.labels import written_cell
from sparseid.papers.presets import artefact_runs, of_artefact
from sparseid.papers.targets import PaperTargets, Statement
from sparseid.reporting.aggregate import cells
from sparseid.reporting.collect import Collection
from sparseid.reporting.content import (
    Content,
    keep_content,
    made_from,
    read_content,
    recall_content,
    remember_content,
    store,
)
from sparseid.reporting.figures import save_figure
from sparseid.reporting.pictures import Picture, picture
from sparseid.reporting.tables import caption, latex, lines, markdown, metric_text, paper_text

_REPORTED_HEADER = ("cell", "metric", "paper", "n", "source")


@dataclass(frozen=True)
class Section:
    """One artefact at one scale, ready for the page.

    Attributes
    ----------
    artefact, scale
        What it is.
    content
        Its comparison table, claims with our finding, and counts.
    caption
        Of the table.
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
    content: Content
    caption: str
    unchecked: list[Statement]
    conditions: dict[str, str]
    files: dict[str, str]
    figure: Picture | None
    expected: frozenset[tuple[str, int]]
    made: frozenset[tuple[str, int]]

    @property
    def verdicts(self) -> Counter[str]:
        """Word -> number of cells."""
        return Counter(self.content.verdicts)

    @property
    def outcomes(self) -> Counter[str]:
        """Number of claims that hold, fail and are undecided."""
        return Counter(claim.finding.outcome for claim in self.content.claims)

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


def write_artefact(artefact: Artefact, collection: Collection, report: Path, scale: str) -> Section:
    """Write table (.md, .tex) and figure (.png, .svg) of one artefact to ``<report>/<scale>``.

    They stay as they are where its rows, those that its claims compare with, its targets and the code are those that
    they were made from.

    Returns
    -------
    Section
        What the page shows of it.
    """
    folder, name = report / scale, file_name(artefact.id)
    svg = folder / f"{name}.svg"
    rows_of = cache(partial(of_artefact, collection.rows, scale=scale))
    rows = rows_of(artefact.id)
    drawn = artefact.drawn(rows)
    files = [folder / f"{name}.{kind}" for kind in ("md", "tex", *(("png", "svg") if drawn else ()))]
    inputs = made_from(artefact.id, scale, [rows, *map(rows_of, artefact.compared_with)])
    kept = folder / f".{name}.json"
    shared = store(scale) if artefact.draw_arrays is None else None  # a picture of arrays depends on more than rows
    content = read_content(kept, inputs, files)
    if content is None and shared is not None:
        content = recall_content(shared, kept, inputs, files)
    if content is None:
        content = _make(artefact, rows_of, collection.arrays(scale), files, scale)
        keep_content(kept, inputs, [path for path in files if path.exists()], content)
        if shared is not None:
            remember_content(shared, kept, files)
    expected = artefact_runs(artefact.id, scale)
    return Section(
        artefact=artefact,
        scale=scale,
        content=content,
        caption=caption(artefact.title, scale, artefact.convention),
        unchecked=artefact.unchecked,
        conditions={statement.id: statement.condition for statement in artefact.statements},
        files={kind: f"{scale}/{name}.{kind}" for kind in ("md", "tex")},
        figure=picture(svg, report) if drawn and svg.is_file() else None,
        expected=expected,
        made=expected & set(zip(rows["recipe"], rows["seed"], strict=True)),
    )


def _make(
    artefact: Artefact, rows_of: Callable[[str], pd.DataFrame], arrays: Arrays, files: list[Path], scale: str
) -> Content:
    """Write the files of an artefact and return what the page shows beside them."""
    rows, folder = rows_of(artefact.id), files[0].parent
    folder.mkdir(parents=True, exist_ok=True)
    made = cells(artefact, rows, scale)
    table = lines(made, artefact.convention)
    heading = caption(artefact.title, scale, artefact.convention)
    write_text(files[0], markdown(table, heading))
    write_text(files[1], latex(table, heading))
    if figure := artefact.figure(rows, arrays, scale):
        save_figure(figure, folder, file_name(artefact.id))
    else:
        for kind in ("png", "svg"):  # of rows or runs that are no longer there
            files[0].with_suffix(f".{kind}").unlink(missing_ok=True)
    return Content(
        table=table,
        claims=artefact.check_claims(rows_of, scale),
        verdicts=dict(Counter(cell.verdict.word for cell in made)),
        older_commits=sorted({commit for cell in made for commit in cell.older_commits}),
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
