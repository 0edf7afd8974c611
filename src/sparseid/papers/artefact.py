"""What a table or figure of a paper is made of: which rows, what it is compared with, how it is checked and drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sparseid.measurements import Key
from sparseid.papers.aggregation import Convention
from sparseid.papers.claims import ClaimCheck, ClaimResult, Comparison, Finding
from sparseid.papers.targets import Statement, Target, load_targets

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

Drawer = Callable[["pd.DataFrame", Sequence[Target], str], "Figure"]
"""Draws an artefact, from its rows at one scale (the newest of each entry and seed), the paper's numbers for it, which
stand hollow beside ours, and the scale, which is named in the legend."""
Arrays = Callable[[str], Mapping[str, "np.ndarray"]]
"""Returns the arrays that a run saved in ``arrays.npz``, by the run's name; empty if they are not available."""
ArrayDrawer = Callable[["pd.DataFrame", Arrays, str], "Figure | None"]
"""Draws an artefact that has too many points for rows, from (rows at one scale, arrays, scale); None without arrays."""


@dataclass(frozen=True)
class Artefact:
    """A table or figure of a paper (or the summary of one experiment) and the rows it is made of.

    Parameters
    ----------
    id
        Name as in ``targets.yaml``, ``<paper>/<artefact>``, or the experiment's name.
    paper
        Folder of ``sparseid.papers``.
    title
        One line.
    selects
        Row keys and the values of theirs that belong to the artefact; None for rows without the key.
    cell
        Keys that tell its cells apart, in the order in which they are written.
    metrics
        Metrics of its cells, in order.
    targets_of
        Artefacts of ``targets.yaml`` whose numbers it is compared with; empty is its own.
    claims_instead
        Targets that are no cell because a claim checks them.
    draw
        Draws its figure; None for a plain table.
    draw_arrays
        Does so where it needs what runs saved beside their rows.
    derive
        From the rows that it selects, those that its cells are made of: with further metrics, or the table of a test.
    checks
        Claim id -> check, of the paper's claims; those about other artefacts are not looked at.
    summary_of_run
        True if it is the table printed after a single run.
    presets
        The presets whose runs it reads (``papers.presets``); empty is the one of its own id.
    computed
        True if `derive` makes its rows of nothing when the report is made: it has no runs, no preset and no scale.
    """

    id: str
    paper: str
    title: str
    selects: Mapping[str, Sequence[Key | None]]
    cell: tuple[str, ...]
    metrics: tuple[str, ...]
    targets_of: tuple[str, ...] = ()
    claims_instead: frozenset[str] = frozenset()
    draw: Drawer | None = None
    draw_arrays: ArrayDrawer | None = None
    derive: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows
    checks: Mapping[str, ClaimCheck | Comparison] = field(default_factory=dict)
    summary_of_run: bool = False
    presets: tuple[str, ...] = ()
    computed: bool = False

    @property
    def convention(self) -> Convention:
        """How its numbers are summed up over replicates: as the paper does."""
        return load_targets(self.paper).convention_of(self.id)

    @property
    def targets(self) -> list[Target]:
        """The reported numbers its cells are compared with."""
        return [
            target
            for target in load_targets(self.paper).targets
            if target.artefact in (self.targets_of or (self.id,))
            and target.role == "target"
            and target.metric in self.metrics
            and target.id not in self.claims_instead
            and all(target.keys[key] in allowed for key, allowed in self.selects.items() if key in target.keys)
        ]

    def drawn(self, rows: pd.DataFrame) -> bool:
        """Whether it has a figure that shows something: its rows of one scale, or the paper's numbers."""
        return (self.draw is not None or self.draw_arrays is not None) and (len(rows) > 0 or bool(self.targets))

    def figure(self, rows: pd.DataFrame, arrays: Arrays, scale: str) -> Figure | None:
        """Draw its figure, from its rows of one scale; None where there is nothing to draw."""
        if not self.drawn(rows):
            return None
        if self.draw_arrays is not None:
            return self.draw_arrays(rows, arrays, scale)
        return self.draw(rows, self.targets, scale) if self.draw is not None else None

    @property
    def statements(self) -> list[Statement]:
        """The claims the paper makes about it."""
        return load_targets(self.paper).statements_about(self.id)

    def check_claims(self, rows_of: Callable[[str], pd.DataFrame], scale: str) -> list[ClaimResult]:
        """Check the claims about it; those that have no check yet are left out.

        Parameters
        ----------
        rows_of
            Gives the rows of an artefact, by its id, all of `scale`.
        scale
            At smoke, where runs show only that everything works, no claim is decided.
        """
        rows = rows_of(self.id)

        def finding(check: ClaimCheck | Comparison) -> Finding:
            found = check.check(rows, rows_of(check.other)) if isinstance(check, Comparison) else check(rows)
            if scale == "smoke" and found.measured and not self.computed:
                return replace(found, outcome="undecided", text=f"scale=smoke decides nothing; {found.text}")
            return found

        stated = [entry for entry in self.statements if entry.id in self.checks]
        return [ClaimResult(entry.id, entry.statement, finding(self.checks[entry.id])) for entry in stated]

    @property
    def unchecked(self) -> list[Statement]:
        """The claims about it that have no check yet."""
        return [entry for entry in self.statements if entry.id not in self.checks]
