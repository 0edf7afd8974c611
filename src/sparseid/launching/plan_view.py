"""A workload as people and as machines read it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sparseid.launching.estimate import Estimate
from sparseid.launching.plan import MEASURED, PlannedArtefact, PlannedRun, Total, Workload, total

FOLD_ABOVE = 12
"""Runs up to which an artefact lists each of them unasked."""

_ORDER = ("done", MEASURED, "running", "preempted", "failed", "diverged", "planned")
_STYLES = {"done": "green", MEASURED: "green", "running": "cyan", "failed": "red", "diverged": "red"}
_WIDTH = 200
"""Columns where the output is no terminal: enough for every line."""
_NARROWEST = 110
"""Columns below which names would break; a narrower terminal wraps the lines itself."""


def print_workload(workload: Workload, every_run: bool = False) -> None:
    """Print artefacts, their runs and totals: a table in a terminal, plain columns elsewhere.

    Parameters
    ----------
    workload
        What to print.
    every_run
        List each run of long sweeps too, instead of how many are in which state.
    """
    console = Console(highlight=False, markup=False)
    width = max(console.width, _NARROWEST) if console.is_terminal else _WIDTH
    console = Console(highlight=False, markup=False, width=width)
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, header_style="bold")
    table.add_column("artefact", no_wrap=True)
    table.add_column("state", min_width=12)
    table.add_column("commit")
    table.add_column("left", justify="right", no_wrap=True)
    table.add_column("estimated from")
    for paper in workload.papers():
        for artefact in (artefact for artefact in workload.artefacts if artefact.paper == paper):
            _add_artefact(table, artefact, every_run)
        if len(workload.papers()) > 1 and workload.runs(paper):
            _add_total(table, f"all of {paper}", total(workload.runs(paper).values()))
        table.add_section()
    if len(workload.artefacts) > 1:
        _add_total(table, "all papers" if len(workload.papers()) > 1 else "all", total(workload.runs().values()))
    with console.capture() as written:
        console.print(table)
    print(f"scale={workload.scale}; hours of one run after the other; runs that artefacts share count once in totals\n")
    print("\n".join(line.rstrip() for line in written.get().splitlines()), flush=True)
    _print_without_runs(workload)


def _print_without_runs(workload: Workload) -> None:
    """Name the artefacts that have no runs, and why."""
    without = [artefact for artefact in workload.artefacts if artefact.problem]
    reasons = dict.fromkeys((artefact.paper, artefact.problem) for artefact in without)
    for paper, problem in reasons:
        names = ", ".join(artefact.id for artefact in without if (artefact.paper, artefact.problem) == (paper, problem))
        print(f"{names}: {problem}", flush=True)


def _add_artefact(table: Table, artefact: PlannedArtefact, every_run: bool) -> None:
    if artefact.problem:
        return
    summed = total(artefact.runs)
    bases = list(dict.fromkeys(run.left.basis for run in artefact.runs if run.left.basis))
    folded = len(artefact.runs) > FOLD_ABOVE and not every_run
    table.add_row(
        Text(artefact.id, "bold"), states_text(summed), _commits(artefact) if folded else "", left_text(summed),
        "; ".join(bases) if folded else "",
    )  # fmt: skip
    for run in () if folded else artefact.runs:
        state = Text(run.state, _STYLES.get(run.state, ""))
        left = left_text(total([run]))
        table.add_row(f"  {run.name}", state, commit_text(run), left, run.left.basis)
    for name, runs in artefact.reads:
        table.add_row(f"  reads {name}", states_text(total(runs)) if runs else "cannot be planned", "", "", "")


def _add_total(table: Table, name: str, summed: Total) -> None:
    table.add_row(Text(name, "italic"), states_text(summed), "", left_text(summed))


def states_text(summed: Total) -> str:
    """Return how many runs are finished and in which states: ``2 of 5 done: 1 done, 1 measured, 3 planned``."""
    states = [f"{summed.states[state]} {state}" for state in _ORDER if summed.states.get(state)]
    plain = list(summed.states) == ["done"]
    return f"{summed.finished} of {summed.runs} done" + ("" if plain else f": {', '.join(states)}")


def left_text(summed: Total) -> str:
    """Return what the rest takes: ``at most 2.5 h + 3 unknown``."""
    unknown = summed.unknown
    if not summed.seconds and unknown:
        return "unknown" if unknown == 1 else f"{unknown} unknown"
    text = ("at most " if summed.at_most else "") + hours_text(summed.seconds)
    return f"{text} + {unknown} unknown" if unknown else text


def hours_text(seconds: float) -> str:
    """Return a duration in hours.

    Examples
    --------
    >>> [hours_text(s) for s in (0, 5, 750, 5400, 10_000_000)]
    ['0 h', '<0.01 h', '0.21 h', '1.5 h', '2,778 h']
    """
    hours = seconds / 3600
    if hours < 0.01:
        return "<0.01 h" if hours else "0 h"
    return f"{hours:,.0f} h" if hours >= 100 else f"{hours:.1f} h" if hours >= 1 else f"{hours:.2g} h"


def commit_text(run: PlannedRun) -> str:
    """Return the commit of a run's rows with what is to be known about it."""
    marks = (", local changes" if run.dirty else "") + (", older code" if run.older_code else "")
    return run.commit[:8] + marks


def _commits(artefact: PlannedArtefact) -> str:
    return "; ".join(dict.fromkeys(commit_text(run) for run in artefact.runs if run.commit))


def as_json(workload: Workload) -> dict[str, Any]:
    """Return a workload as plain values; hours are those of one device, None where unknown."""
    return {
        "scale": workload.scale,
        "artefacts": [
            {
                "id": artefact.id,
                "paper": artefact.paper,
                "title": artefact.title,
                "problem": artefact.problem,
                "runs": [run.name for run in artefact.runs],
                "older_code": [run.name for run in artefact.runs if run.older_code],
                "total": _total_json(total(artefact.runs)),
                "reads": {name: [run.name for run in runs] for name, runs in artefact.reads},
            }
            for artefact in workload.artefacts
        ],
        "runs": {name: _run_json(run) for name, run in workload.runs().items()},
        "papers": {paper: _total_json(total(workload.runs(paper).values())) for paper in workload.papers()},
        "total": _total_json(total(workload.runs().values())),
    }


def _run_json(run: PlannedRun) -> dict[str, Any]:
    fields = {name: value for name, value in asdict(run).items() if name not in ("name", "older_code", "left")}
    return {**fields, "folder": str(run.folder), **_left_json(run.left), "basis": run.left.basis}


def _left_json(left: Estimate) -> dict[str, Any]:
    return {"hours_left": None if left.seconds is None else left.seconds / 3600, "at_most": left.at_most}


def _total_json(summed: Total) -> dict[str, Any]:
    return {
        "runs": summed.runs,
        "finished": summed.finished,
        "states": dict(summed.states),
        "hours_left": summed.seconds / 3600,
        "at_most": summed.at_most,
        "unknown": summed.unknown,
    }
