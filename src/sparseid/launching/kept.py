"""Which runs need not be made because their rows are kept in git."""

from __future__ import annotations

from dataclasses import replace

from sparseid.config import sweep
from sparseid.config.identity import member_seeds, recipe_hash
from sparseid.config.schema import RunConfig
from sparseid.config.sweep import with_needed
from sparseid.papers.registry import ARTEFACTS
from sparseid.reporting import collect
from sparseid.training.errors import RunError
from sparseid.training.rows import Row, read_rows

Measured = tuple[str, str, int, bool]
"""(scale, recipe, seed) of a run, and whether its run time is among its rows: a member of a stack has none."""


def measured() -> dict[Measured, Row]:
    """Return what is kept in git: the newest row of each run, and where it has a run time that row."""
    found: dict[Measured, Row] = {}
    for path in collect.measured_files():
        try:
            rows = read_rows(path)
        except RunError:  # the report says so
            continue
        for row in rows:
            key = row.scale, row.recipe, row.seed, row.metric == "seconds"
            if key not in found or row.written > found[key].written:
                found[key] = row
    return found


def keys(run: RunConfig) -> list[Measured]:
    """Return what must be kept of a run so that it need not be made."""
    artefact, recipe = ARTEFACTS.get(run.experiment), recipe_hash(run)
    timed = artefact is not None and "seconds" in artefact.metrics
    return [(run.scale, recipe, seed, timed) for seed in member_seeds(run)]


def without_measured(planned: sweep.Plan) -> sweep.Plan:
    """Return a plan without the runs whose rows are kept in git, of a stack those of all its members.

    A run that one of the others starts from stays: its weights are kept nowhere.
    """
    kept = measured()
    left = [cell for cell in planned.cells if not all(key in kept for key in keys(cell.run))]
    return replace(planned, cells=with_needed(left))
