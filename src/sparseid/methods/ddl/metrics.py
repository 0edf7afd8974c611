"""Metrics of Diverse Dictionary Learning: name, unit, direction and label of each."""

from __future__ import annotations

from sparseid.measurements import Metric

METRICS = (
    Metric("mcc", "correlation", "high", "MCC", main={}),
    Metric("mcc_spearman", "correlation", "high", "MCC of ranks"),
    Metric("reconstruction", "squared data unit", "low", main={}),
    Metric("jacobian_l1"),
    Metric("jacobian_l1_normalised", "", label="L1 of the Jacobian by latents' spread"),
    Metric("structure_f1", "score in [0,1]", "high", "F1 of the structure", main={}),
    Metric("structure_shd", "entries", "low", "wrong entries of the structure"),
    Metric("forbidden", "", "low", "largest forbidden entry of T"),
    Metric("r2", "", label="R2", meaning="of a block of true latents from a learned one", main={}),
)
