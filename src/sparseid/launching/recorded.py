"""Runs to skip because their results are recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sparseid.config.identity import member_seeds, recipe_hash
from sparseid.config.schema import RunConfig
from sparseid.config.sweep import Plan, with_parents
from sparseid.errors import InputError
from sparseid.papers.recorded import read_recorded
from sparseid.papers.registry import ARTEFACTS

Wanted = tuple[str, str, int, bool]
"""(scale, recipe, seed) of a result, and whether it is a run time, which members of stacks do not have."""


class Origin(NamedTuple):
    """Time of writing (ISO 8601) and commit of a recorded result."""

    written: str
    commit: str


def results() -> dict[Wanted, Origin]:
    """Return the origins of the newest recorded row of each run and of its newest run time.

    Raises
    ------
    InputError
        If a file is damaged: its runs would otherwise be repeated.
    """
    rows, damaged = read_recorded()
    if damaged:
        raise InputError(next(iter(damaged.values())))
    timed = rows["metric"] == "seconds"
    columns = ("scale", "recipe", "seed", "written", "commit")
    lines = sorted(rows.assign(timed=timed)[[*columns, "timed"]].drop_duplicates().itertuples(index=False, name=None))
    return {(scale, recipe, seed, has): Origin(time, commit) for scale, recipe, seed, time, commit, has in lines}


def wanted(run: RunConfig) -> list[Wanted]:
    """Return the results that must be recorded to skip a run."""
    artefact, recipe = ARTEFACTS.get(run.experiment), recipe_hash(run)
    timed = artefact is not None and "seconds" in artefact.metrics
    return [(run.scale, recipe, seed, timed) for seed in member_seeds(run)]


def without_recorded(planned: Plan) -> Plan:
    """Return a plan without the runs whose results are recorded; a stack is skipped only if all its members' are.

    A run whose weights another one starts from stays: weights are not recorded.
    """
    known = results()
    left = [trial for trial in planned.trials if not all(result in known for result in wanted(trial.run))]
    return replace(planned, trials=with_parents(left))
