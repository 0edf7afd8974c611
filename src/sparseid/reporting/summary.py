"""What the terminal shows when a run or a sweep has ended, and the files that go with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sparseid.files import remove_leftovers, write_text
from sparseid.measurements import Key
from sparseid.papers.artefact import Artefact
from sparseid.papers.claims import ClaimResult
from sparseid.papers.labels import written_cell
from sparseid.papers.paper import RunTable
from sparseid.papers.presets import artefact_recipes, of_artefact
from sparseid.papers.registry import artefact, run_figures, run_summary, run_tables
from sparseid.papers.rows import newest, rows_frame
from sparseid.reporting import PAGE
from sparseid.reporting.aggregate import Cell, cells
from sparseid.reporting.collect import RESULT, Collection, collect, read_arrays
from sparseid.reporting.figures import save_figure
from sparseid.reporting.page import build_report
from sparseid.reporting.sections import file_name
from sparseid.reporting.tables import HEADER, Line, caption, lines, markdown, marks, number
from sparseid.reporting.verdicts import Verdict
from sparseid.training.rows import read_rows

WIDTH = 118
"""Columns where the output is no terminal."""
_STYLES = {
    "agrees": "green",
    "holds": "green",
    "differs": "red",
    "fails": "red",
    "undecided": "yellow",
    "missing": "dim",
}


def finish_run(folder: Path, page: bool = True) -> None:
    """Draw a finished run's figures, print its numbers beside the paper's, and bring the report up to date.

    Parameters
    ----------
    folder
        The run's folder, ``<outputs>/<scale>/<paper>/<run>``, with ``result.json`` and, for pictures, ``arrays.npz``.
    page
        Whether to build the report; False for a cell of a sweep, which does so once at its end.

    Raises
    ------
    RunError
        If ``result.json`` cannot be read.
    """
    folder = Path(folder)
    outputs, (scale, paper) = folder.parents[2], folder.parts[-3:-1]
    rows = newest(rows_frame(read_rows(folder / RESULT)))
    remove_leftovers(folder)
    for name, figure in run_figures(paper, rows, read_arrays(folder), scale).items():
        save_figure(figure, folder / "figures", name)
    (folder / "figures").mkdir(exist_ok=True)  # also where there was nothing to draw: it says that all is drawn
    console = _console()
    summary = run_summary(paper, rows)
    if summary is not None:
        table = lines(cells(summary, rows, scale), summary.convention)
        _print_table(console, caption(summary.title, scale, summary.convention), table)
    for further in run_tables(paper, rows):
        _print_numbers(console, further)
    _print_end(console, scale, folder / "figures", _build_report(console, outputs) if page else None)


def finish_artefact(artefact_id: str, outputs: Path, scale: str, asked: frozenset[str] = frozenset()) -> None:
    """Print an artefact's table over seeds and its claims after a sweep; bring the report and its figure up to date.

    Where the sweep had other settings than the artefact's preset (other data), the table is of its runs, compares
    nothing and is kept as ``<artefact>-other-settings.md``; the report has only what the preset asks for.

    Parameters
    ----------
    artefact_id
        A key of ``papers.registry.ARTEFACTS``, for example ``sparling/fig4``.
    outputs
        The folder of runs.
    scale
        The scale that was run.
    asked
        Recipes of the runs of the sweep.

    Raises
    ------
    InputError
        If there is no such artefact.
    """
    chosen = artefact(artefact_id)
    outputs = Path(outputs)
    collection = collect(outputs)
    console = _console()
    if asked - artefact_recipes(chosen.id, scale, outputs):
        rows = collection.rows[(collection.rows["scale"] == scale) & collection.rows["recipe"].isin(asked)]
        _finish_others(console, chosen, rows, outputs, scale)
    else:
        rows_of = partial(of_artefact, collection.rows, scale=scale, outputs=outputs)
        table = lines(cells(chosen, rows_of(chosen.id), scale), chosen.convention)
        _print_table(console, caption(chosen.title, scale, chosen.convention), table)
        _print_claims(console, chosen.check_claims(rows_of, scale))
    for problem in collection.of_paper(chosen.paper).problems:
        _say(console, f"not used: {problem}")
    page = _build_report(console, outputs, collection)  # of all papers, so after what was asked for
    _print_end(console, scale, page.parent / scale, page)


def _finish_others(console: Console, chosen: Artefact, rows: pd.DataFrame, outputs: Path, scale: str) -> None:
    """Print and keep the table of a sweep with other settings than the preset's; nothing where nothing was made.

    Where no cell of the artefact's is among its rows (a structure or a data set that the paper has not) it is the table
    of single runs.
    """
    shown, made = chosen, _incomparable(cells(chosen, rows, scale))
    if not made and (summary := run_summary(chosen.paper, rows)) is not None:
        shown, made = summary, _incomparable(cells(summary, rows, scale))
    if not made:
        return
    title = _title_of_others(chosen.title, [cell.keys for cell in made])
    heading, table = caption(title, scale, shown.convention), lines(made, shown.convention)
    _print_table(console, heading, table)
    if shown is chosen:
        _print_claims(console, chosen.check_claims(lambda name: rows if name == chosen.id else rows[:0], scale))
    kept = (outputs / PAGE).parent / scale / f"{file_name(chosen.id)}-other-settings.md"
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_text(kept, markdown(table, heading))
    _say(console, f"Table:   {kept}")


def _incomparable(made: Sequence[Cell]) -> list[Cell]:
    return [replace(cell, verdict=Verdict("not comparable")) for cell in made if cell.ours is not None]


def _build_report(console: Console, outputs: Path, collection: Collection | None = None) -> Path:
    """Bring the report up to date; say so first, because that takes a moment."""
    _say(console, "writing the report of all results")
    return build_report(outputs, collection=collection)


def _title_of_others(title: str, keys: Sequence[Mapping[str, Key]]) -> str:
    """Return the title of runs that are not the preset's: without its remarks on its data, with what all cells share.

    Examples
    --------
    >>> _title_of_others("Table 1 (below scale=paper: made)", [{"domain": "movielens", "method": "vae"}])
    "Table 1 with other settings than the preset's: MovieLens, VAE"
    """
    first, *others = keys or [{}]
    shared = {name: value for name, value in first.items() if all(cell.get(name) == value for cell in others)}
    text = f"{title.partition(' (')[0]} with other settings than the preset's"
    return f"{text}: {written_cell(shared)}" if shared else text


def _console() -> Console:
    console = Console(highlight=False, markup=False)
    return console if console.is_terminal else Console(highlight=False, markup=False, width=WIDTH)


def _print_table(console: Console, title: str, table: list[Line]) -> None:
    shown = Table(title=title, title_justify="left", title_style="bold")
    for name in HEADER:
        shown.add_column(name, justify="right" if name in ("paper", "ours", "n") else "left")
    for line in table:
        shown.add_row(*(Text(text) for text in line.texts[:-1]), Text(line.texts[-1], _STYLES.get(line.word, "")))
    console.print(shown)
    for mark, meaning in marks(table).items():
        _say(console, f"{mark}: {meaning}")


def _print_numbers(console: Console, shown: RunTable) -> None:
    table = Table(title=shown.title, title_justify="left", title_style="bold")
    for name in shown.header:
        table.add_column(name, justify="right")
    for line in shown.lines:
        table.add_row(
            *(str(value) if isinstance(value, int) else "" if value is None else number(value) for value in line)
        )
    console.print(table)


def _print_claims(console: Console, claims: list[ClaimResult]) -> None:
    for claim in claims:
        finding = claim.finding
        console.print(Text.assemble((f"{finding.outcome:>9}", _STYLES[finding.outcome]), f"  {claim.statement}"))
        console.print(Padding(Text(finding.text, style="dim"), (0, 0, 0, 11)))


def _print_end(console: Console, scale: str, figures: Path, page: Path | None) -> None:
    _say(console, f"Figures: {figures}")
    if page is not None:
        _say(console, f"Report:  {page}")
    if scale != "paper":
        _say(console, f"scale={scale}: not comparable with the paper's numbers")


def _say(console: Console, line: str) -> None:
    """Print a line unbroken, so that paths can be copied."""
    console.print(line, soft_wrap=True)
