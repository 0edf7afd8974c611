"""Support recovery by the lasso (an imaginary paper)."""

from sparseid.papers.paper import Paper
from toy_sparsity.methods.lasso.metrics import METRICS
from toy_sparsity.papers.toy.artefacts import ARTEFACTS

PAPER = Paper(name="toy", artefacts=ARTEFACTS, metrics=METRICS)
