"""Metrics of the flow: name, unit, direction and label of each."""

from __future__ import annotations

from sparseid.measurements import Metric

METRICS = (
    Metric("flow_nll", "nat", "low", "test loss", "negative log likelihood of an image per pixel", main={}),
    Metric("log_abs_det_max", "nat", "low", "largest |log det|", "of the Jacobian, at some test images"),
    Metric("inverse_error", "grey level in [0,1]", "low", "largest error of the inverse", "over test images"),
    Metric("moved_share", "share in [0,1]", "low", "share of pixels moved", "participation ratio, mean over latents"),
    Metric(
        "factor_correlation",
        "correlation in [0,1]",
        "high",
        "factor in one latent",
        "largest absolute correlation of a true factor with a traversed latent",
        main={},
    ),
    Metric("largest_deviation", "grey level in [0,1]", "none", "largest deviation", "of a latent over training images"),
)
