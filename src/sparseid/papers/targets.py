"""Reported numbers and claims of a paper, read from ``papers/<paper>/targets.yaml``.

The file has these parts, below the ``paper``'s name, its ``title`` and, if known, the ``url`` where it is published.

``statistics``
    Aggregation of replicates in the paper (``centre``, ``interval``, ``over`` what), applied to ours as well. An
    entry of ``artefacts`` may have its own.
``artefacts``
    Tables and figures: ``id``, ``title`` and what is in them.
``targets``
    Reported numbers: the fields of :class:`Target`, with ``row`` and ``column`` for its keys and ``spread`` (a standard
    deviation, or [low, high] of an interval) with ``spread_kind`` (``sd``, ``ci95`` or ``none``) for its interval. An
    entry with ``grid`` (key -> values) expands to one entry per combination of values, which replace the keys in braces
    in its ``id``; fields of entries that the paper shows in a figure only may be omitted.
``claims``
    Statements that can be checked: ``statement`` in one sentence, ``condition``, the check as a formula, and
    ``holds_in_paper``, its outcome on the reported numbers ("yes (means)": only means are reported, so that a p value
    cannot be computed). The report shows all three. ``cannot_fail`` gives the reason why no rows can refute a claim.

In a condition ``metric[k=v,...]`` is the vector, over replicates, of a metric in the rows of the artefact whose keys
match. A comparison between two such terms compares means; ``median``, ``min`` and ``max`` replace the mean where they
are written. "with one-sided p < 0.05 over seeds" adds a one-sided t test: paired if both sides share replicates, else
Welch's; "rank test" is Wilcoxon's of signed ranks (paired) or Mann and Whitney's. "for every k in {...}" demands the
statement for each value; ``argmin_k(...)`` is the k with the smallest mean, ``spearman(k, m)`` the rank correlation of
the means of m with k. Numbers are in the unit of the metric. Thresholds marked [threshold chosen] are not in the paper:
they make a verbal claim checkable. A file that writes conditions otherwise explains that under ``notation``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import yaml

from sparseid.errors import InputError
from sparseid.measurements import Key
from sparseid.papers.aggregation import Aggregation, parse_aggregation
from sparseid.papers.packages import paper_file


@dataclass(frozen=True)
class Target:
    """One number that a paper reports."""

    id: str
    artefact: str
    keys: dict[str, Key]
    """Row and column keys of the entry, treated alike."""
    metric: str
    value: float | None
    """The reported number; None if the entry is only in a figure or in words."""
    unit: str
    op: str = "="
    """Relation to `value`, for bounds: ``=``, ``<``, ``<=``, ``>`` or ``>=``."""
    interval: tuple[float, float] | None = None
    """Reported 95 % interval, or value -+ standard deviation; None without a spread."""
    spread_kind: str = "none"
    """Type of `interval`: ``ci95``, ``sd`` or ``none``."""
    uncertainty: float = 0.0
    """Reading error of a value that was read off a plot; 0 for a printed one."""
    n: int | None = None
    """Number of replicates; None if the paper does not state it."""
    role: str = "target"
    """``target`` (reported), ``alternate`` (same entry, other source) or ``reference`` (supporting number)."""
    source: str = ""
    note: str = ""
    words: str = ""
    """The report in words if it is not a number (a list of names), else empty."""


@dataclass(frozen=True)
class Statement:
    """One checkable claim of a paper, in words; the check itself is a function in the paper's ``claims.py``."""

    id: str
    artefact: str
    statement: str
    condition: str
    holds_in_paper: str
    """Its outcome on the reported numbers, with the reason if no rows of ours can refute it."""
    cannot_fail: str = ""
    """This reason; empty for a claim that can fail."""


@dataclass(frozen=True)
class PaperTargets:
    """The content of ``targets.yaml`` that is compared with our numbers."""

    paper: str
    title: str
    url: str
    """Address of the paper at its publisher or on arXiv; empty if unknown."""
    titles: dict[str, str]
    """Title of each artefact."""
    targets: tuple[Target, ...]
    statements: tuple[Statement, ...]
    aggregation: Aggregation
    """Aggregation of replicates in the paper."""
    exceptions: dict[str, Aggregation]
    """Artefact -> its aggregation, if it differs."""

    def aggregation_of(self, artefact: str) -> Aggregation:
        """Return the aggregation of an artefact."""
        return self.exceptions.get(artefact, self.aggregation)

    def of(self, artefact: str) -> list[Target]:
        """Return the reported numbers of an artefact, without supporting and alternate ones."""
        return [target for target in self.targets if target.artefact == artefact and target.role == "target"]

    def statements_about(self, artefact: str) -> list[Statement]:
        """Return the claims about an artefact."""
        return [statement for statement in self.statements if statement.artefact == artefact]


@cache
def load_targets(paper: str) -> PaperTargets:
    """Read the targets of `paper` from its folder.

    Raises
    ------
    InputError
        If the paper is unknown or has no ``targets.yaml``.
    """
    path = paper_file(paper, "targets.yaml")
    if not path.is_file():
        raise InputError(f"{path} does not exist: write the paper's title, statistics, artefacts, targets and claims")
    content = load_yaml(path.read_text(encoding="utf-8"))
    artefacts = content["artefacts"]
    return PaperTargets(
        paper=content["paper"],
        title=content["title"],
        url=content.get("url", ""),
        titles={artefact["id"]: artefact["title"] for artefact in artefacts},
        targets=tuple(_target(single) for entry in content.get("targets", ()) for single in _single(entry)),
        statements=tuple(_statement(entry) for entry in content.get("claims", ())),
        aggregation=parse_aggregation(content["statistics"]),
        exceptions={item["id"]: parse_aggregation(item["statistics"]) for item in artefacts if "statistics" in item},
    )


def _single(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the entries of a ``grid``, or the entry itself."""
    if "grid" not in entry:
        yield entry
        return
    for values in product(*entry["grid"].values()):
        keys = dict(zip(entry["grid"], values, strict=True))
        yield {**entry, "id": entry["id"].format(**keys), "row": keys}


def load_yaml(text: str) -> Any:
    """Return YAML as plain values, parsed by the C parser (ten times faster) if available."""
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _target(entry: dict[str, Any]) -> Target:
    value, spread, kind = entry.get("value"), entry.get("spread"), entry.get("spread_kind", "none")
    interval = None
    if kind == "ci95" and spread is not None:
        interval = (float(spread[0]), float(spread[1]))
    elif kind == "sd" and spread is not None and value is not None:
        interval = (value - spread, value + spread)
    error = entry.get("uncertainty", 0.0)
    optional = {name: entry[name] for name in ("op", "spread_kind", "role", "source", "note") if name in entry}
    return Target(
        **{name: entry[name] for name in ("id", "artefact", "metric", "unit", "n")},
        **optional,
        keys={**(entry.get("row") or {}), **(entry.get("column") or {})},
        value=float(value) if isinstance(value, int | float) else None,
        interval=interval,
        uncertainty=float(max(error) if isinstance(error, list) else error),
        words=", ".join(map(str, value)) if isinstance(value, list) else "",
    )


def _statement(entry: dict[str, Any]) -> Statement:
    holds = entry["holds_in_paper"]
    in_words = {True: "yes", False: "no"}[holds] if isinstance(holds, bool) else holds
    reason = entry.get("cannot_fail", "")
    if reason:
        in_words = f"{in_words}; our rows cannot refute it: {reason}"
    return Statement(entry["id"], entry["artefact"], entry["statement"], entry["condition"], in_words, reason)
