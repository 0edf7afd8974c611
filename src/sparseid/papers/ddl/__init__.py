"""Diverse Dictionary Learning."""

from __future__ import annotations

from sparseid.measurements import SECONDS, Metric
from sparseid.methods.ddl.metrics import METRICS as OF_VECTORS
from sparseid.methods.disco.metrics import METRICS as OF_DIRECTIONS
from sparseid.methods.encdiff.metrics import METRICS as OF_ENCDIFF
from sparseid.methods.factor_vae.metrics import METRICS as OF_IMAGES
from sparseid.methods.gin.metrics import METRICS as OF_FLOWS
from sparseid.methods.sae.metrics import METRICS as OF_TRANSFORMERS
from sparseid.papers.ddl import image_figures
from sparseid.papers.ddl.artefacts import ARTEFACTS, SUMMARIES
from sparseid.papers.paper import Paper

LABELS = {
    "ddl": "DDL",
    "factorvae": "FactorVAE",
    "encdiff": "EncDiff",
    "encdiff_autoencoder": "EncDiff's autoencoder",
    "disco": "DisCo",
    "disco_generator": "DisCo's generator",
    "orojar": "OroJAR",
    "symdiff": "SymDiff",
    "comp_a": "CompA",
    "comp_b": "CompB",
    "int": "Int",
    "ref": "Ref",
    "shapes3d": "Shapes3D",
    "cars3d": "Cars3D",
    "mpi3d": "MPI3D",
    "topk": "TopK",
    "batchtopk": "BatchTopK",
    "jsae": "JSAE",
    "minilm": "MiniLM-L6",
    "gpt2-small": "GPT-2 small",
    "wikitext2": "WikiText-2",
    "openwebtext": "OpenWebText",
}

METRICS = (
    *OF_VECTORS,
    *OF_IMAGES,
    *OF_FLOWS,
    *OF_DIRECTIONS,
    *OF_ENCDIFF,
    *OF_TRANSFORMERS,
    SECONDS,
    Metric("distance", "correlation", "low", meaning="mean difference to the paper's MCC of tables 5 and 6"),
)

PAPER = Paper(
    name="ddl",
    artefacts=ARTEFACTS,
    summaries=SUMMARIES,
    metrics=METRICS,
    labels=LABELS,
    run_figures=image_figures.run_figures,
    position=5,
)
