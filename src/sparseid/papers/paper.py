"""A paper as one object: what its folder declares and the rest of the project asks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from sparseid.measurements import Metric
from sparseid.papers.artefact import Artefact
from sparseid.papers.packages import paper_file
from sparseid.papers.targets import PaperTargets, load_targets

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

RunFigures = Callable[["pd.DataFrame", Mapping[str, "np.ndarray"], str], "dict[str, Figure]"]
"""Draws the figures of one run by file name, from (its rows, the arrays that it saved, its scale).

A figure whose arrays the run did not save is skipped.
"""


@dataclass(frozen=True)
class RunTable:
    """A further table that is printed after a single run.

    Attributes
    ----------
    title
        Stands above it.
    header
        Heads of the columns.
    lines
        Numbers under the header; None where there is none.
    """

    title: str
    header: tuple[str, ...]
    lines: Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class Paper:
    """A paper that is reproduced; ``papers/<name>/__init__.py`` defines it as ``PAPER``.

    Numbers and claims of the paper are read from ``targets.yaml`` in the same folder, deviations from it from
    ``deviations.yaml``.

    Parameters
    ----------
    name
        Name of its folder.
    artefacts
        Its tables and figures, in the order of the report.
    summaries
        Further tables that sum up a single run; they are no artefact of the report.
    metrics
        Every metric that its runs measure or it reports.
    labels
        Name of a key's value -> what readers see; others are written with spaces for underscores.
    key_labels
        Key with numbers as values -> template for them: ``{"steps_above": "{} cuts above final"}``.
    unit_labels
        Unit -> how it is written behind a metric, where that is not :data:`sparseid.papers.labels.UNITS`'.
    run_figures
        Draws the figures of one run; None if there are none.
    run_tables
        Returns further tables of one run from its rows.
    position
        Place in the report; those without one come last, by name.
    """

    name: str
    artefacts: tuple[Artefact, ...]
    summaries: tuple[Artefact, ...] = ()
    metrics: tuple[Metric, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    key_labels: Mapping[str, str] = field(default_factory=dict)
    unit_labels: Mapping[str, str] = field(default_factory=dict)
    run_figures: RunFigures | None = None
    run_tables: Callable[[pd.DataFrame], list[RunTable]] | None = None
    position: float = math.inf

    @property
    def targets(self) -> PaperTargets:
        """The numbers and claims of the paper."""
        return load_targets(self.name)

    @property
    def deviations(self) -> list[dict[str, Any]]:
        """Where this reproduction deviates from the paper; empty without ``deviations.yaml``."""
        path = paper_file(self.name, "deviations.yaml")
        return yaml.safe_load(path.read_text(encoding="utf-8"))["deviations"] if path.is_file() else []

    @property
    def not_built(self) -> list[str]:
        """Artefacts that its targets name and that are not among `artefacts` yet."""
        built = {artefact.id for artefact in self.artefacts}
        return [name for name in self.targets.titles if name not in built]
