"""Everything that was measured: rows of finished runs and rows kept in git, and what could not be used."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.artefact import Arrays
from sparseid.papers.rows import COLUMNS, no_rows
from sparseid.reporting.seconds import rows_with_seconds
from sparseid.training.errors import RunError
from sparseid.training.rows import Row, read_rows
from sparseid.training.run_folder import RunFolder

RESULT = "result.json"
SCALES = ("paper", "small", "smoke")
"""In the order of the report."""


@dataclass(frozen=True)
class RunState:
    """One run folder and how far it came; `state` is one of ``training.run_folder.STATES`` or ``unreadable``."""

    path: Path
    scale: str
    paper: str
    state: str
    message: str


@dataclass(frozen=True)
class Problem:
    """A file of a paper that could not be read: which and what to do about it, ready to print."""

    paper: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Collection:
    """What a report is made from.

    Attributes
    ----------
    rows
        Rows DataFrame (``papers.rows.COLUMNS``), the newest of each recipe, cell and seed, with a further column
        ``source``: where the row was read (``outputs`` or ``measured``).
    runs
        Every run folder, finished or not.
    problems
        What could not be read.
    """

    rows: pd.DataFrame
    runs: list[RunState]
    problems: list[Problem]

    def of_paper(self, paper: str) -> Collection:
        """Return what belongs to one paper."""
        return Collection(
            self.rows[self.rows["paper"] == paper],
            [run for run in self.runs if run.paper == paper],
            [problem for problem in self.problems if problem.paper == paper],
        )

    def arrays(self, scale: str) -> Arrays:
        """Return what gives the saved arrays of a finished run of a scale by its name; nothing where there are none."""
        folders = {run.path.name: run.path for run in self.runs if run.scale == scale and run.state == "done"}
        return lambda name: read_arrays(folders[name]) if name in folders else {}

    def scales(self) -> list[str]:
        """Return the scales of which there is any run or row, in the order of the report."""
        found = {*self.rows["scale"], *(run.scale for run in self.runs)}
        return [scale for scale in SCALES if scale in found]


def collect(outputs: Path, scale: str | None = None, measured: Iterable[Path] | None = None) -> Collection:
    """Read all rows under `outputs` and those kept in git.

    Parameters
    ----------
    outputs
        The folder of runs, ``<scale>/<paper>/<run>/``; it need not exist.
    scale
        Only runs and rows of this scale; None for all.
    measured
        Files of rows kept in git; None for those of all papers.

    Returns
    -------
    Collection
        Only runs in the state ``done`` give rows. A ``result.json`` or measured file that cannot be read gives a
        problem, and nothing else of the report suffers.
    """
    made: list[Row] = []
    kept: list[Row] = []
    runs: list[RunState] = []
    problems: list[Problem] = []
    for folder in _run_folders(outputs, scale):
        state, message = _state(folder)
        if state == "done":
            try:
                made += rows_with_seconds(RunFolder(folder))
            except RunError as error:
                state, message = "unreadable", str(error)
        if state == "unreadable":
            problems.append(Problem(folder.parts[-2], message))
        runs.append(RunState(folder, folder.parts[-3], folder.parts[-2], state, message))
    for path in measured_files() if measured is None else measured:
        try:
            kept += [row for row in read_rows(path, _restore(path)) if scale in (None, row.scale)]
        except RunError as error:
            problems.append(Problem(path.parent.parent.name, str(error)))
    source = ["outputs"] * len(made) + ["measured"] * len(kept)
    return Collection(newest(rows_frame(made + kept).assign(source=source)), runs, problems)


def read_arrays(folder: Path) -> Mapping[str, np.ndarray]:
    """Return what a run saved in ``arrays.npz``; nothing where it saved none."""
    path = folder / "arrays.npz"
    if not path.is_file():
        return {}
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def rows_frame(rows: list[Row]) -> pd.DataFrame:
    """Return rows as a DataFrame; undefined values become NaN, and equal keys are one and the same dictionary."""
    if not rows:
        return no_rows()
    shared: dict[str, dict[str, Key]] = {}
    keys = [shared.setdefault(_cell_text(row.keys), row.keys) for row in rows]
    columns = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    return pd.DataFrame({**columns, "keys": keys}).astype({"value": float})


def newest(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the newest row of each recipe, cell, seed and metric, in the order of their times."""
    if rows.empty:
        return rows
    cell = rows["keys"].map(_cell_text)
    ordered = rows.assign(_cell=cell, _time=pd.to_datetime(rows["written"], utc=True, format="ISO8601"))
    ordered = ordered.sort_values("_time", kind="stable")
    kept = ordered.drop_duplicates(["paper", "scale", "recipe", "_cell", "seed", "metric"], keep="last")
    return kept.drop(columns=["_cell", "_time"]).reset_index(drop=True)


def _cell_text(keys: dict[str, Key]) -> str:
    return json.dumps(keys, sort_keys=True)


def measured_files() -> list[Path]:
    """Return the files of rows kept in git, of all papers."""
    return sorted(Path(str(files("sparseid.papers"))).glob("*/measured/*.json"))


def _run_folders(outputs: Path, scale: str | None) -> list[Path]:
    scales = [scale] if scale else SCALES  # other folders beside them are somebody else's
    folders = [path.parent for name in scales for path in outputs.glob(f"{name}/*/*/status.json")]
    # A leading dot: the half-way state of a forced run that takes the place of its predecessor.
    return sorted(folder for folder in folders if not folder.name.startswith("."))


def _state(folder: Path) -> tuple[str, str]:
    status = RunFolder(folder).read_status()
    state = None if status is None else status.get("state")
    if status is None or not isinstance(state, str) or state == "unreadable":
        return "unreadable", f"{folder / 'status.json'} cannot be read. Ask for the run again: it goes on."
    return state, str(status.get("message", ""))


def _restore(path: Path) -> str:
    return f"Bring the file back with git: git restore {path.name} in {path.parent}."
