"""Print a workload as a table or as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sparseid.launching.plan import RECORDED, PlannedArtefact, PlannedRun, Total, Workload, total

FOLD_ABOVE = 12
"""Number of runs above which an artefact shows only counts by default."""

_ORDER = ("done", RECORDED, "running", "preempted", "failed", "diverged", "planned")
_STYLES = {"done": "green", RECORDED: "green", "running": "cyan", "failed": "red", "diverged": "red"}
_WIDTH = 200
"""Columns if the output is not a terminal: enough for every line."""
_NARROWEST = 110
"""Columns below which names would break; narrower terminals wrap lines themselves."""


def print_workload(workload: Workload, every_run: bool = False) -> None:
    """Print artefacts, their runs and totals: a table in a terminal, plain columns elsewhere.

    With `every_run` long sweeps list each run instead of the counts of their states.
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
    papers = workload.papers()
    for paper in papers:
        for artefact in (entry for entry in workload.artefacts if entry.paper == paper and not entry.problem):
            _add_artefact(table, artefact, every_run)
        if len(papers) > 1 and (runs := workload.runs(paper)):
            _add_total(table, f"all of {paper}", runs)
        table.add_section()
    if len(workload.artefacts) > 1:
        _add_total(table, "all papers" if len(papers) > 1 else "all", workload.runs())
    with console.capture() as captured:
        console.print(table)
    print(f"scale={workload.scale}; hours of one run after the other; shared runs count once in totals\n")
    print("\n".join(line.rstrip() for line in captured.get().splitlines()), flush=True)

    without: dict[tuple[str, str], list[str]] = {}
    for artefact in (entry for entry in workload.artefacts if entry.problem):
        without.setdefault((artefact.paper, artefact.problem), []).append(artefact.id)
    for (_, problem), names in without.items():
        print(f"{', '.join(names)}: {problem}", flush=True)


def _add_artefact(table: Table, artefact: PlannedArtefact, every_run: bool) -> None:
    summed, runs = total(artefact.runs), artefact.runs
    folded = len(runs) > FOLD_ABOVE and not every_run
    commits, bases = (
        "; ".join(dict.fromkeys(filter(None, texts))) if folded else ""
        for texts in (map(commit_text, runs), (run.left.basis for run in runs))
    )
    table.add_row(Text(artefact.id, "bold"), states_text(summed), commits, left_text(summed), bases)
    for run in () if folded else runs:
        state = Text(run.state, _STYLES.get(run.state, ""))
        table.add_row(f"  {run.name}", state, commit_text(run), left_text(total([run])), run.left.basis)
    for name, read in artefact.reads:
        table.add_row(f"  reads {name}", states_text(total(read)) if read else "cannot be planned", "", "", "")


def _add_total(table: Table, name: str, runs: Mapping[str, PlannedRun]) -> None:
    summed = total(runs.values())
    table.add_row(Text(name, "italic"), states_text(summed), "", left_text(summed))


def states_text(summed: Total) -> str:
    """Return the number of runs in each state: ``2 of 5 done: 1 done, 1 recorded, 3 planned``."""
    states = [f"{summed.states[state]} {state}" for state in _ORDER if summed.states.get(state)]
    plain = list(summed.states) == ["done"]
    return f"{summed.finished} of {summed.runs} done" + ("" if plain else f": {', '.join(states)}")


def left_text(summed: Total) -> str:
    """Return the remaining time: ``at most 2.5 h + 3 unknown``."""
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
    """Return the commit of a run's rows, flagged if dirty or older than others; empty without rows."""
    flags = (", local changes" if run.dirty else "") + (", older code" if run.older_code else "")
    return run.commit[:8] + flags if run.commit else ""


def as_json(workload: Workload) -> dict[str, Any]:
    """Return a workload as plain values; hours are those of one device, None where unknown."""
    return {
        "scale": workload.scale,
        "artefacts": [
            {name: getattr(artefact, name) for name in ("id", "paper", "title", "problem")}
            | {
                "runs": [run.name for run in artefact.runs],
                "older_code": [run.name for run in artefact.runs if run.older_code],
                "total": _total_json(artefact.runs),
                "reads": {name: [run.name for run in runs] for name, runs in artefact.reads},
            }
            for artefact in workload.artefacts
        ],
        "runs": {name: _run_json(run) for name, run in workload.runs().items()},
        "papers": {paper: _total_json(workload.runs(paper).values()) for paper in workload.papers()},
        "total": _total_json(workload.runs().values()),
    }


def _run_json(run: PlannedRun) -> dict[str, Any]:
    fields = {name: getattr(run, name) for name in ("state", "message", "commit", "dirty", "written")}
    hours = None if run.left.seconds is None else run.left.seconds / 3600
    left = {"hours_left": hours, "at_most": run.left.at_most, "basis": run.left.basis}
    return {"folder": str(run.folder), **fields, **left}


def _total_json(runs: Iterable[PlannedRun]) -> dict[str, Any]:
    summed = total(runs)
    fields = {name: getattr(summed, name) for name in ("runs", "finished", "at_most", "unknown")}
    return {**fields, "states": dict(summed.states), "hours_left": summed.seconds / 3600}
