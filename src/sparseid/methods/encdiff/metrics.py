"""Metrics of EncDiff beside those of any image model: name, unit, direction and label of each."""

from __future__ import annotations

from sparseid.measurements import Metric

SHARE = "fraction"

METRICS = (
    Metric("denoising_error", "", "low", "error of the noise", "mean absolute error, of noise of standard deviation 1"),
    Metric("autoencoder_error", "", "low", "error of the autoencoder", "mean absolute error of pixels in [0, 1]"),
    Metric("codes_used", "count", "none", "used codes", "vectors of the codebook that occur in test images"),
    Metric("reader_accuracy", SHARE, "high", "classifier's accuracy", "of the classifier that reads factors of images"),
    Metric("decoded_accuracy", SHARE, "high", "decoded factors", "images whose decoding is read as the true level"),
    Metric(
        "transfer",
        SHARE,
        "high",
        meaning="images with the factor of the image that gave its unit, among those where it differed",
        main={},
    ),
    Metric("leak", SHARE, "low", meaning="other factors that the swap of the factor's unit changes", main={}),
    Metric("selectivity", SHARE, "high", meaning="changes by a traversal of the factor's unit that are its own"),
)
