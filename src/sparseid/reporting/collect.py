"""All results: rows of finished runs, recorded rows, and messages about unreadable files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from sparseid.papers.artefact import Arrays
from sparseid.papers.recorded import read_recorded
from sparseid.papers.rows import joined, newest, rows_frame, without_empty_keys
from sparseid.text import parsed_json
from sparseid.training.arrays import check_arrays, read_arrays
from sparseid.training.errors import RunError
from sparseid.training.rows import Row, read_rows
from sparseid.training.run_folder import RunFolder

RESULT = "result.json"
SCALES = ("paper", "small", "smoke")
"""In the order of the report."""


@dataclass(frozen=True)
class RunState:
    """The state of one run folder, one of ``training.run_folder.STATES`` or ``unreadable``."""

    path: Path
    scale: str
    paper: str
    state: str
    message: str


@dataclass(frozen=True)
class Problem:
    """A message about an unreadable file of a paper, with the remedy."""

    paper: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Collection:
    """The input of a report."""

    rows: pd.DataFrame
    """Rows DataFrame (:mod:`sparseid.papers.rows`), the newest of each recipe, table entry and seed, with a further
    column ``source``: where the row was read (``outputs`` or ``recorded``)."""
    runs: list[RunState]
    """Every run folder, finished or not."""
    problems: list[Problem]
    outputs: Path | None = None
    """The folder of runs; None if there is none."""

    @property
    def states(self) -> Counter[str]:
        """State -> number of runs."""
        return Counter(run.state for run in self.runs)

    def of_paper(self, paper: str) -> Collection:
        """Return the part of one paper."""
        return Collection(
            without_empty_keys(self.rows[self.rows["paper"] == paper]),
            [run for run in self.runs if run.paper == paper],
            [problem for problem in self.problems if problem.paper == paper],
            self.outputs,
        )

    def finished(self, scale: str) -> dict[str, Path]:
        """Return the folders of the finished runs at a scale, by their names."""
        return {run.path.name: run.path for run in self.runs if run.scale == scale and run.state == "done"}

    def arrays(self, scale: str) -> Arrays:
        """Return a lookup from run name to saved arrays (empty if the run saved none)."""
        folders = self.finished(scale)
        return lambda name: read_arrays(RunFolder(folders[name]).arrays) if name in folders else {}

    def scales(self) -> list[str]:
        """Return the scales with any run or row, in the order of the report."""
        found = {*self.rows["scale"], *(run.scale for run in self.runs)}
        return [scale for scale in SCALES if scale in found]


def collect(outputs: Path, scale: str | None = None, recorded: Path | None = None) -> Collection:
    """Read all rows under `outputs` and the recorded ones.

    Parameters
    ----------
    outputs
        The folder of runs, ``<scale>/<paper>/<run>/``; it need not exist.
    scale
        Only runs and rows of this scale; None for all.
    recorded
        Folder of recorded rows; None as in :func:`~sparseid.papers.recorded.read_recorded`.

    Returns
    -------
    Collection
        Rows come only from runs in the state ``done``. An unreadable ``result.json``, ``arrays.npz`` or recorded file
        becomes a problem and affects nothing else in the report.
    """
    found: list[Row] = []
    runs: list[RunState] = []
    problems: list[Problem] = []
    for folder in run_folders(outputs, scale):
        state, message = _state(folder)
        if state == "done":
            try:
                check_arrays(RunFolder(folder).arrays, bytewise=True)  # a figure must not be the first to find out
                found += rows_with_seconds(RunFolder(folder))
            except RunError as error:
                state, message = "unreadable", str(error)
        if state == "unreadable":
            problems.append(Problem(folder.parts[-2], message))
        runs.append(RunState(folder, folder.parts[-3], folder.parts[-2], state, message))
    known, damaged = read_recorded(recorded)
    problems += [Problem(paper, text) for paper, text in damaged.items()]
    known = known if scale is None else known[known["scale"] == scale]
    rows = joined(rows_frame(found).assign(source="outputs"), known.assign(source="recorded"))
    return Collection(newest(rows), runs, problems, outputs)


def run_folders(outputs: Path, scale: str | None = None) -> list[Path]:
    """Return the folders of all runs under `outputs`, finished or not, sorted; only those of a scale if it is given."""
    scales = [scale] if scale else SCALES  # other folders in `outputs` are not ours
    for remade in [path for name in scales for path in outputs.glob(f"{name}/*/.*.remade")]:
        RunFolder(remade.with_name(remade.name[1:].removesuffix(".remade"))).settle()
    folders = [path.parent for name in scales for path in outputs.glob(f"{name}/*/*/status.json")]
    # A leading dot: the incomplete state of a forced run that is going to replace its predecessor.
    return sorted(folder for folder in folders if not folder.name.startswith("."))


def _state(folder: Path) -> tuple[str, str]:
    status = RunFolder(folder).read_status()
    state = None if status is None else status.get("state")
    if status is None or not isinstance(state, str) or state == "unreadable":
        return "unreadable", f"{folder / 'status.json'} cannot be read. Start the run again: it continues."
    return state, str(status.get("message", ""))


def rows_with_seconds(folder: RunFolder) -> list[Row]:
    """Return the rows of a finished run and its `seconds_rows`; RunError if they cannot be read."""
    rows = read_rows(folder.result)
    return rows + seconds_rows(folder, rows)


def seconds_rows(folder: RunFolder, rows: list[Row]) -> list[Row]:
    """Return a row ``seconds`` of a finished run of one seed: the wall time of data preparation and training.

    It is not among the run's own `rows`, because it is the only number that another run would not reproduce. Stacks
    have none: a member's fraction of their time is not the time that it takes alone.

    Returns
    -------
    list of Row
        Empty for a stack, and if ``timing.json`` is missing, as in folders of earlier versions.
    """
    if len({row.seed for row in rows}) != 1:
        return []
    try:
        timing = parsed_json(folder.timing.read_text(encoding="utf-8"))
        seconds = float(timing["prepare_s"]) + float(timing["train_s"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
    first = rows[0]
    common = {name: value for name, value in first.keys.items() if all(row.keys.get(name) == value for row in rows)}
    return [replace(first, keys=common, metric="seconds", value=round(seconds, 3), unit="second", n=1)]
