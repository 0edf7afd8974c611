"""Metrics of Sparling: name, unit, direction and label of each."""

from __future__ import annotations

from sparseid.measurements import Metric

FINAL = {"steps_above": (0, None)}
"""Keys of rows at the lowest density."""

METRICS = (
    Metric("fpe", "percent", "low", "FPE", "false positive error", main=FINAL),
    Metric("fne", "percent", "low", "FNE", "false negative error", main=FINAL),
    Metric("ce", "percent", "low", "CE", "confusion error", main=FINAL),
    Metric("e2ee", "percent", "low", "E2EE", "end-to-end error", main=FINAL),
    Metric("exact_accuracy", "percent", "high", "exact match"),
    Metric("val_exact_accuracy", "percent", "high", "exact match in validation"),
    Metric(
        "top_k_accuracy",
        "percent",
        "high",
        "top-k accuracy",
        "true splice sites among as many predicted ones",
        main=FINAL,
    ),
    Metric("sparsity", "percent", meaning="100 * (1 - density)"),
    Metric("density", "percent", meaning="fraction of non-zero motif entries"),
    Metric("target_density", "percent", meaning="density that training aimed at"),
    Metric("density_over_minimum", "ratio", label="density / lowest possible"),
    Metric("perturbation_accuracy", "percent", "high", "exchanges followed", "exchanged motifs decoded as expected"),
    Metric("diagonal_share", "percent", "high", "motifs in their channels", "motifs of a kind in its channels"),
    Metric("none_share", "percent", "low", "motifs missed", "motifs of a kind in no channel"),
    Metric("other_channel_share", "percent", "low", "motifs in another channel", "motifs of a kind in one of them"),
    Metric("row_share", "percent", label="fraction of all pairs"),
    Metric("binning_delta", "percent", "low", "accuracy lost by binning", "accuracy(identity) - accuracy(B bins)"),
    Metric("direct_error", "percent", "low", "error on single motifs", "classification error"),
)
