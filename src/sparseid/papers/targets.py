"""Reported numbers and claims of a paper, read from ``papers/<paper>/targets.yaml`` (its head explains every field)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from sparseid.measurements import Key
from sparseid.papers.convention import Convention, convention


@dataclass(frozen=True)
class Target:
    """One number that a paper reports.

    Parameters
    ----------
    id, artefact, metric, unit, source, note
        As in the file.
    keys
        Row and column keys of the cell, treated alike.
    value
        The reported number; None where the cell exists only as a picture or in words.
    words
        What is reported where it is no number (a list of names), else empty.
    op
        Relation to `value` where the paper states a bound: ``=``, ``<``, ``<=``, ``>`` or ``>=``.
    interval
        Reported 95 % interval or value -+ standard deviation; None where the paper gives no spread.
    spread_kind
        What `interval` is: ``ci95``, ``sd`` or ``none``.
    uncertainty
        Reading error of a value that was read off a plot, 0 for a printed one.
    n
        Replicates behind the value; None where the paper does not say.
    role
        ``target`` (what the paper reports), ``alternate`` (same cell, other source) or ``reference`` (supporting
        number).
    """

    id: str
    artefact: str
    keys: dict[str, Key]
    metric: str
    value: float | None
    unit: str
    op: str = "="
    interval: tuple[float, float] | None = None
    spread_kind: str = "none"
    uncertainty: float = 0.0
    n: int | None = None
    role: str = "target"
    source: str = ""
    note: str = ""
    words: str = ""


@dataclass(frozen=True)
class Statement:
    """One checkable claim of a paper, in words; the check itself is a function in the paper's ``claims.py``."""

    id: str
    artefact: str
    statement: str
    condition: str
    holds_in_paper: str


@dataclass(frozen=True)
class PaperTargets:
    """Everything ``targets.yaml`` holds that is compared with our numbers."""

    paper: str
    title: str
    titles: dict[str, str]
    """Title of each artefact."""
    targets: tuple[Target, ...]
    statements: tuple[Statement, ...]
    convention: Convention
    """How the paper sums up its replicates."""
    exceptions: dict[str, Convention]
    """Artefact -> how this one does, where it differs."""

    def convention_of(self, artefact: str) -> Convention:
        """Return how an artefact sums up its replicates."""
        return self.exceptions.get(artefact, self.convention)

    def of(self, artefact: str) -> list[Target]:
        """Return what the paper reports in an artefact; supporting and alternate numbers are left out."""
        return [target for target in self.targets if target.artefact == artefact and target.role == "target"]

    def statements_about(self, artefact: str) -> list[Statement]:
        """Return the claims about an artefact."""
        return [statement for statement in self.statements if statement.artefact == artefact]


@cache
def load_targets(paper: str) -> PaperTargets:
    """Read the targets of `paper` (a folder of ``sparseid.papers``).

    Raises
    ------
    FileNotFoundError
        If the paper has no ``targets.yaml``.
    """
    content = load_yaml(files("sparseid.papers").joinpath(paper, "targets.yaml").read_text(encoding="utf-8"))
    artefacts = content["artefacts"]
    return PaperTargets(
        paper=content["paper"],
        title=content["title"],
        titles={artefact["id"]: artefact["title"] for artefact in artefacts},
        targets=tuple(_target(entry) for entry in content["targets"]),
        statements=tuple(_statement(entry) for entry in content["claims"]),
        convention=convention(content["statistics"]),
        exceptions={entry["id"]: convention(entry["statistics"]) for entry in artefacts if "statistics" in entry},
    )


def load_yaml(text: str) -> Any:
    """Return YAML as plain values; the C parser is ten times faster, a platform without it still works."""
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _target(entry: dict[str, Any]) -> Target:
    value, spread = entry["value"], entry["spread"]
    interval = None
    if entry["spread_kind"] == "ci95" and spread is not None:
        interval = (float(spread[0]), float(spread[1]))
    elif entry["spread_kind"] == "sd" and spread is not None and value is not None:
        interval = (value - spread, value + spread)
    return Target(
        id=entry["id"],
        artefact=entry["artefact"],
        keys={**(entry["row"] or {}), **(entry["column"] or {})},
        metric=entry["metric"],
        value=float(value) if isinstance(value, int | float) else None,
        unit=entry["unit"],
        op=entry.get("op", "="),
        interval=interval,
        uncertainty=_largest(entry.get("uncertainty", 0.0)),
        spread_kind=entry["spread_kind"],
        n=entry["n"],
        role=entry.get("role", "target"),
        source=entry.get("source", ""),
        note=entry.get("note", ""),
        words=", ".join(map(str, value)) if isinstance(value, list) else "",
    )


def _statement(entry: dict[str, Any]) -> Statement:
    holds = entry["holds_in_paper"]
    in_words = {True: "yes", False: "no"}[holds] if isinstance(holds, bool) else holds
    return Statement(entry["id"], entry["artefact"], entry["statement"], entry["condition"], in_words)


def _largest(error: float | list[float]) -> float:
    return float(max(error)) if isinstance(error, list) else float(error)
