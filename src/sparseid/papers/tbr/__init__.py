"""Sparsity regularization via tree-structured environments for disentangled representations (TBR)."""

from __future__ import annotations

from sparseid.measurements import SECONDS
from sparseid.methods.tbr.metrics import METRICS
from sparseid.papers.paper import Paper
from sparseid.papers.tbr import figures
from sparseid.papers.tbr.artefacts import ARTEFACTS

LABELS = {
    "tbr": "TBR",
    "treesimulation": "simulation",
    "gtex": "GTEx",
}

PAPER = Paper(
    name="tbr",
    artefacts=ARTEFACTS,
    metrics=(*METRICS, SECONDS),
    labels=LABELS,
    run_figures=figures.run_figures,
    position=2,
)
