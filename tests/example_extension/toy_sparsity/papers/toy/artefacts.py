"""The one figure of the paper."""

from __future__ import annotations

from sparseid.papers.artefact import Artefact
from sparseid.papers.claims import claims_in
from toy_sparsity.papers.toy import claims, figures
from toy_sparsity.papers.toy.claims import PENALTIES

ARTEFACTS = (
    Artefact(
        id="toy/fig1",
        paper="toy",
        title="Figure 1: F1 of the support against the penalty",
        selects={"method": ("lasso",), "penalty": PENALTIES},
        entry_keys=("penalty",),
        metrics=("support_f1", "mse"),
        draw=figures.f1_against_penalty,
        checks=claims_in(claims),
        summary_of_run=True,
    ),
)
