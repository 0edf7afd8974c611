"""Metrics of TBR: name, unit, direction and label of each."""

from __future__ import annotations

from sparseid.measurements import Metric

METRICS = (
    Metric(
        "mcc", "correlation in [0,1]", "high", "MCC", meaning="mean absolute correlation, best permutation", main={}
    ),
    Metric("mse", "squared label unit", "low", "MSE", "test error of the label", main={}),
    Metric("ate_mse", "squared coefficient", "low", "MSE of effects", "squared error of absolute effect sizes"),
    Metric(
        "unseen_mse", "squared label unit", "low", "MSE on unseen types", "test error on a held-out cell type", main={}
    ),
    Metric("chosen_lambda", label="lambda chosen", meaning="weight of the penalty with the lowest validation error"),
    Metric("chosen_lr", label="learning rate chosen", meaning="learning rate with the lowest validation error"),
    Metric("val_mse", "squared label unit", "low", "validation MSE", "lowest validation error of the label"),
)
