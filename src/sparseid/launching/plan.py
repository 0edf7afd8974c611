"""What there is to do: every run of every artefact of the papers, how far it is and what the rest takes."""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from sparseid.config import sweep
from sparseid.config.choices import CONFIGS, choices, scales
from sparseid.config.errors import ConfigError
from sparseid.config.identity import run_directory
from sparseid.config.schema import RunConfig
from sparseid.errors import InputError
from sparseid.launching import recorded
from sparseid.launching.estimate import NOTHING_LEFT, Estimate, Estimator, costs_of_runs, read_costs
from sparseid.papers.presets import note_command
from sparseid.papers.registry import ARTEFACTS, PAPERS
from sparseid.papers.targets import load_targets
from sparseid.training import environment
from sparseid.training.run_folder import STATES, RunFolder

MEASURED = "measured"
"""State of a run that is not done here, but whose rows are kept in git."""

FINISHED = ("done", MEASURED)
NO_PRESET = "no preset yet"
COMPUTED = "no preset: computed when the report is made, without any run"


@dataclass(frozen=True)
class PlannedRun:
    """One run and how far it is.

    Attributes
    ----------
    name, folder
        Its name and its folder.
    state
        One of `STATES` or `MEASURED`. A run whose process was killed is ``preempted``.
    message
        What its ``status.json`` says.
    commit, dirty, written
        The commit its rows were made with, whether with local changes, and when; empty without rows.
    older_code
        Whether the newest rows of the same artefact are of another commit, as in the report.
    left
        What the rest takes.
    """

    name: str
    folder: Path
    state: str
    message: str
    commit: str
    dirty: bool
    written: str
    left: Estimate
    older_code: bool = False

    @property
    def finished(self) -> bool:
        """Whether there are rows."""
        return self.state in FINISHED


@dataclass(frozen=True)
class PlannedArtefact:
    """A table or figure and its runs.

    Attributes
    ----------
    id, paper, title
        What it is.
    runs
        Those of its own preset.
    problem
        Why there are none.
    reads
        Other presets whose runs it reads, with these; each is planned as an artefact of its own.
    """

    id: str
    paper: str
    title: str
    runs: tuple[PlannedRun, ...] = ()
    problem: str = ""
    reads: tuple[tuple[str, tuple[PlannedRun, ...]], ...] = ()

    @property
    def refused(self) -> bool:
        """Whether it has a preset at this scale that cannot be composed."""
        return bool(self.problem) and not self.problem.startswith("no preset")


@dataclass(frozen=True)
class Total:
    """Some runs summed up, each counted once.

    Attributes
    ----------
    states
        Runs in each state.
    seconds
        What the rest takes on one device, one run after the other; runs that are `unknown` are not in it.
    at_most
        Whether some of the seconds are a bound.
    unknown
        Unfinished runs of which nothing comparable was ever measured.
    """

    states: Mapping[str, int]
    seconds: float
    at_most: bool
    unknown: int

    @property
    def runs(self) -> int:
        """Number of runs."""
        return sum(self.states.values())

    @property
    def finished(self) -> int:
        """Runs that have rows."""
        return sum(self.states[state] for state in FINISHED)


@dataclass(frozen=True)
class Workload:
    """All artefacts of a command or a scale."""

    scale: str
    artefacts: tuple[PlannedArtefact, ...]

    def runs(self, paper: str | None = None) -> dict[str, PlannedRun]:
        """Return all runs, or those of a paper, by name: a run that several artefacts share stands there once."""
        wanted = [artefact for artefact in self.artefacts if paper in (None, artefact.paper)]
        return {run.name: run for artefact in wanted for run in artefact.runs}

    def papers(self) -> list[str]:
        """Return the papers in order."""
        return list(dict.fromkeys(artefact.paper for artefact in self.artefacts))


def total(runs: Iterable[PlannedRun]) -> Total:
    """Sum up runs that differ."""
    runs = list(runs)
    known = [run.left for run in runs if run.left.seconds is not None]
    return Total(
        states=Counter(run.state for run in runs),
        seconds=sum(left.seconds for left in known if left.seconds is not None),
        at_most=any(left.at_most for left in known),
        unknown=len(runs) - len(known),
    )


def plan_artefacts(
    scale: str,
    outputs: Path,
    overrides: Sequence[str] = (),
    configs: Path = CONFIGS,
    count_measured: bool = True,
    only: Sequence[str] = (),
) -> Workload:
    """Plan every artefact of every paper at a scale, or some of them.

    Parameters
    ----------
    scale
        smoke, small or paper.
    outputs
        The folder of runs; it need not exist.
    overrides
        Further settings for all of them, for example of the launcher.
    configs
        The folder of YAML files.
    count_measured
        Whether runs whose rows are kept in git count as finished.
    only
        Papers and artefacts; empty for all.

    Raises
    ------
    InputError
        If `only` names what there is not.

    Notes
    -----
    An artefact without a preset, or whose preset cannot be composed, says so and stops nothing.
    """
    presets, look = choices("experiment", configs), _Look(outputs, scale, count_measured)

    @cache
    def of_preset(name: str) -> tuple[tuple[PlannedRun, ...], str]:
        """Return the runs of a preset, and why there are none."""
        if name not in presets:
            return (), COMPUTED if name in ARTEFACTS and ARTEFACTS[name].computed else NO_PRESET
        if scale not in scales(name, configs):
            return (), f"no preset at scale={scale}"
        try:
            asked = [f"experiment={name}", f"scale={scale}", f"outputs={outputs}", *overrides]
            planned = sweep.plan(asked, configs)
            note_command(planned, asked, configs)
        except ConfigError as error:
            return (), str(error)
        return tuple(look.at(cell.run) for cell in planned.cells), ""

    planned = []
    for name, (paper, title) in _chosen(only).items():
        runs, problem = of_preset(name)
        others = [other for other in ARTEFACTS[name].presets if other != name] if name in ARTEFACTS else []
        reads = tuple((other, of_preset(other)[0]) for other in others)
        planned.append(PlannedArtefact(name, paper, title, _flag_older_code(runs), problem, reads))
    return Workload(scale, tuple(planned))


def plan_command(overrides: Sequence[str], configs: Path = CONFIGS) -> Workload:
    """Plan what ``python run.py`` would run with these overrides.

    Raises
    ------
    ConfigError
        If it would refuse to.
    """
    planned = sweep.plan(overrides, configs)
    note_command(planned, overrides, configs)
    runs = [cell.run for cell in planned.cells]
    first = runs[0]
    look = _Look(Path(first.outputs), first.scale)
    title = ARTEFACTS[first.experiment].title if first.experiment in ARTEFACTS else ""
    artefact = PlannedArtefact(first.experiment, first.paper, title, _flag_older_code(map(look.at, runs)))
    return Workload(first.scale, (artefact,))


def all_artefacts() -> dict[str, tuple[str, str]]:
    """Return every artefact of the papers, id -> (paper, title): what is built and what the targets name."""
    found = {}
    for paper in PAPERS:
        titles = load_targets(paper).titles
        ours = {entry.id: entry.title for entry in ARTEFACTS.values() if entry.paper == paper}
        found.update({name: (paper, title) for name, title in (ours | titles).items()})
    return found


def _chosen(only: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the artefacts that `only` names, themselves or by their paper."""
    known = all_artefacts()
    names = [*PAPERS, *known]
    for name in only:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Papers: {', '.join(PAPERS)}."
            raise InputError(f"{name} is no paper and no artefact. {hint}")
    return {name: entry for name, entry in known.items() if not only or {name, entry[0]} & set(only)}


class _Look:
    """Looks up how far runs are; each once."""

    def __init__(self, outputs: Path, scale: str, count_measured: bool = True):
        self.recorded = recorded.results() if count_measured else {}
        self.estimator = Estimator([*costs_of_runs(outputs, scale), *read_costs()])
        self.seen: dict[str, PlannedRun] = {}

    def at(self, run: RunConfig) -> PlannedRun:
        path = run_directory(run)
        if path.name not in self.seen:
            self.seen[path.name] = self._look(run, path)
        return self.seen[path.name]

    def _look(self, run: RunConfig, path: Path) -> PlannedRun:
        folder = RunFolder(path)
        if run.force:  # the old rows count for nothing
            folder = folder.remake
        status = folder.read_status() or {}
        state, commit, dirty, written = _state(status), "", False, ""
        if state == "done" and (damage := folder.damage()):
            state, status = "failed", {**status, "message": damage}
        rows = [] if run.force else [self.recorded.get(result) for result in recorded.wanted(run)]
        found = rows[0] if all(rows) and rows else None
        if state == "done":
            made_with = environment.read(folder.path / "environment.json") or {}
            commit, dirty = str(made_with.get("commit", "")), bool(made_with.get("dirty"))
            written = str(status.get("updated", ""))
        elif found is not None and state != "running":
            state, commit, written = MEASURED, found.commit, found.written
        # a run that has diverged would again
        over = state in FINISHED or state == "diverged"
        left = NOTHING_LEFT if over else self.estimator.left(run, samples_trained(folder))
        message = str(status.get("message", ""))
        return PlannedRun(path.name, folder.path, state, message, commit, dirty, written, left)


def _state(status: Mapping[str, Any]) -> str:
    """State of a run; ``preempted`` if it was running in a process of this machine that no longer lives."""
    state = str(status.get("state", "planned"))
    if state == "running" and status.get("host") == socket.gethostname() and not _lives(status.get("pid")):
        return "preempted"
    return state if state in STATES else "planned"


def _lives(pid: Any) -> bool:
    try:
        os.kill(int(pid), 0)
    except PermissionError:  # someone else's
        return True
    except (OSError, TypeError, ValueError):
        return False
    return True


def samples_trained(folder: RunFolder) -> int:
    """Return the training samples that an unfinished run need not see again, about: those of its newest curve point."""
    if not (folder.checkpoints / "last.ckpt").exists():
        return 0
    try:
        lines = folder.metrics.read_text(encoding="utf-8").splitlines(keepends=True)
        return next(int(line.split(",")[1]) for line in reversed(lines[1:]) if line.endswith("\n"))
    except (OSError, ValueError, IndexError, StopIteration):
        return 0


def _flag_older_code(runs: Iterable[PlannedRun]) -> tuple[PlannedRun, ...]:
    """Mark an artefact's runs whose rows are of another commit than its newest ones."""
    runs = tuple(runs)
    newest = max((run for run in runs if run.finished), key=lambda run: run.written, default=None)
    return tuple(
        replace(run, older_code=newest is not None and run.finished and run.commit != newest.commit) for run in runs
    )
