"""Metrics of RegCL: name, unit, direction and label of each."""

from __future__ import annotations

from sparseid.measurements import Metric

METRICS = (
    Metric("auc", "AUC in percent", "high", "AUC", main={"attribution": ("jf_plus",)}),
    Metric("minimum_norm_auc", "AUC in percent", "high", meaning="AUC of the generator's minimum-norm inverse"),
    Metric("r2", "percent", "high", "R2", main={"explained": ("labels", "z2")}),
    Metric(
        "held_out_loss", "", "low", "held-out loss", "loss of an objective without its penalty, on held-out samples"
    ),
    Metric(
        "chosen_lambda", label="lambda chosen", meaning="highest weight of the penalty that does not raise the loss"
    ),
    Metric("saturated", "percent", "low", "clipped outputs"),
    Metric("rank_deficient", "percent", "low", "samples with dependent Jacobian rows"),
)
