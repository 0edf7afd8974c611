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
    return _labels().get(str(name), str(name).replace("_", " "))


def unit_label(unit: str) -> str:
    """Return the label of a unit, to stand behind a metric's; may be empty."""
    return _unit_labels().get(unit, unit)


def entry_label(keys: Mapping[str, Key]) -> str:
    """Return the label of an entry: its keys in one line.

    Examples
    --------
    >>> entry_label({"domain": "digitcircle", "steps_above": 3})
    'DigitCircle, 3 cuts above final'
    """
    return ", ".join(
        _key_labels().get(key, key.replace("_", " ") + " {}").format(f"{value:g}")
        if isinstance(value, int | float)
        else label(value)
        for key, value in keys.items()
    )


# The registry imports the papers, whose figures import this module: hence the imports inside the functions. If two
# papers label the same name, the first one in the report counts.


@cache
def _labels() -> dict[str, str]:
    from sparseid.papers.registry import PAPERS

    found: dict[str, str] = {}
    for paper in PAPERS.values():
        own = {metric.name: metric.label for metric in paper.metrics if metric.label} | dict(paper.labels)
        found = own | found
    return found


@cache
def _key_labels() -> dict[str, str]:
    from sparseid.papers.registry import PAPERS

    return {key: label for paper in reversed(PAPERS.values()) for key, label in paper.key_labels.items()}


@cache
def _unit_labels() -> dict[str, str]:
    from sparseid.papers.registry import PAPERS

    own = {unit: label for paper in reversed(PAPERS.values()) for unit, label in paper.unit_labels.items()}
    return own | UNITS
