"""The tables and figures of Sparling."""

from __future__ import annotations

from functools import partial

from sparseid.papers.artefact import Artefact
from sparseid.papers.rows import with_complements
from sparseid.papers.sparling import figures
from sparseid.papers.sparling.claims import CLAIMS, DENSITIES, DOMAINS

_of_sparling = partial(Artefact, paper="sparling", checks=CLAIMS)

ARTEFACTS = (
    _of_sparling(
        id="digitcircle",
        title="Sparling on DigitCircle at the final density",
        selects={"domain": ("digitcircle",), "method": ("sparling_mt",), "steps_above": (0,)},
        cell=("domain", "method"),
        metrics=("e2ee", "fpe", "fne", "ce", "exact_accuracy", "sparsity", "density_over_minimum"),
        targets_of=("sparling/fig3", "sparling/fig5"),
        summary_of_run=True,
    ),
    _of_sparling(
        id="sparling/fig3",
        title="Figure 3: motif errors at the final density",
        selects={"domain": DOMAINS, "method": ("sparling_mt",), "steps_above": (0,)},
        cell=("domain", "split", "method"),
        metrics=("fpe", "fne", "ce", "sparsity", "e2e_accuracy", "confusion_accuracy"),
        claims_instead=frozenset({"sparling-fig3-abstract-localisation"}),
        draw=figures.motif_error_bars,
        derive=partial(with_complements, complements={"e2e_accuracy": "e2ee", "confusion_accuracy": "ce"}),
    ),
    _of_sparling(
        id="sparling/fig4",
        title="Figure 4: errors against density",
        selects={"domain": DOMAINS, "method": ("sparling_mt",), "steps_above": DENSITIES},
        cell=("domain", "split", "method", "steps_above"),
        metrics=("fpe", "fne", "ce", "e2ee"),
        draw=figures.errors_against_density,
    ),
)
