"""A paper as one object, defined by its folder."""

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
"""Draws the figures of one run by file name, from (its rows, its saved arrays, its scale).

Figures whose arrays are missing are skipped.
"""


@dataclass(frozen=True)
class RunTable:
    """A further table that is printed after a single run."""

    title: str
    header: tuple[str, ...]
    lines: Sequence[Sequence[float | None]]
    """Numbers under the header; None for an empty entry."""


@dataclass(frozen=True)
class Paper:
    """A reproduced paper; ``papers/<name>/__init__.py`` defines it as ``PAPER``.

    The paper's numbers and claims are read from ``targets.yaml`` in the same folder, deviations from it from
    ``deviations.yaml``.
    """

    name: str
    """Name of its folder."""
    artefacts: tuple[Artefact, ...]
    """Its tables and figures, in the order of the report."""
    summaries: tuple[Artefact, ...] = ()
    """Further tables that summarise a single run and are not in the report."""
    metrics: tuple[Metric, ...] = ()
    """Every metric of its runs and of its targets."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Value of a key -> label; others are labelled with spaces for underscores."""
    key_labels: Mapping[str, str] = field(default_factory=dict)
    """Key with numbers as values -> template for its label: ``{"steps_above": "{} cuts above final"}``."""
    unit_labels: Mapping[str, str] = field(default_factory=dict)
    """Unit -> label, if not that in :data:`sparseid.papers.labels.UNITS`."""
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows
    """Corrects the rows of its runs before tables, claims and figures select theirs."""
    run_figures: RunFigures | None = None
    """Draws the figures of one run."""
    run_tables: Callable[[pd.DataFrame], list[RunTable]] | None = None
    """Returns further tables of one run from its rows."""
    position: float = math.inf
    """Place in the report; papers without one come last, by name."""

    @property
    def targets(self) -> PaperTargets:
        """The numbers and claims of the paper."""
        return load_targets(self.name)

    @property
    def deviations(self) -> list[dict[str, Any]]:
        """Deviations of this reproduction from the paper; empty without ``deviations.yaml``."""
        path = paper_file(self.name, "deviations.yaml")
        return yaml.safe_load(path.read_text(encoding="utf-8"))["deviations"] if path.is_file() else []

    @property
    def not_built(self) -> list[str]:
        """Artefacts in its targets that are not among `artefacts` yet."""
        built = {artefact.id for artefact in self.artefacts}
        return [name for name in self.targets.titles if name not in built]
