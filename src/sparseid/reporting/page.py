"""The report: one HTML page with its tables (Markdown, LaTeX) and figures beside it."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader

from sparseid.files import write_text
from sparseid.papers.claims import ClaimResult
from sparseid.papers.presets import of_preset, preset_recipes
from sparseid.papers.registry import ARTEFACTS, Artefact
from sparseid.reporting import PAGE
from sparseid.reporting.aggregate import cells
from sparseid.reporting.collect import Collection, RunState, collect
from sparseid.reporting.figures import save_figure
from sparseid.reporting.tables import HEADER, OLDER_CODE, Line, latex, lines, markdown

DEFAULT_SCALE = "small"
"""The scale shown as missing when nothing has been run."""
_RUN_PICTURES = ("motifs", "confusion", "training", "density")


@dataclass(frozen=True)
class Section:
    """One artefact at one scale, ready for the page; paths are relative to the page."""

    artefact: Artefact
    scale: str
    table: list[Line]
    claims: list[ClaimResult]
    files: dict[str, str]
    figure: str | None
    verdicts: dict[str, int]
    anchor: str


def build_report(outputs: Path, scale: str | None = None) -> Path:
    """Write the report of everything under `outputs` (and the rows kept in git) and return its page.

    Parameters
    ----------
    outputs
        The folder of runs; it need not exist. The report goes to ``<outputs>/report``.
    scale
        Only this scale; None for every scale of which there is anything.

    Notes
    -----
    Renders from partial or no results; what is missing, unfinished, failed or unreadable is named on the page.
    """
    collection = collect(outputs, scale)
    page = outputs / PAGE
    page.parent.mkdir(parents=True, exist_ok=True)
    scales = [scale] if scale else collection.scales() or [DEFAULT_SCALE]
    sections = {
        name: [write_artefact(entry, collection, outputs, name) for entry in ARTEFACTS.values()] for name in scales
    }
    environment = Environment(loader=PackageLoader("sparseid.reporting"), autoescape=True, trim_blocks=True)
    environment.globals.update(header=HEADER, dagger=OLDER_CODE)
    html = environment.get_template("report.html").render(
        sections=sections,
        pictures={name: _newest_pictures(collection, name, page.parent) for name in scales},
        runs=collection.runs,
        states=Counter(run.state for run in collection.runs),
        problems=collection.problems,
        others=_other_settings(collection),
        deviations=_deviations(),
        older_code=bool(collection.rows["older_code"].any()),
        commits=sorted(set(collection.rows["commit"])),
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    write_text(page, html)
    return page


def write_artefact(artefact: Artefact, collection: Collection, outputs: Path, scale: str) -> Section:
    """Write table (.md, .tex) and figure (.png, .svg) of one artefact to ``<outputs>/report/<scale>``.

    Returns
    -------
    Section
        What the page shows of it.
    """
    folder = (outputs / PAGE).parent / scale
    folder.mkdir(parents=True, exist_ok=True)
    name = artefact.id.replace("/", "-")
    of_scale = of_preset(collection.rows, artefact.id, scale)
    made = cells(artefact, of_scale, scale)
    table = lines(made)
    caption = f"{artefact.title} (scale={scale})"
    write_text(folder / f"{name}.md", markdown(table, caption))
    write_text(folder / f"{name}.tex", latex(table, caption))
    if artefact.draw:
        save_figure(artefact.draw(of_scale, artefact.targets, scale), folder, name)
    return Section(
        artefact=artefact,
        scale=scale,
        table=table,
        claims=artefact.check_claims(of_scale),
        files={kind: f"{scale}/{name}.{kind}" for kind in ("md", "tex")},
        figure=f"{scale}/{name}.svg" if artefact.draw else None,
        verdicts=dict(Counter(cell.verdict.word for cell in made)),
        anchor=f"{scale}-{name}",
    )


def _other_settings(collection: Collection) -> list[str]:
    """Return the runs whose rows are in no table here: made with settings that are no preset's."""
    rows = collection.rows
    shown = {
        scale: frozenset().union(*(preset_recipes(name, scale) for name in ARTEFACTS)) for scale in set(rows["scale"])
    }
    named = zip(rows["run"], rows["recipe"], rows["scale"], strict=True)
    return sorted({str(run) for run, recipe, scale in named if recipe not in shown[scale]})


def _newest_pictures(collection: Collection, scale: str, report: Path) -> dict[str, Any] | None:
    """Copy the pictures of the newest finished run beside the page, so that the report folder stands alone."""
    done = [run for run in collection.runs if run.scale == scale and run.state == "done" and _pictures(run)]
    if not done:
        return None
    run = max(done, key=lambda run: (run.path / "result.json").stat().st_mtime)
    folder = report / scale / "run"
    folder.mkdir(parents=True, exist_ok=True)
    for picture in _pictures(run):
        shutil.copyfile(picture, folder / picture.name)
    return {"run": run, "files": [f"{scale}/run/{picture.name}" for picture in _pictures(run)]}


def _pictures(run: RunState) -> list[Path]:
    paths = [run.path / "figures" / f"{name}.svg" for name in _RUN_PICTURES]
    return [path for path in paths if path.is_file()]


def _deviations() -> dict[str, list[dict[str, str]]]:
    """Return, per paper, where this project departs from the paper's text."""
    found = {}
    for paper in sorted({artefact.paper for artefact in ARTEFACTS.values()}):
        path = files("sparseid.papers").joinpath(paper, "deviations.yaml")
        if path.is_file():
            found[paper] = yaml.safe_load(path.read_text(encoding="utf-8"))["deviations"]
    return found
