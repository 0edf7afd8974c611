"""Terminal output at the end of a run or a sweep, and the files that belong to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sparseid.files import remove_leftovers, replaced_folder, write_text
from sparseid.measurements import Key
from sparseid.papers.artefact import Artefact
from sparseid.papers.claims import ClaimResult
from sparseid.papers.labels import entry_label
from sparseid.papers.paper import RunTable
from sparseid.papers.presets import artefact_recipes, of_artefact
from sparseid.papers.registry import artefact, prepared, run_figures, run_summary, run_tables
from sparseid.papers.rows import newest, rows_frame
from sparseid.reporting import PAGE
from sparseid.reporting.aggregate import Entry, entries, mixes_recipes
from sparseid.reporting.collect import RESULT, Collection, collect
from sparseid.reporting.figures import save_figure
from sparseid.reporting.page import build_report
from sparseid.reporting.runs_table import RunsTable, runs_tables
from sparseid.reporting.sections import file_name, others_file
from sparseid.reporting.tables import HEADER, Line, caption, lines, markdown, markdown_table, marks, number
from sparseid.reporting.verdicts import Verdict
from sparseid.training.arrays import read_arrays
from sparseid.training.rows import read_rows
from sparseid.training.run_folder import RunFolder

WIDTH = 118
"""Columns if the output is not a terminal."""
_UNBOUNDED = 100_000
_STYLES = {
    "agrees": "green",
    "holds": "green",
    "differs": "red",
    "fails": "red",
    "undecided": "yellow",
    "incomplete": "yellow",
    "missing": "dim",
}


def finish_run(folder: Path, page: bool = True) -> None:
    """Draw a finished run's figures, print its numbers and the paper's, and update the report.

    Parameters
    ----------
    folder
        The run's folder, ``<outputs>/<scale>/<paper>/<run>``, with ``result.json`` and, for figures, ``arrays.npz``.
    page
        Whether to update the report; False in a sweep, which does so once at its end.

    Raises
    ------
    RunError
        If ``result.json`` cannot be read.
    """
    folder = Path(folder)
    outputs, (scale, paper) = folder.parents[2], folder.parts[-3:-1]
    rows = _rows_of(folder)
    remove_leftovers(folder)
    with replaced_folder(folder / "figures") as figures:  # even if empty: a sign that all figures are drawn
        for name, figure in run_figures(paper, rows, read_arrays(RunFolder(folder).arrays), scale).items():
            save_figure(figure, figures, name)
    console = _console()
    _print_run(console, folder, rows)
    _print_end(console, scale, folder / "figures", "*.svg", _build_report(console, outputs, paper) if page else None)


def show_run(folder: Path) -> None:
    """Print the numbers of a finished run again, as at its end.

    Raises
    ------
    RunError
        If ``result.json`` cannot be read.
    """
    folder, console = Path(folder), _console()
    _print_run(console, folder, _rows_of(folder))
    _print_end(console, folder.absolute().parts[-3], folder / "figures", "*.svg", None)


def show_runs(folders: Iterable[Path]) -> None:
    """Print the main metrics of finished runs: a table for each experiment and scale.

    Raises
    ------
    RunError
        If the rows of a run cannot be read.
    """
    console = _console()
    for table in runs_tables(folders):
        _print_runs(console, table)


def finish_artefact(artefact_id: str, outputs: Path, scale: str, recipes: frozenset[str] = frozenset()) -> None:
    """Print an artefact's table over seeds and its claims after a sweep; update the report.

    After a sweep with other settings than the artefact's preset (other data), the table has the runs of the sweep,
    compares nothing and is saved as ``<artefact>-other-settings.md``; the report has only runs of the preset.

    Parameters
    ----------
    artefact_id
        A key of ``papers.registry.ARTEFACTS``, for example ``sparling/fig4``.
    outputs
        The folder of runs.
    scale
        The scale of the sweep.
    recipes
        Recipes of the sweep's runs.

    Raises
    ------
    InputError
        If the artefact is unknown.
    """
    chosen = artefact(artefact_id)
    outputs = Path(outputs)
    collection = collect(outputs)
    console = _console()
    if recipes - artefact_recipes(chosen.id, scale, outputs):
        chosen_rows = (collection.rows["scale"] == scale) & collection.rows["recipe"].isin(recipes)
        rows = prepared(collection.rows[chosen_rows])
        names = set(rows["run"])
        folders = [run.path for run in collection.runs if run.scale == scale and run.path.name in names]
        _finish_others(console, chosen, rows, outputs, scale, folders)
    else:
        rows_of = partial(of_artefact, collection.rows, scale=scale, outputs=outputs)
        table = lines(entries(chosen, rows_of(chosen.id), scale), chosen)
        _print_table(console, caption(chosen.title, scale, chosen.aggregation), table)
        _print_claims(console, chosen.check_claims(rows_of, scale))
    for problem in collection.of_paper(chosen.paper).problems:
        _say(console, f"not used: {problem}")
    page = _build_report(console, outputs, chosen.paper, collection)
    _print_end(console, scale, page.parent / scale, f"{file_name(chosen.id)}.svg", page)


def _rows_of(folder: Path) -> pd.DataFrame:
    return prepared(newest(rows_frame(read_rows(folder / RESULT))))


def _print_run(console: Console, folder: Path, rows: pd.DataFrame) -> None:
    """Print the tables that the paper declares for a single run; where it reports no such number, the main metrics.

    So runs on the user's own data look alike for all papers.
    """
    scale, paper = folder.absolute().parts[-3:-1]
    summary = run_summary(paper, rows)
    found = [] if summary is None else entries(summary, rows, scale)
    compared = any(entry.target is not None and entry.ours is not None for entry in found)
    if summary is not None and compared:
        _print_table(console, caption(summary.title, scale, summary.aggregation), lines(found, summary))
    for numbers in run_tables(paper, rows):
        _print_numbers(console, numbers)
    if not compared:
        for main in runs_tables([folder]):
            _print_runs(console, main)


def _finish_others(
    console: Console, chosen: Artefact, rows: pd.DataFrame, outputs: Path, scale: str, folders: Sequence[Path]
) -> None:
    """Print and save the table of a sweep with other settings than the preset's, if it has any rows.

    If its rows have no entry of the artefact (a structure or a data set that is not in the paper), it is the table of
    single runs. If the sweep is over settings that do not tell the artefact's entries apart, runs with different
    settings must not be averaged: then a table has a line for each.
    """
    if mixes_recipes(chosen, rows) and (tables := runs_tables(folders)):
        for runs in tables:
            _print_runs(console, runs)
        texts = [markdown_table(runs.header, runs.texts, runs.title) for runs in tables]
        _save_others(console, chosen, outputs, scale, "\n".join(texts))
        return
    shown, found = chosen, _incomparable(entries(chosen, rows, scale))
    if not found and (summary := run_summary(chosen.paper, rows)) is not None:
        shown, found = summary, _incomparable(entries(summary, rows, scale))
    if not found:
        return
    title = _title_of_others(chosen, [entry.keys for entry in found])
    heading, table = caption(title, scale, shown.aggregation), lines(found, shown)
    _print_table(console, heading, table)
    if shown is chosen:
        _print_claims(console, chosen.check_claims(lambda name: rows if name == chosen.id else rows[:0], scale))
    _save_others(console, chosen, outputs, scale, markdown(table, heading))


def _save_others(console: Console, chosen: Artefact, outputs: Path, scale: str, text: str) -> None:
    file = (outputs / PAGE).parent / scale / others_file(chosen.id)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, text)
    _say(console, f"Table:   {file}")


def _incomparable(found: Sequence[Entry]) -> list[Entry]:
    return [replace(entry, verdict=Verdict("not comparable")) for entry in found if entry.ours is not None]


def _build_report(console: Console, outputs: Path, paper: str, collection: Collection | None = None) -> Path:
    """Update a paper's page and the start page; print a line first, because it takes a moment."""
    _say(console, "updating the report")
    return build_report(outputs, collection=collection, papers=[paper])


def _title_of_others(chosen: Artefact, keys: Sequence[Mapping[str, Key]]) -> str:
    """Return the title of runs that are not the preset's: without remarks on its data, with the keys of all entries.

    Examples
    --------
    >>> _title_of_others(artefact("sparse_vae/table2"), [{"domain": "peerread", "method": "vae"}])
    "Table 2: test log loss under shift of the topics with other settings than the preset's: PeerRead, VAE"
    """
    first, *others = keys or [{}]
    shared = {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}
    text = f"{chosen.title.partition(' (')[0]} with other settings than the preset's"
    return f"{text}: {entry_label(shared, chosen.paper)}" if shared else text


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
        texts = (str(value) if isinstance(value, int) else "" if value is None else number(value) for value in line)
        table.add_row(*texts)
    console.print(table)


def _print_runs(console: Console, shown: RunsTable) -> None:
    """Print a table of runs; where it is wider than the terminal, each line as a paragraph."""
    console.print(Text(shown.title, style="bold"))
    table = Table()
    for name in shown.header:
        table.add_column(Text(name), justify="left" if name in (*shown.settings, "of") else "right", no_wrap=True)
    for texts in shown.texts:
        table.add_row(*map(Text, texts))
    if console.measure(table, options=console.options.update(width=_UNBOUNDED)).maximum <= console.width:
        console.print(table)
    else:
        for texts in shown.texts:
            named = [f"{name}: {text}" for name, text in zip(shown.header, texts, strict=True) if text]
            console.print(Padding(Text("; ".join(named)), (0, 0, 0, 2)))
    if shown.directions:
        console.print(shown.directions)


def _print_claims(console: Console, claims: list[ClaimResult]) -> None:
    for claim in claims:
        finding = claim.finding
        console.print(Text.assemble((f"{finding.outcome:>9}", _STYLES[finding.outcome]), f"  {claim.statement}"))
        console.print(Padding(Text(finding.text, style="dim"), (0, 0, 0, 11)))


def _print_end(console: Console, scale: str, folder: Path, figures: str, page: Path | None) -> None:
    if any(folder.glob(figures)):
        _say(console, f"Figures: {folder}")
    if page is not None:
        _say(console, f"Report:  {page}")
    if scale != "paper":
        _say(console, f"scale={scale}: not comparable with the paper's numbers")


def _say(console: Console, line: str) -> None:
    """Print a line unbroken, so that paths can be copied."""
    console.print(line, soft_wrap=True)
