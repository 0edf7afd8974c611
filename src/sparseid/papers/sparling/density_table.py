"""The table of errors over the densities of one run."""

from __future__ import annotations

import pandas as pd

from sparseid.papers.labels import label
from sparseid.papers.paper import RunTable
from sparseid.papers.rows import per_seed, values_of, without_baselines

METRICS = ("density", "fpe", "fne", "ce", "e2ee")
MOST_LINES = 9
"""Maximal number of densities in the table; the figure has all."""


def run_tables(rows: pd.DataFrame) -> list[RunTable]:
    """Return the errors of a run at some of its densities, including the last, in columns that have any.

    Nothing for a single density.
    """
    measured = without_baselines(rows[rows["value"].notna() & rows["metric"].isin(METRICS)])
    steps = [int(step) for step in values_of(measured, "steps_above")]
    if len(steps) < 2:
        return []
    stride = -(-len(steps) // MOST_LINES)
    lines, metrics = [], [metric for metric in METRICS if metric in set(measured["metric"])]
    for step in reversed(steps[::stride]):
        values = [per_seed(measured, metric, steps_above=step) for metric in metrics]
        lines.append([step, *(float(value.mean()) if len(value) else None for value in values)])
    return [RunTable("Errors by density, %", ("cuts above final", *map(label, metrics)), lines)]
