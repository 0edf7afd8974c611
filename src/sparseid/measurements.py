"""Evaluations that a method asks for (checkpoints to test) and the measurements that it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

Key = str | int | float
"""A value of a row's key: the names and numbers by which a paper's tables and figures address an entry."""


@dataclass(frozen=True)
class Measurement:
    """One measured number.

    Parameters
    ----------
    metric
        Name of the metric as in the paper's ``targets.yaml``.
    value
        The number, in `unit`; None or NaN where it is undefined (an empty prediction has no error rate).
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
