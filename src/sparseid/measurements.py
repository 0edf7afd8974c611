"""Interface between methods and runs: metrics, the checkpoints to test, and the results of the tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Key = str | int | float
"""Value of a row's key: names and numbers that address an entry of a paper's tables and figures."""


@dataclass(frozen=True)
class Metric:
    """Name, unit, direction and label of a metric, defined only here.

    Parameters
    ----------
    name
        Name in rows and in the ``targets.yaml`` of papers.
    unit
        Unit of its values in rows, for example ``"percent"``; empty for a pure number.
    better
        ``high`` or ``low``; ``none`` if neither is better.
    label
        Name in tables and figures; empty is `name` with spaces.
    meaning
        Explanation in one line; empty if the label suffices.
    main
        The rows with the metric that belong in a run's short table: row key -> allowed values, None for rows without
        the key; empty for all of them. None if it is no main metric.
    """

    name: str
    unit: str = ""
    better: Literal["high", "low", "none"] = "none"
    label: str = ""
    meaning: str = ""
    main: Mapping[str, Collection[Key | None]] | None = None


SECONDS = Metric("seconds", "second", "low", meaning="wall-clock time of a run")
"""Metric of every run."""


def units(metrics: Iterable[Metric]) -> dict[str, str]:
    """Return the unit of each metric by its name."""
    return {metric.name: metric.unit for metric in metrics}


@dataclass(frozen=True)
class Measurement:
    """One measured number.

    Parameters
    ----------
    metric
        Name of the metric as in the paper's ``targets.yaml``.
    value
        The number, in `unit`; None or NaN if undefined (an empty prediction has no error rate).
    unit
        Unit of the paper's targets, for example ``"%"``; empty for a pure number.
    n
        Number of items behind the value.
    keys
        Keys of the row in addition to those of the run and of the evaluation.
    seed
        Seed of the member of a stack; None for the seed of the run.
    """

    metric: str
    value: float | None
    unit: str = ""
    n: int = 0
    keys: dict[str, Key] = field(default_factory=dict)
    seed: int | None = None


@dataclass(frozen=True)
class Evaluation:
    """One test of a trained run.

    Parameters
    ----------
    keys
        Row keys that distinguish this evaluation from the others of the run (Sparling: ``{"steps_above": 2}``).
    checkpoint
        File with the ``state_dict`` to test; it must load with ``torch.load(weights_only=True)`` and fit strictly.
    items
        Number of test items.
    """

    keys: dict[str, Key]
    checkpoint: Path
    items: int
