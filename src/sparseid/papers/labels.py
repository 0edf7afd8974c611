"""Labels: how keys, metrics and units are written in tables and figures. Each paper declares its own."""

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
"""Units as they stand behind a metric's name; those without a dimension are not written."""


def written(name: Key) -> str:
    """Return a key's value or a metric's name as readers see it."""
    return _labels().get(str(name), str(name).replace("_", " "))


def written_unit(unit: str) -> str:
    """Return a unit as it stands behind a metric's name; empty if it is not written."""
    return _unit_labels().get(unit, unit)


def written_cell(keys: Mapping[str, Key]) -> str:
    """Return the keys of an entry in one line.

    Examples
    --------
    >>> written_cell({"domain": "digitcircle", "steps_above": 3})
    'DigitCircle, 3 cuts above final'
    """
    return ", ".join(
        _key_labels().get(key, key.replace("_", " ") + " {}").format(f"{value:g}")
        if isinstance(value, int | float)
        else written(value)
        for key, value in keys.items()
    )


# The registry imports the papers, whose figures import this module: it is asked when the first label is written. Of two
# papers that label the same name the first one in the report counts.


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
