"""Table of runs: a line per combination of the settings in which they differ, a column per main metric."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from sparseid.measurements import Key, Metric
from sparseid.metrics.intervals import Summary
from sparseid.papers.aggregation import Aggregation
from sparseid.papers.labels import entry_label
from sparseid.papers.registry import PAPERS, prepared
from sparseid.papers.rows import joined, keys_of, newest, replicate_means, replicates_of, rows_frame, select
from sparseid.reporting.collect import RESULT, SCALES
from sparseid.reporting.tables import metric_text, ours_text
from sparseid.settings import TrainerSettings
from sparseid.training.rows import read_rows

AGGREGATION = Aggregation()
"""Aggregation over seeds of runs that belong to no table of a paper."""
_FOLDER = "_folder"
_TRAINER = frozenset(f"trainer.{field.name}" for field in fields(TrainerSettings) if field.metadata.get("semantic"))
_LABELLED = 3
"""Most runs whose settings a sentence lists."""


@dataclass(frozen=True)
class RunsLine:
    """Runs that differ in their seed only, or one kind of their numbers."""

    settings: tuple[Any, ...]
    """Values of the table's settings; None where the runs have no such setting."""
    of: Mapping[str, Key]
    """Row keys of these numbers if a run has several of a metric; else empty."""
    values: Mapping[str, Summary]
    """Metric -> summary over seeds, without those that these runs do not measure."""
    n: int
    """Number of seeds, including those without a value."""
    folders: tuple[Path, ...]
    """Their run folders."""


@dataclass(frozen=True)
class RunsTable:
    """Main metrics of the runs of one experiment at one scale."""

    paper: str
    experiment: str
    scale: str
    settings: tuple[str, ...]
    """Settings in which the runs differ, ``data.latents``; or ``run`` if settings do not tell them apart."""
    metrics: tuple[Metric, ...]
    """Metrics of the columns."""
    notes: Mapping[str, str]
    """Metric -> label of what all its numbers are of; empty without one."""
    lines: tuple[RunsLine, ...]

    @property
    def title(self) -> str:
        """Experiment, scale, what all numbers are of, and aggregation in one line."""
        aggregation = str(AGGREGATION) if any(line.n > 1 for line in self.lines) else ""
        return f"{self.experiment} ({'; '.join(filter(None, [f'scale={self.scale}', self._shared_note, aggregation]))})"

    @property
    def header(self) -> tuple[str, ...]:
        """Header: settings, ``of`` if a run has several numbers of a metric, metrics and ``n``."""
        notes = {metric.name: "" if self._shared_note else self.notes[metric.name] for metric in self.metrics}
        metrics = [
            metric_text(metric.name, metric.unit, self.paper) + (f" ({note})" if (note := notes[metric.name]) else "")
            for metric in self.metrics
        ]
        return (*self.settings, *(["of"] if self._several_kinds else []), *metrics, "n")

    @property
    def texts(self) -> list[tuple[str, ...]]:
        """Lines as texts under `header`."""
        return [
            (
                *map(setting_text, line.settings),
                *([entry_label(line.of, self.paper)] if self._several_kinds else []),
                *(_value_text(line.values.get(metric.name), line.n) for metric in self.metrics),
                str(line.n),
            )
            for line in self.lines
        ]

    @property
    def directions(self) -> str:
        """Sentence that says which values are better, such as ``better: high MCC; low MSE``; empty if none is."""
        words = []
        for direction in ("high", "low"):
            names = [metric_text(metric.name, "", self.paper) for metric in self.metrics if metric.better == direction]
            words += [f"{direction} {', '.join(names)}"] if names else []
        return f"better: {'; '.join(words)}" if words else ""

    @property
    def _shared_note(self) -> str:
        """The note of all metrics, if there are several metrics with the same one."""
        notes = set(self.notes.values())
        return next(iter(notes)) if len(notes) == 1 < len(self.metrics) else ""

    @property
    def _several_kinds(self) -> bool:
        return any(line.of for line in self.lines)


def runs_tables(folders: Iterable[Path]) -> list[RunsTable]:
    """Return a table for each experiment and scale of finished runs, in the order of the report.

    Parameters
    ----------
    folders
        Folders of runs in the state ``done``.

    Raises
    ------
    RunError
        If the rows of a run cannot be read.
    """
    runs = [(settings_of(folder), folder) for folder in folders]
    runs.sort(key=lambda run: _order(run[1], run[0]))
    found = []
    for (_, paper, scale, experiment), members in groupby(runs, key=lambda run: _order(run[1], run[0])):
        table = _table(paper, experiment, scale, {folder: settings for settings, folder in members})
        found += [table] if table.lines else []
    return found


def run_labels(folders: Sequence[Path]) -> dict[Path, str]:
    """Return a short name for each of several runs: the settings in which it differs, ``data.latents=4, seed=0``."""
    settings = {folder: settings_of(folder) for folder in folders}
    names = _differing(list(settings.values()), seeds=True)
    labels = {
        folder: ", ".join(f"{name}={setting_text(of_run[name])}" for name in names if name in of_run)
        for folder, of_run in settings.items()
    }
    unique = len(set(labels.values())) == len(labels) and all(labels.values())
    return labels if unique else {folder: folder.name for folder in folders}


def labels_text(folders: Sequence[Path], labels: Mapping[Path, str]) -> str:
    """Return the labels of some runs in one line, at most three of them."""
    named = [labels[folder] for folder in folders[:_LABELLED]]
    more = len(folders) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more else "")


def settings_of(folder: Path) -> dict[str, Any]:
    """Return the settings of a run by dotted name, as its ``config.yaml`` has them; empty if it cannot be read.

    They are not checked: a run of another version of the code is shown as well.
    """
    try:
        values = yaml.load(
            (folder / "config.yaml").read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        )
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return {}
    return _flat(values) if isinstance(values, dict) else {}


def setting_text(value: Any) -> str:
    """Return the value of a setting as it is typed.

    Examples
    --------
    >>> [setting_text(value) for value in (None, True, 0.5, "relu", [8, 16])]
    ['', 'true', '0.5', 'relu', '[8,16]']
    """
    if isinstance(value, list):
        return f"[{','.join(map(setting_text, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def csv_text(tables: Sequence[RunsTable]) -> str:
    """Return tables as CSV with a line per number.

    Columns are experiment, scale, settings, keys, metric, unit, value, low, high, n and runs (names of their folders).
    Values have all their digits; ``low`` and ``high`` are empty for a single seed, ``value`` if it is undefined.
    """
    settings = list(dict.fromkeys(name for table in tables for name in table.settings))
    keys = list(dict.fromkeys(f"key_{name}" for table in tables for line in table.lines for name in line.of))
    text = io.StringIO()
    writer = csv.DictWriter(
        text,
        ["experiment", "scale", *settings, *keys, "metric", "unit", "value", "low", "high", "n", "runs"],
        lineterminator="\n",
    )
    writer.writeheader()
    for table in tables:
        for line in table.lines:
            shared = {"experiment": table.experiment, "scale": table.scale}
            shared |= dict(zip(table.settings, map(setting_text, line.settings), strict=True))
            shared |= {f"key_{name}": str(value) for name, value in line.of.items()}
            shared["runs"] = " ".join(folder.name for folder in line.folders)
            for metric in table.metrics:
                if (summary := line.values.get(metric.name)) is not None:
                    numbers = {"value": summary.centre, "low": summary.low, "high": summary.high}
                    plain = {name: "" if math.isnan(value) else repr(value) for name, value in numbers.items()}
                    writer.writerow(shared | {"metric": metric.name, "unit": metric.unit} | plain | {"n": summary.n})
    return text.getvalue()


def _order(folder: Path, settings: Mapping[str, Any]) -> tuple[int, str, str, str]:
    scale, paper = folder.absolute().parts[-3:-1]
    place = SCALES.index(scale) if scale in SCALES else len(SCALES)
    return place, paper, scale, str(settings.get("experiment", paper))


def _table(paper: str, experiment: str, scale: str, settings: Mapping[Path, dict[str, Any]]) -> RunsTable:
    rows = _rows(settings)
    metrics = _main_metrics(paper, rows)
    rows = joined(rows[:0], *(_rows_of(metric, rows) for metric in metrics))
    recipes = {
        str(recipe): [Path(name) for name in own.unique()]
        for recipe, own in rows.groupby("recipe", sort=False)[_FOLDER]
    }
    of_recipe = {recipe: settings[folders[-1]] for recipe, folders in recipes.items()}
    names = _differing(list(of_recipe.values()))
    values: dict[str, tuple[Any, ...]] = {
        recipe: tuple(own.get(name) for name in names) for recipe, own in of_recipe.items()
    }
    if len({repr(value) for value in values.values()}) < len(values):  # other files of the same name, or no config.yaml
        names = [*names, "run"]
        values = {recipe: (*own, recipes[recipe][-1].name) for recipe, own in values.items()}
    lines = [
        line
        for recipe, folders in recipes.items()
        for line in _lines(rows[rows["recipe"] == recipe], values[recipe], folders, [metric.name for metric in metrics])
    ]
    lines.sort(key=lambda line: tuple(map(_sortable, line.settings)))
    notes = {metric.name: _note(metric, rows[rows["metric"] == metric.name], paper) for metric in metrics}
    return RunsTable(paper, experiment, scale, tuple(names), metrics, notes, tuple(lines))


def _rows(folders: Iterable[Path]) -> pd.DataFrame:
    """Return the rows of runs, the newest of each recipe, entry and seed, with a column of their folder."""
    found = [rows_frame(read_rows(folder / RESULT)).assign(**{_FOLDER: str(folder)}) for folder in folders]
    rows = joined(*found)
    return prepared(newest(rows)) if len(rows) else rows


def _main_metrics(paper: str, rows: pd.DataFrame) -> tuple[Metric, ...]:
    """Return the main metrics that are in the rows; without any, those with a direction, else all."""
    units = dict(zip(rows["metric"], rows["unit"], strict=True))
    declared = {metric.name: metric for metric in (PAPERS[paper].metrics if paper in PAPERS else ())}
    measured = [declared.get(name, Metric(name, unit)) for name, unit in units.items()]
    measured.sort(key=lambda metric: list(declared).index(metric.name) if metric.name in declared else len(declared))
    main = [metric for metric in measured if metric.main is not None and len(_rows_of(metric, rows))]
    others = [metric for metric in measured if metric.better != "none"] or measured
    return tuple(main or [replace(metric, main=None) for metric in others])


def _rows_of(metric: Metric, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a metric that `Metric.main` chooses; all of them for one that is no main metric."""
    return select(rows[rows["metric"] == metric.name], metric.main or {})


def _lines(
    rows: pd.DataFrame, settings: tuple[Any, ...], folders: Sequence[Path], metrics: Sequence[str]
) -> list[RunsLine]:
    """Return the lines of one recipe: one, with a further one for each kind of numbers of which there are several."""
    of_line: dict[frozenset[tuple[str, Key]], dict[str, Summary]] = {}
    seeds = rows["seed"].nunique()
    for name in metrics:
        own = rows[rows["metric"] == name]
        kinds = [frozenset(keys.items()) for keys in keys_of(own)]
        shared = frozenset.intersection(*kinds) if kinds else frozenset()
        for kind in dict.fromkeys(kinds):
            at = [number for number, other in enumerate(kinds) if other == kind]
            of_kind = own.iloc[at]
            means = replicate_means(replicates_of(of_kind, ()), of_kind["value"].astype(float))
            of_line.setdefault(kind - shared, {})[name] = AGGREGATION.summarise(list(means.values()))
    order = [name.removeprefix("key_") for name in rows.columns]
    ordered = [
        RunsLine(
            settings, {name: dict(kind)[name] for name in order if name in dict(kind)}, values, seeds, tuple(folders)
        )
        for kind, values in of_line.items()
    ]
    return sorted(ordered, key=lambda line: bool(line.of))


def _note(metric: Metric, rows: pd.DataFrame, paper: str) -> str:
    """Return a label of what all numbers of a metric are of, as far as `Metric.main` chooses it."""
    found = keys_of(rows, list(metric.main or ()))
    same = found and found[0] and all(keys == found[0] for keys in found)
    return entry_label(found[0], paper) if same else ""


def _differing(settings: Sequence[Mapping[str, Any]], seeds: bool = False) -> list[str]:
    """Return the names of settings that have several values, in the order of ``config.yaml``."""
    names = dict.fromkeys(name for of_run in settings for name in of_run)
    counted = [name for name in names if name.startswith(("method.", "data.")) or name in _TRAINER]
    counted += ["seed", "seeds"] if seeds else []
    return [name for name in counted if len({repr(of_run[name]) for of_run in settings if name in of_run}) > 1]


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return found


def _sortable(value: Any) -> tuple[bool, float, str]:
    """Return a key that sorts numbers by value, before texts."""
    number = isinstance(value, int | float)
    return not number, float(value) if number else 0.0, str(value)


def _value_text(summary: Summary | None, n: int) -> str:
    """Return a number with its interval; of fewer seeds than the line has, with their number."""
    if summary is None:
        return ""
    return ours_text(summary) + (f" ({summary.n} of {n})" if summary.n < n else "")
