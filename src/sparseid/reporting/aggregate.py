"""Entries of an artefact: our values, aggregated over replicates, and the paper's number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from sparseid.measurements import Key
from sparseid.metrics.intervals import Summary
from sparseid.papers.artefact import Artefact
from sparseid.papers.rows import key, keys_of, newest_row, replicate_means, replicates_of, select
from sparseid.papers.targets import Target
from sparseid.reporting.verdicts import Verdict, judge


@dataclass(frozen=True)
class Entry:
    """One entry of a table or figure."""

    keys: Mapping[str, Key]
    metric: str
    target: Target | None
    """The paper's number; None if it has no such entry."""
    ours: Summary | None
    """Summary of our replicates, aggregated as in the paper; None without measurements."""
    verdict: Verdict
    unit: str = ""
    """Unit of both numbers."""
    older_commits: tuple[str, ...] = ()
    """Commits of some of our rows, other than that of the table's newest row."""
    run: int = 0
    """Number of our replicates, including those with a row but no value."""


def entries(artefact: Artefact, rows: pd.DataFrame, scale: str) -> list[Entry]:
    """Return the printed and the measured entries of an artefact, in reading order.

    Parameters
    ----------
    artefact
        The artefact.
    rows
        Rows DataFrame of any papers and scales.
    scale
        The scale to select.
    """
    mine = rows[(rows["paper"] == artefact.paper) & (rows["scale"] == scale)]
    selected = select(mine, artefact.selects)
    mine = artefact.derive(selected)
    mine = mine[mine["metric"].isin(artefact.metrics)]
    commit, commits, units = newest_commit(mine), mine["commit"].tolist(), mine["unit"].tolist()
    replicates, values = replicates_of(mine, artefact.aggregation.keys), mine["value"].astype(float).tolist()
    printed = {(_identity(target.keys), target.metric): target for target in artefact.targets}
    measured: dict[tuple[frozenset[tuple[str, Key]], str], list[int]] = {}
    for place, (keys, metric) in enumerate(zip(keys_of(mine, artefact.entry_keys), mine["metric"], strict=True)):
        measured.setdefault((_identity(keys), metric), []).append(place)

    def complete(places: list[int]) -> bool:
        own = mine.iloc[places] if artefact.pools else mine
        derived = all(key(own, name).isna().all() for name in artefact.pools)  # a test on all rows: it has no groups
        return not artefact.lacks(selected if derived else own)

    def entry(identity: frozenset[tuple[str, Key]], metric: str) -> Entry:
        own, target = dict(identity), printed.get((identity, metric))
        keys = {name: own[name] for name in artefact.entry_keys if name in own}
        places = measured.get((_identity(keys), metric), [])
        own_replicates = [replicates[place] for place in places]
        means = replicate_means(own_replicates, [values[place] for place in places])
        ours = artefact.aggregation.summarise(list(means.values()), metric) if places else None
        unit = target.unit if target else str(units[places[0]])
        older = tuple(sorted({commits[place] for place in places} - {commit}))
        judged_at = "paper" if artefact.computed else scale
        verdict = judge(target, ours, judged_at, judged_at != "paper" or complete(places))
        return Entry(keys, metric, target, ours, verdict, unit, older, len(set(own_replicates)))

    found = [entry(keys, metric) for keys, metric in printed | measured]
    return sorted(found, key=lambda entry: _position(entry, artefact))


def mixes_recipes(artefact: Artefact, rows: pd.DataFrame) -> bool:
    """Return whether a replicate of an entry of the artefact would be a mean over runs with different settings."""
    mine = artefact.derive(select(rows[rows["paper"] == artefact.paper], artefact.selects))
    mine = mine[mine["metric"].isin(artefact.metrics)]
    places = zip(
        keys_of(mine, artefact.entry_keys),
        mine["metric"],
        replicates_of(mine, artefact.aggregation.keys),
        mine["recipe"],
        strict=True,
    )
    first: dict[tuple, str] = {}
    return any(
        first.setdefault((_identity(keys), metric, replicate), recipe) != recipe
        for keys, metric, replicate, recipe in places
    )


def newest_commit(rows: pd.DataFrame) -> str:
    """Return the commit of the row that was written last; empty without rows."""
    return "" if rows.empty else str(newest_row(rows)["commit"])


def _identity(keys: Mapping[str, Key]) -> frozenset[tuple[str, Key]]:
    return frozenset(keys.items())


def _position(entry: Entry, artefact: Artefact) -> tuple:
    places = []
    for name in artefact.entry_keys:
        value = entry.keys.get(name, "")
        allowed = list(artefact.selects.get(name, ()))
        places.append((allowed.index(value), "") if value in allowed else (len(allowed), str(value)))
    return (*places, artefact.metrics.index(entry.metric))
