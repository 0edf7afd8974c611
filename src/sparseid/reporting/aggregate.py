"""From rows to the cells of an artefact: our values over replicates beside the paper's number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from sparseid.measurements import Key
from sparseid.metrics.intervals import Summary
from sparseid.papers.artefact import Artefact
from sparseid.papers.rows import key_columns, keys_of, select, times
from sparseid.papers.targets import Target
from sparseid.reporting.verdicts import Verdict, judge


@dataclass(frozen=True)
class Cell:
    """One cell of a table or figure.

    Parameters
    ----------
    keys, metric
        What it is.
    target
        The paper's number; None where it has no such cell.
    ours
        Summary over replicates, in the paper's convention; None where nothing was measured.
    verdict
        The comparison.
    unit
        Of both numbers.
    older_commits
        Commits that some of our rows come from, other than that of the table's newest row.
    run
        Our replicates, those counted that have a row without a value; 0 where nothing was measured.
    """

    keys: Mapping[str, Key]
    metric: str
    target: Target | None
    ours: Summary | None
    verdict: Verdict
    unit: str = ""
    older_commits: tuple[str, ...] = ()
    run: int = 0


def cells(artefact: Artefact, rows: pd.DataFrame, scale: str) -> list[Cell]:
    """Return the cells of an artefact, those that the paper prints and those that we measured, in reading order.

    Parameters
    ----------
    artefact
        The artefact.
    rows
        Rows DataFrame of any papers and scales.
    scale
        The scale whose rows to use.
    """
    mine = rows[(rows["paper"] == artefact.paper) & (rows["scale"] == scale)]
    mine = artefact.derive(select(mine, artefact.selects))
    mine = mine[mine["metric"].isin(artefact.metrics)]
    commit = newest_commit(mine)
    mine = mine[["seed", "metric", "value", "unit", "commit", *key_columns(mine)]]
    printed = {(_identity(target.keys), target.metric): target for target in artefact.targets}
    measured: dict[tuple[frozenset[tuple[str, Key]], str], list[int]] = {}
    for place, (keys, metric) in enumerate(zip(keys_of(mine, artefact.cell), mine["metric"], strict=True)):
        measured.setdefault((_identity(keys), metric), []).append(place)

    def cell(identity: frozenset[tuple[str, Key]], metric: str) -> Cell:
        keys, target = _projected(dict(identity), artefact), printed.get((identity, metric))
        of_cell = mine.iloc[measured.get((_identity(keys), metric), [])]
        ours = artefact.convention.summarise(of_cell, metric) if len(of_cell) else None
        unit = target.unit if target else str(of_cell["unit"].iloc[0])
        older = tuple(sorted(set(of_cell["commit"]) - {commit}))
        without = ours is not None and bool(of_cell["value"].isna().any())
        run = artefact.convention.replicates(of_cell, metric) if without else ours.n if ours else 0
        verdict = judge(target, ours, "paper" if artefact.computed else scale)
        return Cell(keys, metric, target, ours, verdict, unit, older, run)

    made = [cell(keys, metric) for keys, metric in printed | measured]
    return sorted(made, key=lambda cell: _position(cell, artefact))


def newest_commit(rows: pd.DataFrame) -> str:
    """Return the commit of the row that was written last; empty without rows."""
    return "" if rows.empty else str(rows["commit"].iloc[times(rows).argmax()])


def _projected(keys: Mapping[str, Key], artefact: Artefact) -> dict[str, Key]:
    return {name: keys[name] for name in artefact.cell if name in keys}


def _identity(keys: Mapping[str, Key]) -> frozenset[tuple[str, Key]]:
    return frozenset(keys.items())


def _position(cell: Cell, artefact: Artefact) -> tuple:
    places = []
    for name in artefact.cell:
        value = cell.keys.get(name, "")
        allowed = list(artefact.selects.get(name, ()))
        places.append((allowed.index(value), "") if value in allowed else (len(allowed), str(value)))
    return (*places, artefact.metrics.index(cell.metric))
