"""Runs that need not be made because their results are recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sparseid.config.identity import member_seeds, recipe_hash
from sparseid.config.schema import RunConfig
from sparseid.config.sweep import Plan, with_needed
from sparseid.papers.recorded import read_recorded
from sparseid.papers.registry import ARTEFACTS

Wanted = tuple[str, str, int, bool]
"""(scale, recipe, seed) of a result, and whether its run time is wanted: a member of a stack has none."""


class Origin(NamedTuple):
    """Origin of a recorded result: the time of writing, ISO 8601, and the commit."""

    written: str
    commit: str


def results() -> dict[Wanted, Origin]:
    """Return where the newest recorded row of each run and its newest run time come from.

    Damaged files are skipped; the report names them.
    """
    rows, _ = read_recorded()
    timed = rows["metric"] == "seconds"
    columns = ("scale", "recipe", "seed", "written", "commit")
    lines = sorted(rows.assign(timed=timed)[[*columns, "timed"]].drop_duplicates().itertuples(index=False, name=None))
    return {(scale, recipe, seed, has): Origin(time, commit) for scale, recipe, seed, time, commit, has in lines}


def wanted(run: RunConfig) -> list[Wanted]:
    """Return what must be recorded of a run so that it need not be made."""
    artefact, recipe = ARTEFACTS.get(run.experiment), recipe_hash(run)
    timed = artefact is not None and "seconds" in artefact.metrics
    return [(run.scale, recipe, seed, timed) for seed in member_seeds(run)]


def without_recorded(planned: Plan) -> Plan:
    """Return a plan without the runs whose results are recorded; a stack is skipped only if all its members' are.

    A run that one of the others starts from stays: its weights are not recorded.
    """
    known = results()
    left = [cell for cell in planned.cells if not all(result in known for result in wanted(cell.run))]
    return replace(planned, cells=with_needed(left))
