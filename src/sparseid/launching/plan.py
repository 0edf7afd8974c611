"""Plan the runs of every artefact: the state of each, and the remaining time."""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from sparseid.config import sweep
from sparseid.config.choices import choices, scales
from sparseid.config.identity import run_directory
from sparseid.config.schema import RunConfig
from sparseid.config.search_path import CONFIGS, config_folders
from sparseid.errors import ConfigError, InputError
from sparseid.launching import recorded
from sparseid.launching.estimate import NOTHING_LEFT, Estimate, Estimator, costs_of_check, costs_of_runs, read_costs
from sparseid.papers.presets import save_planned_runs
from sparseid.papers.registry import ARTEFACTS, PAPERS
from sparseid.papers.targets import load_targets
from sparseid.spelling import nearest
from sparseid.training import environment
from sparseid.training.run_folder import STATES, RunFolder

RECORDED = "recorded"
"""State of a run that is not done here, but whose results are recorded in git."""

FINISHED = ("done", RECORDED)
NO_PRESET = "no preset yet"
COMPUTED = "no preset: computed for the report, without any run"


@dataclass(frozen=True)
class PlannedRun:
    """One run."""

    name: str
    folder: Path
    state: str
    """One of `STATES` or `RECORDED`; ``preempted`` if its process was killed."""
    message: str
    """The message in its ``status.json``."""
    commit: str
    """The commit of its rows; empty without rows, like `written`."""
    dirty: bool
    """True if there were uncommitted changes."""
    written: str
    left: Estimate
    """The remaining time."""
    older_code: bool = False
    """True if the newest rows of the same artefact are of another commit."""

    @property
    def finished(self) -> bool:
        """True if it has rows."""
        return self.state in FINISHED


@dataclass(frozen=True)
class PlannedArtefact:
    """A table or figure with its runs."""

    id: str
    paper: str
    title: str
    runs: tuple[PlannedRun, ...] = ()
    """Runs of its own preset."""
    problem: str = ""
    """Reason why it has none."""
    reads: tuple[tuple[str, tuple[PlannedRun, ...]], ...] = ()
    """Other presets that it reads, with their runs."""

    @property
    def refused(self) -> bool:
        """True if it has a preset at this scale that cannot be composed."""
        return bool(self.problem) and not self.problem.startswith("no preset")


@dataclass(frozen=True)
class Total:
    """The sum over some runs."""

    states: Mapping[str, int]
    """State -> number of runs."""
    seconds: float
    """Remaining time on one device, one run after the other, without the runs that are `unknown`."""
    at_most: bool
    """True if some of the seconds are a bound."""
    unknown: int
    """Number of unfinished runs without an estimate."""

    @property
    def runs(self) -> int:
        """Number of runs."""
        return sum(self.states.values())

    @property
    def finished(self) -> int:
        """Number of runs that have rows."""
        return sum(self.states[state] for state in FINISHED)


@dataclass(frozen=True)
class Workload:
    """All artefacts of a command or a scale."""

    scale: str
    artefacts: tuple[PlannedArtefact, ...]

    def runs(self, paper: str | None = None) -> dict[str, PlannedRun]:
        """Return all runs, or those of a paper, by name; artefacts may share runs."""
        return {run.name: run for entry in self.artefacts if paper in (None, entry.paper) for run in entry.runs}

    def papers(self) -> list[str]:
        """Return the papers in order."""
        return list(dict.fromkeys(entry.paper for entry in self.artefacts))


def total(runs: Iterable[PlannedRun]) -> Total:
    """Return the sum over distinct runs."""
    runs = list(runs)
    seconds = [run.left.seconds for run in runs if run.left.seconds is not None]
    at_most = any(run.left.at_most for run in runs)
    return Total(Counter(run.state for run in runs), sum(seconds), at_most, len(runs) - len(seconds))


def plan_artefacts(
    scale: str,
    outputs: Path,
    overrides: Sequence[str] = (),
    configs: Path = CONFIGS,
    count_recorded: bool = True,
    only: Sequence[str] = (),
) -> Workload:
    """Plan the artefacts of all papers at a scale; those without a usable preset have a `problem`.

    Parameters
    ----------
    scale
        smoke, small or paper.
    outputs
        The folder of runs; it need not exist.
    overrides
        Further settings of all runs, for example of the launcher.
    configs
        The folder of YAML files.
    count_recorded
        Whether runs with recorded results count as finished.
    only
        Papers and artefacts; empty for all.

    Raises
    ------
    InputError
        If a name in `only` is unknown.
    """
    folders = config_folders(configs, overrides)
    presets, plan_run = choices("experiment", folders), _planner(scale, outputs, count_recorded)

    @cache
    def of_preset(name: str) -> tuple[tuple[PlannedRun, ...], str]:
        """Return the runs of a preset, and the reason if there are none."""
        if name not in presets:
            return (), COMPUTED if name in ARTEFACTS and ARTEFACTS[name].computed else NO_PRESET
        if scale not in scales(name, folders):
            return (), f"no preset at scale={scale}"
        try:
            command = [f"experiment={name}", f"scale={scale}", f"outputs={outputs}", *overrides]
            planned = sweep.plan(command, configs)
            save_planned_runs(planned, command, configs)
        except ConfigError as error:
            return (), str(error)
        return tuple(plan_run(trial.run) for trial in planned.trials), ""

    planned = []
    for name, (paper, title) in _chosen(only).items():
        runs, problem = of_preset(name)
        others = [other for other in ARTEFACTS[name].presets if other != name] if name in ARTEFACTS else []
        reads = tuple((other, of_preset(other)[0]) for other in others)
        planned.append(PlannedArtefact(name, paper, title, _flag_older_code(runs), problem, reads))
    return Workload(scale, tuple(planned))


def plan_command(overrides: Sequence[str], configs: Path = CONFIGS) -> Workload:
    """Plan the runs of ``python run.py`` with these overrides; ConfigError if they are invalid."""
    planned = sweep.plan(overrides, configs)
    save_planned_runs(planned, overrides, configs)
    runs = [trial.run for trial in planned.trials]
    first = runs[0]
    plan_run = _planner(first.scale, Path(first.outputs))
    title = ARTEFACTS[first.experiment].title if first.experiment in ARTEFACTS else ""
    artefact = PlannedArtefact(first.experiment, first.paper, title, _flag_older_code(map(plan_run, runs)))
    return Workload(first.scale, (artefact,))


def all_artefacts() -> dict[str, tuple[str, str]]:
    """Return all artefacts of the papers, built or only in their targets: id -> (paper, title)."""
    found = {}
    for paper in PAPERS:
        ours = {entry.id: entry.title for entry in ARTEFACTS.values() if entry.paper == paper}
        found.update({name: (paper, title) for name, title in (ours | load_targets(paper).titles).items()})
    return found


def _chosen(only: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the artefacts in `only`, which has names of artefacts or papers."""
    known = all_artefacts()
    names = [*PAPERS, *known]
    for name in only:
        if name not in names:
            near = nearest(name, names, 1)
            hint = f"Did you mean {near[0]}?" if near else f"Papers: {', '.join(PAPERS)}."
            raise InputError(f"unknown paper or artefact {name}. {hint}")
    return {name: entry for name, entry in known.items() if not only or {name, entry[0]} & set(only)}


def _planner(scale: str, outputs: Path, count_recorded: bool = True) -> Callable[[RunConfig], PlannedRun]:
    """Return a function that plans a run, cached by the run's folder."""
    results = recorded.results() if count_recorded else {}
    estimator = Estimator([*costs_of_runs(outputs, scale), *read_costs(), *costs_of_check(outputs)])
    seen: dict[Path, PlannedRun] = {}

    def plan_run(run: RunConfig) -> PlannedRun:
        path = run_directory(run)
        if path not in seen:
            rows = [] if run.force else [results.get(result) for result in recorded.wanted(run)]
            seen[path] = _planned_run(run, path, rows[0] if rows and all(rows) else None, estimator)
        return seen[path]

    return plan_run


def _planned_run(run: RunConfig, path: Path, row: Any, estimator: Estimator) -> PlannedRun:
    """Plan a run; `row` is one of its recorded results, or None."""
    folder = RunFolder(path).remake if run.force else RunFolder(path)  # force=true: ignore the old rows
    status = folder.read_status() or {}
    state, message, commit, dirty, written = _state(status), str(status.get("message", "")), "", False, ""
    if state == "done" and (damage := folder.damage()):
        state, message = "failed", damage
    if state == "done":
        provenance = environment.read(folder.path / "environment.json") or {}
        commit, dirty = str(provenance.get("commit", "")), bool(provenance.get("dirty"))
        written = str(status.get("updated", ""))
    elif row is not None and state != "running":
        state, commit, written = RECORDED, row.commit, row.written
    over = state in (*FINISHED, "diverged")  # a diverged run would diverge again
    left = NOTHING_LEFT if over else estimator.left(run, samples_trained(folder))
    return PlannedRun(path.name, folder.path, state, message, commit, dirty, written, left)


def _state(status: Mapping[str, Any]) -> str:
    """Return the state of a run; ``preempted`` if it was running in a process of this machine that has ended."""
    state = str(status.get("state", "planned"))
    if state == "running" and status.get("host") == socket.gethostname() and not _alive(status.get("pid")):
        return "preempted"
    return state if state in STATES else "planned"


def _alive(pid: Any) -> bool:
    try:
        os.kill(int(pid), 0)
    except PermissionError:  # the process of another user
        return True
    except (OSError, TypeError, ValueError):
        return False
    return True


def samples_trained(folder: RunFolder) -> int:
    """Return about how many training samples an unfinished run has behind it: those of its newest curve point."""
    if not (folder.checkpoints / "last.ckpt").exists():
        return 0
    try:
        lines = folder.metrics.read_text(encoding="utf-8").splitlines(keepends=True)
        return next(int(line.split(",")[1]) for line in reversed(lines[1:]) if line.endswith("\n"))
    except (OSError, ValueError, IndexError, StopIteration):
        return 0


def _flag_older_code(runs: Iterable[PlannedRun]) -> tuple[PlannedRun, ...]:
    """Flag an artefact's finished runs whose rows are of another commit than its newest ones."""
    runs = tuple(runs)
    newest = max((run for run in runs if run.finished), key=lambda run: run.written, default=None)
    return tuple(
        replace(run, older_code=run.finished and newest is not None and run.commit != newest.commit) for run in runs
    )
