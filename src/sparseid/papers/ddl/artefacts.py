"""Artefacts of Diverse Dictionary Learning: synthetic experiments, theory, our study, images, transformers."""

from __future__ import annotations

from functools import partial

from sparseid.measurements import SECONDS
from sparseid.methods.disco.metrics import METRICS as OF_DIRECTIONS
from sparseid.methods.encdiff.metrics import METRICS as OF_ENCDIFF
from sparseid.methods.factor_vae.metrics import METRICS as OF_IMAGES
from sparseid.methods.sae.metrics import METRICS as OF_TRANSFORMERS
from sparseid.papers.artefact import Artefact
from sparseid.papers.claims import claims_in
from sparseid.papers.ddl import claims, figures, flow, image_claims, image_figures, sae_claims, study, theory

_of_ddl = partial(Artefact, paper="ddl", checks=claims_in(claims, flow, image_claims, sae_claims, theory))
_of_mcc = partial(_of_ddl, metrics=("mcc",))
_of_images = partial(_of_ddl, metrics=(*image_claims.SCORES, "active_dims"))
_of_encdiff = partial(
    _of_ddl, entry_keys=("dataset", "regulariser", "factor"), metrics=("transfer", "leak", "decoded_accuracy")
)
OF_ENCDIFF_RUNS = {"backbone": ("encdiff",), "regulariser": image_claims.OF_TABLE1}

_of_disco = partial(_of_images, entry_keys=("dataset", "backbone", "regulariser"), targets_of=("ddl/table1",))
_DISCO = {"backbone": ("disco",), "regulariser": ("none", "latent", image_claims.DEPENDENCY)}

ARTEFACTS = (
    _of_ddl(
        id="ddl/fig4",
        title="Figure 4: R2 between blocks of latents of two groups of observations",
        selects={"mask": ("groups",), "dim": claims.DIMS, "alpha": (0.0, claims.ALPHA)},
        entry_keys=("dim", "alpha", "score"),
        metrics=("r2",),
        draw=figures.block_r2,
    ),
    _of_mcc(
        id="ddl/fig5",
        title="Figure 5: MCC for diverse and for dense structures",
        selects={"method": ("ours",), "dim": claims.DIMS, "structure": ("diverse", "dense")},
        entry_keys=("dim", "structure", "mask"),
        draw=figures.mcc_by_structure,
    ),
    _of_ddl(
        id="ddl/table3",
        title="Table 3: dead features of sparse autoencoders (ours: of an MLP's input and output together)",
        selects={"method": sae_claims.KINDS, "part": (None,)},
        entry_keys=("model", "corpus", "method"),
        metrics=(*(metric.name for metric in OF_TRANSFORMERS), SECONDS.name),
    ),
    _of_mcc(
        id="ddl/table4",
        title="Table 4: MCC of dependency sparsity and of penalties on Jacobian and Hessian",
        selects={"method": ("ours", *claims.PENALTIES), "dim": claims.DIMS},
        entry_keys=("dim", "method"),
    ),
    _of_mcc(
        id="ddl/table5",
        title="Table 5: MCC with and without noise, and of the dense structure (base)",
        selects={"dim": claims.DIMS, "structure": ("diverse", "dense")},
        entry_keys=("dim", "method"),
        derive=claims.named_as_in_table5,
    ),
    _of_mcc(
        id="ddl/table6",
        title="Table 6: MCC against the weight of dependency sparsity",
        selects={"alpha": claims.ALPHAS, "dim": claims.DIMS},
        entry_keys=("alpha", "dim"),
        draw=figures.mcc_against_alpha,
    ),
    _of_disco(
        id="ddl/table1_disco",
        title="Table 1: dependency and latent sparsity on DisCo",
        selects={**_DISCO, "dataset": ("shapes3d", *image_claims.DATASETS)},
        presets=("ddl/table1_disco", "ddl/table1_disco_cars3d", "ddl/table1_disco_mpi3d"),
    ),
    *(
        _of_disco(
            id=f"ddl/table1_disco_{name}",
            title=f"Table 1, {name}: dependency and latent sparsity on DisCo",
            selects={**_DISCO, "dataset": (name,)},
        )
        for name in image_claims.DATASETS
    ),
    _of_images(
        id="ddl/table1",
        title="Table 1: dependency and latent sparsity on backbones of images",
        selects={
            "backbone": image_claims.BACKBONES,
            "regulariser": image_claims.OF_TABLE1,
            "dataset": image_claims.DATASETS_OF_TABLE1,
        },
        entry_keys=("dataset", "backbone", "regulariser"),
        presets=(
            *("ddl/table1", "ddl/table8", "ddl/table8_mpi3d"),  # FactorVAE
            *("ddl/fig9", "ddl/fig10", "ddl/fig11"),  # EncDiff
            *("ddl/table1_disco", "ddl/table1_disco_cars3d", "ddl/table1_disco_mpi3d"),
        ),
    ),
    _of_images(
        id="ddl/table7",
        title="Table 7: penalties on Cars3D, by size of the images (below scale=paper half the size named)",
        selects={"backbone": ("factorvae",), "regulariser": image_claims.REGULARISERS, "dataset": ("cars3d",)},
        entry_keys=("dataset", "image_size", "regulariser"),
        derive=image_claims.with_the_papers_sizes,
    ),
    _of_images(
        id="ddl/table8",
        title="Table 8: penalties on FactorVAE, on Cars3D and MPI3D",
        selects={
            "backbone": ("factorvae",),
            "regulariser": image_claims.REGULARISERS,
            "dataset": image_claims.DATASETS,
        },
        entry_keys=("dataset", "regulariser"),
        presets=("ddl/table8", "ddl/table8_mpi3d"),
    ),
    _of_images(
        id="ddl/table8_mpi3d",
        title="Table 8, MPI3D: penalties on FactorVAE",
        selects={"backbone": ("factorvae",), "regulariser": image_claims.REGULARISERS, "dataset": ("mpi3d",)},
        entry_keys=("dataset", "regulariser"),
        targets_of=("ddl/table8",),
    ),
    _of_encdiff(
        id="ddl/fig8_shapes3d",
        title="Figure 8, Shapes3D: traversals of EncDiff's units",
        selects={**OF_ENCDIFF_RUNS, "dataset": ("shapes3d",), "regulariser": (image_claims.DEPENDENCY,)},
        metrics=("selectivity", "decoded_accuracy"),
        draw_arrays=image_figures.traversals_of_newest,
    ),
    _of_encdiff(
        id="ddl/fig9",
        title="Figure 9: swaps of EncDiff's units on Shapes3D",
        selects={**OF_ENCDIFF_RUNS, "dataset": ("shapes3d",)},
        draw_arrays=image_figures.swaps_of_newest,
    ),
    _of_encdiff(
        id="ddl/fig10",
        title="Figure 10: swaps of EncDiff's units on Cars3D",
        selects={**OF_ENCDIFF_RUNS, "dataset": ("cars3d",)},
        draw_arrays=image_figures.swaps_of_newest,
    ),
    _of_encdiff(
        id="ddl/fig11",
        title="Figure 11: swaps of EncDiff's units on MPI3D",
        selects={**OF_ENCDIFF_RUNS, "dataset": ("mpi3d",)},
        draw_arrays=image_figures.swaps_of_newest,
    ),
    _of_ddl(
        id="ddl/fig8",
        title="Figure 8, Fashion-MNIST: traversals of the flow (below scale=paper silhouettes)",
        selects={"model": ("flow",), "regulariser": flow.REGULARISERS},
        entry_keys=("regulariser", "factor"),
        metrics=flow.METRICS,
        draw_arrays=flow.traversals_by_penalty,
    ),
    _of_ddl(
        id="ddl/theory",
        title="Theory: recovered structures, and latents that depend on each other",
        selects={"method": ("ours",)},
        entry_keys=("mask", "rho"),
        metrics=("mcc", "structure_f1", "structure_shd", "forbidden"),
    ),
    _of_ddl(
        id=study.ID,
        title="Study (not the paper's): which readings of the data give the numbers of tables 5 and 6",
        selects={"method": ("ours",), "structure": ("diverse", "dense"), "alpha": claims.ALPHAS},
        entry_keys=("reading", "structure", "alpha", "dim"),
        metrics=("distance", "mcc"),
        derive=study.study_rows,
    ),
)

SUMMARIES = (
    _of_ddl(
        id="ddl/run_on_images",
        title="Diverse Dictionary Learning on images, one run",
        selects={"backbone": ("factorvae", "encdiff", "encdiff_autoencoder", "disco", "disco_generator")},
        entry_keys=("dataset", "image_size", "backbone", "regulariser", "alpha", "factor"),
        metrics=tuple(metric.name for metric in (*OF_IMAGES, *OF_ENCDIFF, *OF_DIRECTIONS)),
        summary_of_run=True,
    ),
    _of_ddl(
        id="ddl/run_of_flow",
        title="Diverse Dictionary Learning on images, one flow",
        selects={"model": ("flow",)},
        entry_keys=("dataset", "model", "regulariser", "alpha", "factor"),
        metrics=flow.METRICS,
        summary_of_run=True,
    ),
    _of_ddl(
        id="ddl/run_on_a_transformer",
        title="Sparse autoencoders of an MLP in a transformer, one run",
        selects={"method": sae_claims.KINDS},
        entry_keys=("model", "corpus", "layer", "method", "part"),
        metrics=tuple(metric.name for metric in OF_TRANSFORMERS),
        summary_of_run=True,
    ),
    _of_ddl(
        id="ddl/run",
        title="Diverse Dictionary Learning, one run",
        selects={},
        entry_keys=("dim", "mask", "method", "alpha", "score"),
        metrics=("mcc", "structure_f1", "structure_shd", "forbidden", "r2", "reconstruction", "jacobian_l1_normalised"),
        summary_of_run=True,
    ),
)
"""Tables printed after a single run."""
