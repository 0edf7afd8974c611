"""Metrics of the Sparse VAE: name, unit, direction and label of each."""

from __future__ import annotations

from sparseid.measurements import Metric

METRICS = (
    Metric("mse", "squared data unit", "low", "MSE", "on held-out rows", main={}),
    Metric("log_loss", "nat", "low", meaning="mean over test rows of -sum_j x_ij log(p_ij + 1e-6), sampled z", main={}),
    Metric("gap_to_oracle", "nat", "low", "log loss above the row's own frequencies'"),
    Metric("recall_at_5", "fraction", "high", "recall@5", main={}),
    Metric("ndcg_at_10", "fraction", "high", "NDCG@10", main={}),
    Metric("objective"),
    Metric("dci", "score in [0,1]", "high", "DCI", meaning="disentanglement, from the 16 published samples", main={}),
    Metric("dci_all_rows", "score in [0,1]", "high", "DCI from all samples"),
    Metric("completeness_all_rows", "score in [0,1]", "high"),
    Metric("selector_mse", "", "low", "error of W"),
    Metric("selector_hamming", "entries", "low", "wrong entries of W"),
    Metric("accuracy", "fraction", "high", meaning="of cell types predicted from factors", main={}),
    Metric("silhouette", "score in [-1,1]", "high", meaning="of cell types in the plane"),
    Metric("npmi", "score", "high", "NPMI", "coherence of a topic"),
    Metric("npmi_random", "score", label="NPMI of random features"),
    Metric("n_processes", "count", label="enriched processes", meaning="GO biological processes"),
)
