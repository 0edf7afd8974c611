"""Metrics of sparse autoencoders: name, unit, direction and label of each."""

from __future__ import annotations

from sparseid.measurements import Metric

ABOVE = 0.01
"""Absolute value above which an entry of the Jacobian counts, as in JSAE's paper."""

METRICS = (
    Metric(
        "dead_features", "count", "low", "dead features", "of both codes: without activation on all held-out tokens"
    ),
    Metric("dead_share", "percent", "low", "dead share", "of the features of both codes", main={}),
    Metric(
        "dead_in_training",
        "count",
        "low",
        "dead in training",
        "idle at the end for more batches than the repository allows: 5 (topk, batchtopk) or 1000 (jsae)",
    ),
    Metric("explained_variance", "", "high", "explained variance", "of held-out tokens, mean over both codes", main={}),
    Metric("l0", "count", "none", "L0", "active features of a held-out token, mean over both codes"),
    Metric(
        "loss_recovered",
        "percent",
        "high",
        "loss recovered",
        "of the next-token loss that zeros in place of the MLP's output add, by its reconstruction there (models that "
        "predict the next token)",
    ),
    Metric("jacobian_mean", "", "low", "mean |J|", "of the entries between active features (jsae)"),
    Metric("jacobian_above", "percent", "low", f"|J| above {ABOVE}", "of the entries between active features (jsae)"),
)
