"""Identifiable attribution maps using regularized contrastive learning (RegCL)."""

from __future__ import annotations

from sparseid.measurements import Metric
from sparseid.methods.regcl.metrics import METRICS as MEASURED
from sparseid.papers.paper import Paper
from sparseid.papers.regcl import figures
from sparseid.papers.regcl.artefacts import ARTEFACTS, SUMMARIES
from sparseid.papers.regcl.rows import R2_BELOW

LABELS = {
    "regcl": "RegCL",
    "jf_plus": "pseudo-inverse Jacobian",
    "shapley_shuffled": "Shapley shuffled",
    "shapley_zeros": "Shapley zeros",
    "minimum_norm": "minimum-norm inverse of the generator (untrained)",
}

METRICS = (
    *MEASURED,
    Metric(R2_BELOW, "percent", "low", "fraction of data sets with R2 below 95 %"),
    Metric("sum_sq", "squared AUC percent"),
    Metric("df", "1"),
    Metric("F", "1"),
    Metric("p", "1"),
    Metric("meandiff", "AUC percent points"),
    Metric("p_adj", "1"),
    Metric("lead", "AUC percent points", meaning="of the higher entry of a relation"),
    Metric("distance", "AUC percent points", "low", "distance to table 1", "mean over its 36 entries"),
    Metric("raised", "1", "high", "pairs raised", "of the 18 pairs of entries that differ in the regularisation"),
    Metric("above_paper", "AUC percent points", meaning="our AUC less the paper's"),
)

PAPER = Paper(
    name="regcl",
    artefacts=ARTEFACTS,
    summaries=SUMMARIES,
    metrics=METRICS,
    labels=LABELS,
    key_labels={"dim": "{} latents"},
    unit_labels={"AUC in percent": "%", "AUC percent points": "points", "squared AUC percent": "points squared"},
    run_figures=figures.run_figures,
    position=3,
)
