"""Tables and figures of a paper: their rows, targets, claims and plots."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sparseid.measurements import Key
from sparseid.papers.aggregation import Aggregation
from sparseid.papers.claims import ClaimCheck, ClaimResult, Comparison, Finding
from sparseid.papers.labels import entry_label
from sparseid.papers.rows import key
from sparseid.papers.targets import Statement, Target, load_targets

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

PlotFunction = Callable[["pd.DataFrame", Sequence[Target], str], "Figure"]
"""Draws an artefact from its rows at one scale (the newest of each entry and seed), the paper's numbers, which appear
hollow, and the scale, which is named in the legend."""
Arrays = Callable[[str], Mapping[str, "np.ndarray"]]
"""Returns the arrays that a run saved in ``arrays.npz``, by the run's name; empty if they are not available."""
ArrayPlotFunction = Callable[["pd.DataFrame", Arrays, str], "Figure | None"]
"""Draws an artefact with too many points for rows from (rows at one scale, arrays, scale); None without arrays."""


@dataclass(frozen=True)
class Artefact:
    """A table or figure of a paper, or the summary of one experiment."""

    id: str
    """Name as in ``targets.yaml``, ``<paper>/<artefact>``, or the experiment's name."""
    paper: str
    """Folder of ``sparseid.papers``."""
    title: str
    """One line."""
    selects: Mapping[str, Sequence[Key | None]]
    """Row key -> its values in the artefact; None selects rows without the key."""
    entry_keys: tuple[str, ...]
    """Keys that distinguish its entries, in the order of their labels."""
    metrics: tuple[str, ...]
    """Metrics of its entries, in order."""
    reading_of: str = ""
    """Artefact of ``targets.yaml`` that it shows for another reading of the paper, with its numbers, claims and
    statistics; empty if it is the paper's own."""
    targets_of: tuple[str, ...] = ()
    """Artefacts of ``targets.yaml`` with the numbers to compare with; empty for its own."""
    claims_instead: frozenset[str] = frozenset()
    """Targets that are not entries because a claim checks them."""
    draw: PlotFunction | None = None
    """Draws its figure; None for a plain table."""
    draw_arrays: ArrayPlotFunction | None = None
    """Draws its figure if it needs the arrays of runs."""
    derive: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows
    """Computes the rows of its entries from the selected ones: with further metrics, or the table of a test."""
    checks: Mapping[str, ClaimCheck | Comparison] = field(default_factory=dict)
    """Claim id -> check, of the paper's claims; those about other artefacts are ignored."""
    summary_of_run: bool = False
    """True if it is the table printed after a single run."""
    seeds: Callable[[int], bool] = lambda _: True
    """Returns whether it shows the replicate with a seed; for settings that are chosen on data sets of their own."""
    presets: tuple[str, ...] = ()
    """Presets whose runs it reads (``papers.presets``); empty for the one of its own id."""
    pools: Mapping[str, Collection[Key]] = field(default_factory=dict)
    """Row key -> its values, over all of which the paper's entries are pooled; those that lack one at scale=paper are
    incomplete."""
    computed: bool = False
    """True if `derive` computes its rows from nothing, for the report: it has no runs, no preset and no scale."""

    @property
    def in_paper(self) -> str:
        """Artefact of ``targets.yaml`` whose claims and statistics are its own."""
        return self.reading_of or self.id

    @property
    def aggregation(self) -> Aggregation:
        """Aggregation of its numbers over replicates, as in the paper."""
        return load_targets(self.paper).aggregation_of(self.in_paper)

    def lacks(self, rows: pd.DataFrame) -> dict[str, list[Key]]:
        """Return the values of each key of `pools` that none of the rows has; empty if they are complete."""
        gaps = {
            name: [value for value in wanted if value not in set(key(rows, name))]
            for name, wanted in self.pools.items()
        }
        return {name: values for name, values in gaps.items() if values}

    @property
    def targets(self) -> list[Target]:
        """The reported numbers to compare its entries with."""
        return [
            target
            for target in load_targets(self.paper).targets
            if target.artefact in (self.targets_of or (self.in_paper,))
            and target.role == "target"
            and target.metric in self.metrics
            and target.id not in self.claims_instead
            and all(target.keys[key] in allowed for key, allowed in self.selects.items() if key in target.keys)
        ]

    def figure(self, rows: pd.DataFrame, arrays: Arrays, scale: str) -> Figure | None:
        """Draw its figure from its rows of one scale; None if there is nothing to draw."""
        if rows.empty and all(target.value is None for target in self.targets):
            return None
        if self.draw_arrays is not None:
            return self.draw_arrays(rows, arrays, scale)
        return self.draw(rows, self.targets, scale) if self.draw is not None else None

    @property
    def statements(self) -> list[Statement]:
        """The paper's claims about it."""
        return load_targets(self.paper).statements_about(self.in_paper)

    def check_claims(self, rows_of: Callable[[str], pd.DataFrame], scale: str) -> list[ClaimResult]:
        """Check the claims about it; those without a check are skipped.

        Parameters
        ----------
        rows_of
            Returns the rows of an artefact, by its id, all of `scale`.
        scale
            At smoke, whose runs only show that everything works, no claim is decided; at paper none on rows that lack a
            part of what the paper pools.
        """
        rows = rows_of(self.id)
        lacking = self.lacks(rows) if scale == "paper" else {}
        gaps = ", ".join(entry_label({name: value}, self.paper) for name, values in lacking.items() for value in values)

        def finding(check: ClaimCheck | Comparison) -> Finding:
            found = check.check(rows, rows_of(check.other)) if isinstance(check, Comparison) else check(rows)
            if scale == "smoke" and found.measured and not self.computed:
                return replace(found, outcome="undecided", text=f"scale=smoke decides nothing; {found.text}")
            if gaps and found.measured and found.outcome != "undecided":
                return replace(found, outcome="undecided", text=f"incomplete, not measured: {gaps}; {found.text}")
            return found

        stated = [entry for entry in self.statements if entry.id in self.checks]
        return [ClaimResult(entry.id, entry.statement, finding(self.checks[entry.id])) for entry in stated]

    @property
    def unchecked(self) -> list[Statement]:
        """The claims about it that have no check yet."""
        return [entry for entry in self.statements if entry.id not in self.checks]
