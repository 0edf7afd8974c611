"""Sparling: end-to-end spatial concept learning via extremely sparse activations."""

from __future__ import annotations

from sparseid.measurements import Metric
from sparseid.methods.sparling.metrics import METRICS as MEASURED
from sparseid.papers.paper import Paper
from sparseid.papers.sparling import figures
from sparseid.papers.sparling.artefacts import ARTEFACTS
from sparseid.papers.sparling.density_table import run_tables
from sparseid.papers.sparling.rows import at_their_densities

LABELS = {
    "sparling": "Sparling",
    "digitcircle": "DigitCircle",
    "latex_ocr": "LaTeX-OCR",
    "audiomnist": "AudioMNIST",
    "labelledinputs": "your data",
    "most_frequent": "most frequent label",
    "test_speakers": "test speakers",
    "train_speakers": "training speakers",
    "sparling_mt": "Sparling MT",
    "sparling_st": "Sparling ST",
    "non_sparse": "Non-Sparse",
    "retrained": "Retrained",
    "direct": "DIRECT",
    "l1": "L1",
    "kl": "KL",
    "matched_random": "random places",
    "1-4": "all runs",
    "no_bn_mt": "no batch norm, MT",
    "no_bn_st": "no batch norm, ST",
    "without_plus_parens": "without + ( )",
    "constant5": "split by 5",
    "k": "split by k",
    "lparen": "(",
    "rparen": ")",
    "plus": "+",
    "bar": "fraction bar",
}

METRICS = (
    *MEASURED,
    Metric("e2e_accuracy", "percent", "high", "E2E accuracy", "100 - e2ee"),
    Metric("confusion_accuracy", "percent", "high", meaning="100 - ce"),
    Metric("error_ratio", "ratio", label="DIRECT / Sparling", meaning="ratio of mean errors on single motifs"),
    Metric("bits", "bit", meaning="bits per non-zero activation (eta, section 9.6)"),
    Metric("flow", "probability", meaning="flow from k-digit to (k-1)-digit patterns (section 9.10)"),
    Metric("alpha", "probability", meaning="total flow"),
    Metric("config_count", "count", label="placements"),
    Metric("config_probability", "probability", label="probability of a placement"),
)

PAPER = Paper(
    name="sparling",
    artefacts=ARTEFACTS,
    metrics=METRICS,
    labels=LABELS,
    key_labels={"steps_above": "{} cuts above final"},
    prepare=at_their_densities,
    run_figures=figures.run_figures,
    run_tables=run_tables,
    position=1,
)
