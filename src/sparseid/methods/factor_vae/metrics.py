"""Metrics of image models on data with known factors: name, unit, direction and label of each."""

from __future__ import annotations

from sparseid.measurements import Metric

SCORE = "score in [0,1]"

METRICS = (
    Metric("factorvae_score", SCORE, "high", "FactorVAE score", "0 if no dimension of the code is active", main={}),
    Metric("factorvae_score_train", SCORE, "high", "FactorVAE score of the fitted votes"),
    Metric(
        "active_dims", "count", "none", "active dimensions", "of the code, with a standard deviation of 0.05 or more"
    ),
    Metric("dci_disentanglement", SCORE, "high", "DCI", main={}),
    Metric("dci_completeness", SCORE, "high", "DCI completeness"),
    Metric("dci_train_accuracy", SCORE, "high", "DCI informativeness, fitted"),
    Metric("dci_test_accuracy", SCORE, "high", "DCI informativeness"),
    Metric("image_error", "nat", "low", "reconstruction", "cross-entropy of an image, summed over pixels"),
)
