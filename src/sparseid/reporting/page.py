"""The report: a start page and a page per paper, with files of tables (Markdown, LaTeX), figures and all rows."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from sparseid.files import OLD_S, remove_leftovers, write_text
from sparseid.papers.labels import label
from sparseid.papers.presets import artefact_recipes
from sparseid.papers.registry import ARTEFACTS, PAPERS
from sparseid.papers.targets import load_targets
from sparseid.reporting import PAGE
from sparseid.reporting.collect import Collection, collect
from sparseid.reporting.overview import (
    ArtefactLine,
    OpenClaim,
    Overview,
    page_name,
    read_overview,
    write_overview,
)
from sparseid.reporting.own_runs import OwnTable, own_table
from sparseid.reporting.pictures import RunPictures, newest_pictures
from sparseid.reporting.provenance import Origin, origins
from sparseid.reporting.rows_file import ROWS_FILE, write_rows_file
from sparseid.reporting.runs_table import runs_tables
from sparseid.reporting.sections import Reported, Section, others_file, reported, write_artefact
from sparseid.reporting.tables import HEADER, LEGEND, OLDER_CODE, PARTLY, marks

DEFAULT_SCALE = "small"
"""The scale shown as missing before the first run."""
CLAIM_COLUMNS = {"holds": "held", "fails": "failed", "undecided": "undecided", "unchecked": "not checked"}
VERDICT_COLUMNS = {
    "agrees": "agree",
    "differs": "differ",
    "not comparable": "not comparable",
    "no printed number": "no number",
    "incomplete": "incomplete",
    "missing": "missing",
}
"""Verdict -> header of the column with its count on the start page, like :data:`CLAIM_COLUMNS` for outcomes."""
MOST_LISTED = 5
"""More claims than these are folded on the start page."""


@dataclass(frozen=True)
class PaperPage:
    """The content of one paper's page."""

    paper: str
    title: str
    url: str
    """Address of the paper; empty if unknown."""
    sections: dict[str, list[Section]]
    """Scale -> its built artefacts; scales with finished runs first."""
    planned: list[Reported]
    """Its other artefacts."""
    pictures: dict[str, RunPictures]
    """Scale -> pictures of the newest finished run that is not in `own`."""
    collection: Collection
    """Rows, runs and problems of the paper."""
    origins: list[Origin]
    own: list[OwnTable]
    """Tables of finished runs whose settings match no preset: the user's own."""
    others: list[str]
    """Further such runs that are recorded, but not in the folder of runs."""
    other_tables: list[str]
    """Tables of the last sweep of an artefact with other settings, as paths relative to the report's folder."""
    deviations: list[dict[str, str]]
    """Deviations of this project from the paper's text."""

    @property
    def path(self) -> str:
        """File name of the page."""
        return page_name(self.paper)

    @property
    def overview(self) -> Overview:
        """Its counts for the start page."""
        built = [_counts(section) for sections in self.sections.values() for section in sections]
        planned = [
            ArtefactLine(entry.id, entry.title, entry.anchor, "", 0, 0, {"unchecked": len(entry.statements)}, {})
            for entry in self.planned
        ]
        progress = {scale: _progress(sections) for scale, sections in self.sections.items()}
        own = sum(len(line.runs) for table in self.own for line in table.lines)
        return Overview(self.paper, self.title, progress, built + planned, own, self.url)


@contextmanager
def _paused_garbage_collector() -> Iterator[None]:
    """Pause the garbage collector: searching the many cycles of figures takes a quarter of the report's time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_paused_garbage_collector()
def build_report(
    outputs: Path,
    scale: str | None = None,
    collection: Collection | None = None,
    png: bool = False,
    papers: Sequence[str] | None = None,
) -> Path:
    """Write the report on everything under `outputs` and the recorded rows; return its start page.

    Parameters
    ----------
    outputs
        The folder of runs; it need not exist. The report goes to ``<outputs>/report``.
    scale
        Only this scale; None for every scale with any run or row.
    collection
        The collection of `outputs` at `scale`, if the caller has it already.
    png
        Whether to write each figure also as a PNG file; the pages show SVG.
    papers
        Papers whose pages are written; None for all. Pages of the others stay as they are.

    Notes
    -----
    Results may be partial or absent; the pages name missing, unfinished, failed and unreadable ones.
    """
    collection = collect(outputs, scale) if collection is None else collection
    start = outputs / PAGE
    start.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(start.parent, OLD_S)
    scales = [scale] if scale else collection.scales() or [DEFAULT_SCALE]
    kinds = ("svg", "png") if png else ("svg",)
    pages = [
        _paper_page(paper, collection.of_paper(paper), scales, start.parent, kinds)
        for paper in PAPERS
        if papers is None or paper in papers
    ]
    write_rows_file(collection.rows, start.parent / ROWS_FILE)
    written = {page.paper: page.overview for page in pages}
    found = [written.get(paper) or read_overview(paper, start.parent) for paper in PAPERS]
    environment = _environment([overview for overview in found if overview])
    for page in pages:
        write_text(start.parent / page.path, environment.get_template("paper.html").render(page=page))
        write_overview(written[page.paper], start.parent)
    others = [label(paper, paper) for paper, overview in zip(PAPERS, found, strict=True) if overview is None]
    html = environment.get_template("start.html").render(
        page=None, others=others, collection=collection, rows_file=ROWS_FILE
    )
    write_text(start, html)
    _remove_pages(start.parent, {start.name, *map(page_name, PAPERS)})
    return start


def _counts(section: Section) -> ArtefactLine:
    return ArtefactLine(
        id=section.artefact.id,
        title=section.artefact.title,
        anchor=section.anchor,
        scale=section.scale,
        done=len(section.done),
        expected=len(section.expected),
        claims={**section.outcomes, "unchecked": len(section.unchecked)},
        verdicts=dict(section.verdicts),
        reading=bool(section.artefact.reading_of),
        open_claims=[
            OpenClaim(claim.statement, claim.finding.outcome, section.claim_anchor(claim.id))
            for claim in section.claims
            if claim.finding.outcome != "holds"
        ],
    )


def _progress(sections: Sequence[Section]) -> tuple[int, int]:
    done, expected = (
        frozenset[tuple[str, int]]().union(*(getattr(section, name) for section in sections))
        for name in ("done", "expected")
    )
    return len(done), len(expected)


def _remove_pages(report: Path, kept: Set[str]) -> None:
    """Remove pages of papers that are gone: files that an earlier report wrote, which name themselves in their head."""
    for path in report.glob("*.html"):
        with path.open(encoding="utf-8", errors="replace") as file:
            ours = f'<meta name="generator" content="sparseid, {path.name}">' in file.read(1000)
        if ours and path.name not in kept:
            path.unlink()
            path.with_suffix(".json").unlink(missing_ok=True)


def _environment(pages: list[Overview]) -> Environment:
    environment = Environment(
        loader=PackageLoader("sparseid.reporting"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(label=label)
    environment.globals.update(
        pages=pages,
        claim_columns=CLAIM_COLUMNS,
        most_listed=MOST_LISTED,
        verdict_columns=VERDICT_COLUMNS,
        start=PAGE.name,
        header=HEADER,
        dagger=OLDER_CODE,
        partly=PARTLY,
        marks=marks,
        legend=LEGEND,
        now=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    return environment


def _paper_page(paper: str, collection: Collection, scales: list[str], report: Path, kinds: Sequence[str]) -> PaperPage:
    built = [entry for entry in ARTEFACTS.values() if entry.paper == paper]
    targets = load_targets(paper)
    others = {(name, scale) for name, scale in _other_settings(paper, collection) if scale in scales}
    own = [run.path for run in collection.runs if run.state == "done" and (run.path.name, run.scale) in others]
    sections = {
        name: [write_artefact(entry, collection, report, name, kinds) for entry in built] for name in scales if built
    }
    return PaperPage(
        paper=paper,
        title=targets.title,
        url=targets.url,
        sections=dict(sorted(sections.items(), key=lambda section: not any(entry.done for entry in section[1]))),
        planned=[reported(targets, name) for name in PAPERS[paper].not_built],
        pictures=newest_pictures([run for run in collection.runs if run.path not in own], report),
        collection=collection,
        origins=origins(collection.rows),
        own=[own_table(table, report) for table in runs_tables(own)],
        others=sorted({name for name, _ in others} - {folder.name for folder in own}),
        other_tables=[
            f"{scale}/{others_file(entry.id)}"
            for scale in scales
            for entry in built
            if (report / scale / others_file(entry.id)).is_file()
        ],
        deviations=PAPERS[paper].deviations,
    )


def _other_settings(paper: str, collection: Collection) -> set[tuple[str, str]]:
    """Return the runs, (name, scale), that are in no artefact because their settings match no preset."""
    rows = collection.rows
    names = [name for name, entry in ARTEFACTS.items() if entry.paper == paper]
    shown = {
        scale: frozenset().union(*(artefact_recipes(name, scale, collection.outputs) for name in names))
        for scale in set(rows["scale"])
    }
    named = set(zip(rows["run"], rows["recipe"], rows["scale"], strict=True))
    return {(str(run), scale) for run, recipe, scale in named if recipe not in shown[scale]}
