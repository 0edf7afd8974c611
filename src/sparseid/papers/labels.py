"""Labels of keys, metrics and units in tables and figures.

Each paper declares its own. A name without a label in the given paper has that of another one: this package's papers
come before those of extensions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from sparseid.measurements import Key
from sparseid.papers.packages import paper_packages

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


def label(name: Key, paper: str = "") -> str:
    """Return the label of a key's value or of a metric in a paper."""
    return _labels(paper)[0].get(str(name), str(name).replace("_", " "))


def unit_label(unit: str, paper: str = "") -> str:
    """Return the label of a unit, to stand behind a metric's; may be empty."""
    return _labels(paper)[2].get(unit, unit)


def entry_label(keys: Mapping[str, Key], paper: str = "") -> str:
    """Return the label of an entry: its keys in one line.

    Examples
    --------
    >>> entry_label({"domain": "digitcircle", "steps_above": 3})
    'DigitCircle, 3 cuts above final'
    """
    return ", ".join(
        _labels(paper)[1].get(key, key.replace("_", " ") + " {}").format(f"{value:g}")
        if isinstance(value, int | float)
        else label(value, paper)
        for key, value in keys.items()
    )


@cache
def _labels(first: str) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return the labels of names, of keys and of units; those of the paper `first` have priority."""
    from sparseid.papers.registry import PAPERS  # imports the papers, whose figures import this module

    names: dict[str, str] = {}
    keys: dict[str, str] = {}
    units: dict[str, str] = {}
    for name in (*reversed(paper_packages()), first):
        if (paper := PAPERS.get(name)) is not None:
            names |= {metric.name: metric.label for metric in paper.metrics if metric.label} | dict(paper.labels)
            keys |= paper.key_labels
            units |= UNITS | dict(paper.unit_labels)
    return names, keys, units
