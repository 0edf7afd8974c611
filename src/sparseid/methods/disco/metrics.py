"""Metrics of DisCo beyond the scores of `factor_vae`: name, unit, direction and label of each."""

from __future__ import annotations

from sparseid.measurements import Metric

METRICS = (
    Metric("direction_accuracy", "share in [0,1]", "high", "directions told apart",
           "share of shifts whose variation is nearest to the mean one of its own direction", main={}),
)  # fmt: skip
