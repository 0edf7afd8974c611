"""Metrics of TBR: name, unit, direction and label of each."""

from __future__ import annotations

from sparseid.measurements import Metric

METRICS = (
    Metric("mcc", "correlation in [0,1]", "high", "MCC", meaning="mean absolute correlation, best permutation"),
    Metric("mse", "squared label unit", "low", "MSE", "test error of the label"),
    Metric("ate_mse", "squared coefficient", "low", "MSE of effects", "squared error of absolute effect sizes"),
    Metric("unseen_mse", "squared label unit", "low", "MSE on unseen types", "test error on a held-out cell type"),
)
