"""Which table and figure reads which rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from sparseid.errors import InputError
from sparseid.measurements import Key
from sparseid.papers.claims import ClaimCheck, ClaimResult, Comparison, Finding
from sparseid.papers.convention import Convention
from sparseid.papers.rows import select
from sparseid.papers.sparling import claims as sparling_claims
from sparseid.papers.sparling import figures as sparling_figures
from sparseid.papers.targets import Statement, Target, load_targets
from sparseid.papers.tbr import claims as tbr_claims
from sparseid.papers.tbr import figures as tbr_figures

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

PAPERS = ("sparling", "tbr", "regcl", "sparse_vae", "ddl")
"""The folders of ``sparseid.papers`` that are papers, in the order of the report."""

Drawer = Callable[["pd.DataFrame", Sequence[Target], str], "Figure"]
"""Draws an artefact from (rows at one scale, targets, scale)."""


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
        Row keys and the values of theirs that belong to the artefact.
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
    """

    id: str
    paper: str
    title: str
    selects: Mapping[str, Sequence[Key]]
    cell: tuple[str, ...]
    metrics: tuple[str, ...]
    targets_of: tuple[str, ...] = ()
    claims_instead: frozenset[str] = frozenset()
    draw: Drawer | None = None
    derived: Mapping[str, str] = field(default_factory=dict)
    """Metrics that are 100 minus another one, in percent."""
    summary_of_run: bool = False
    """True if it is the table printed after a single run."""

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
        checks = _CLAIMS.get(self.paper, {})
        rows = rows_of(self.id)

        def finding(check: ClaimCheck | Comparison) -> Finding:
            found = check.check(rows, rows_of(check.other)) if isinstance(check, Comparison) else check(rows)
            if scale == "smoke" and found.measured:
                return replace(found, outcome="undecided", text=f"scale=smoke decides nothing; {found.text}")
            return found

        stated = [entry for entry in self.statements if entry.id in checks]
        return [ClaimResult(entry.id, entry.statement, finding(checks[entry.id])) for entry in stated]

    @property
    def unchecked(self) -> list[Statement]:
        """The claims about it that have no check yet."""
        return [entry for entry in self.statements if entry.id not in _CLAIMS.get(self.paper, {})]


_SPARLING_COMPLEMENTS = {"e2e_accuracy": "e2ee", "confusion_accuracy": "ce"}

ARTEFACTS: dict[str, Artefact] = {
    artefact.id: artefact
    for artefact in (
        Artefact(
            id="digitcircle",
            paper="sparling",
            title="Sparling on DigitCircle at the final density",
            selects={"domain": ("digitcircle",), "method": ("sparling_mt",), "steps_above": (0,)},
            cell=("domain", "method"),
            metrics=("e2ee", "fpe", "fne", "ce", "exact_accuracy", "sparsity", "density_over_minimum"),
            targets_of=("sparling/fig3", "sparling/fig5"),
            summary_of_run=True,
        ),
        Artefact(
            id="sparling/fig3",
            paper="sparling",
            title="Figure 3: motif errors at the final density",
            selects={"domain": sparling_claims.DOMAINS, "method": ("sparling_mt",), "steps_above": (0,)},
            cell=("domain", "split", "method"),
            metrics=("fpe", "fne", "ce", "sparsity", "e2e_accuracy", "confusion_accuracy"),
            claims_instead=frozenset({"sparling-fig3-abstract-localisation"}),
            draw=sparling_figures.motif_error_bars,
            derived=_SPARLING_COMPLEMENTS,
        ),
        Artefact(
            id="sparling/fig4",
            paper="sparling",
            title="Figure 4: errors against density",
            selects={
                "domain": sparling_claims.DOMAINS,
                "method": ("sparling_mt",),
                "steps_above": sparling_claims.DENSITIES,
            },
            cell=("domain", "split", "method", "steps_above"),
            metrics=("fpe", "fne", "ce", "e2ee"),
            draw=sparling_figures.errors_against_density,
        ),
        Artefact(
            id="tbr/fig3",
            paper="tbr",
            title="Figure 3: test MSE against the number of learned latents",
            selects={
                "method": tbr_claims.METHODS,
                "latent_dim": tbr_claims.LATENTS,
                "learned_dim": tbr_claims.LEARNED,
            },
            cell=("method", "latent_dim", "learned_dim"),
            metrics=("mse",),
            draw=tbr_figures.curves_against_latents,
        ),
        Artefact(
            id="tbr/fig4",
            paper="tbr",
            title="Figure 4: MCC and test MSE in simulation against S",
            selects={"method": tbr_claims.METHODS, "S": tbr_claims.CHANGES},
            cell=("method", "S"),
            metrics=("mcc", "mse"),
            draw=tbr_figures.curves_against_changes,
        ),
        Artefact(
            id="tbr/table3",
            paper="tbr",
            title="Table 3: error of treatment effects at S = 1",
            selects={
                "method": tbr_claims.METHODS,
                "S": (1,),
                "environment": (*tbr_claims.ENVIRONMENTS, "pooled"),
            },
            cell=("environment", "method"),
            metrics=("ate_mse",),
        ),
        Artefact(
            id="tbr/fig5a",
            paper="tbr",
            title="Figure 5a: MCC on single cells against S (small: made cells, smoke: blood cells)",
            selects={"domain": ("gtex",), "method": tbr_claims.METHODS, "S": tbr_claims.CHANGES_ON_CELLS},
            cell=("method", "S"),
            metrics=("mcc",),
            draw=tbr_figures.curves_on_cells,
        ),
        Artefact(
            id="tbr/fig5b",
            paper="tbr",
            title="Figure 5b: error on unseen cell types against S (small: made cells, smoke: blood cells)",
            selects={"domain": ("gtex",), "method": tbr_claims.METHODS, "S": tbr_claims.CHANGES_ON_CELLS},
            cell=("method", "S"),
            metrics=("unseen_mse",),
            draw=tbr_figures.curves_on_unseen_cells,
        ),
        Artefact(
            id="tbr/fig6",
            paper="tbr",
            title="Figure 6: MCC and test MSE against S, leaves observed only",
            selects={"method": tbr_claims.METHODS, "S": tbr_claims.CHANGES},
            cell=("method", "S"),
            metrics=("mcc", "mse"),
            draw=tbr_figures.curves_against_changes,
        ),
        Artefact(
            id="tbr/fig7",
            paper="tbr",
            title="Figure 7: MCC against S, all-linear data",
            selects={"method": tbr_claims.METHODS, "S": tbr_claims.CHANGES},
            cell=("method", "S"),
            metrics=("mcc",),
            draw=tbr_figures.mcc_against_changes,
        ),
        Artefact(
            id="tbr/fig8",
            paper="tbr",
            title="Figure 8: MCC against the probability pi of a change",
            selects={"method": tbr_claims.METHODS, "pi": tbr_claims.PROBABILITIES},
            cell=("method", "pi"),
            metrics=("mcc",),
            draw=tbr_figures.curves_against_probability,
        ),
        Artefact(
            id="tbr/runtime",
            paper="tbr",
            title="Run time: seconds to simulate and fit at S = 1",
            selects={"domain": ("treesimulation", "gtex"), "method": ("tbr",), "S": (1,)},
            cell=("domain",),
            metrics=("seconds",),
        ),
    )
}
"""Artefact id -> artefact."""

_CLAIMS: dict[str, Mapping[str, ClaimCheck | Comparison]] = {
    "sparling": sparling_claims.CLAIMS,
    "tbr": tbr_claims.CLAIMS,
}
_RUN_FIGURES: dict[str, Callable[[pd.DataFrame, Mapping[str, np.ndarray], Sequence[Target], str], dict[str, Figure]]]
_RUN_FIGURES = {"sparling": sparling_figures.run_figures, "tbr": tbr_figures.run_figures}


def not_built(paper: str) -> list[str]:
    """Return the artefacts of a paper that its targets name and :data:`ARTEFACTS` does not have yet."""
    return [name for name in load_targets(paper).titles if name not in ARTEFACTS]


def artefact(name: str) -> Artefact:
    """Return the artefact called `name`.

    Raises
    ------
    InputError
        If there is none; names the nearest one.
    """
    if name in ARTEFACTS:
        return ARTEFACTS[name]
    near = get_close_matches(name, ARTEFACTS, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise InputError(f"There is no artefact {name!r}.{hint} Known: {', '.join(ARTEFACTS)}.")


def run_summary(paper: str, rows: pd.DataFrame) -> Artefact | None:
    """Return the artefact that sums up one run with these rows; None if no summary is declared for such a run."""
    for candidate in ARTEFACTS.values():
        if candidate.summary_of_run and candidate.paper == paper and len(select(rows, candidate.selects)):
            return candidate
    return None


def run_figures(paper: str, rows: pd.DataFrame, arrays: Mapping[str, np.ndarray], scale: str) -> dict[str, Figure]:
    """Draw the pictures of one run, by file name; those whose arrays the run did not save are left out."""
    return _RUN_FIGURES[paper](rows, arrays, load_targets(paper).targets, scale) if paper in _RUN_FIGURES else {}
