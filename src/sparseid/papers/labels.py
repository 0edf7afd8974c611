"""Labels of keys, metrics and units in tables and figures. Each paper declares its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from sparseid.measurements import Key

UNITS = {
    "percent": "%",
    "second": "s",
    **dict.fromkeys(
        ("1", "ratio", "score", "score in [0,1]", "score in [-1,1]", "correlation", "correlation in [0,1]", "fraction",
         "probability"),
        "",
    ),
}  # fmt: skip
"""Unit -> label behind a metric's name; empty for dimensionless units."""


def label(name: Key) -> str:
    """Return the label of a key's value or of a metric."""
    return _labels()[0].get(str(name), str(name).replace("_", " "))


def unit_label(unit: str) -> str:
    """Return the label of a unit, to stand behind a metric's; may be empty."""
    return _labels()[2].get(unit, unit)


def entry_label(keys: Mapping[str, Key]) -> str:
    """Return the label of an entry: its keys in one line.

    Examples
    --------
    >>> entry_label({"domain": "digitcircle", "steps_above": 3})
    'DigitCircle, 3 cuts above final'
    """
    return ", ".join(
        _labels()[1].get(key, key.replace("_", " ") + " {}").format(f"{value:g}")
        if isinstance(value, int | float)
        else label(value)
        for key, value in keys.items()
    )


@cache
def _labels() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return the labels of names, of keys and of units; the first paper in the report has priority."""
    from sparseid.papers.registry import PAPERS  # imports the papers, whose figures import this module

    names: dict[str, str] = {}
    keys: dict[str, str] = {}
    units: dict[str, str] = {}
    for paper in reversed(PAPERS.values()):
        names |= {metric.name: metric.label for metric in paper.metrics if metric.label} | dict(paper.labels)
        keys |= paper.key_labels
        units |= paper.unit_labels
    return names, keys, units | UNITS
