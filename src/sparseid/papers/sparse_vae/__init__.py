"""Identifiable Deep Generative Models via Sparse Decoding (Sparse VAE)."""

from __future__ import annotations

from sparseid.measurements import Metric
from sparseid.methods.sparse_vae.metrics import METRICS as MEASURED
from sparseid.papers.paper import Paper
from sparseid.papers.sparse_vae import figures
from sparseid.papers.sparse_vae.artefacts import ARTEFACTS, SUMMARIES
from sparseid.papers.sparse_vae.rows import STUCK

LABELS = {
    "sparse_vae": "Sparse VAE",
    "vae": "VAE",
    "beta_vae": "\N{GREEK SMALL LETTER BETA}-VAE",
    "vsc": "VSC",
    "vsc_untrained_inputs": "VSC, pseudo-inputs as drawn",
    "oi_vae": "OI-VAE",
    "sparse_vae_warm_up": "Sparse VAE with warm-up",
    "nmf": "NMF",
    "movielens": "MovieLens",
    "peerread": "PeerRead",
}

METRICS = (
    *MEASURED,
    Metric(STUCK, "percent", "low", "data sets that got stuck"),
    Metric("n_cells", "count", label="cells", meaning="cells in the plane"),
    Metric("nmf_mse", "squared data unit", "low", meaning="NMF reconstruction error of the generator diagnostics"),
    Metric("axis_ticks", "axis unit", meaning="lowest and highest tick label of a panel"),
    Metric("top_features", "list of names", meaning="features with the largest absolute selector values of a factor"),
)

PAPER = Paper(
    name="sparse_vae",
    artefacts=ARTEFACTS,
    summaries=SUMMARIES,
    metrics=METRICS,
    labels=LABELS,
    unit_labels={"axis unit": "", "list of names": ""},
    run_figures=figures.run_figures,
    position=4,
)
