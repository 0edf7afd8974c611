"""The synthetic experiments of Diverse Dictionary Learning: tables 4 to 6, figures 4 and 5, theory, our study."""

from __future__ import annotations

from functools import partial

from sparseid.papers.artefact import Artefact
from sparseid.papers.claims import claims_in
from sparseid.papers.ddl import claims, figures, study, theory

_of_ddl = partial(Artefact, paper="ddl", checks=claims_in(claims, theory))
_of_mcc = partial(_of_ddl, metrics=("mcc",))

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
        id="ddl/run",
        title="Diverse Dictionary Learning, one run",
        selects={},
        entry_keys=("dim", "mask", "method", "alpha", "score"),
        metrics=("mcc", "structure_f1", "structure_shd", "forbidden", "r2", "reconstruction", "jacobian_l1_normalised"),
        summary_of_run=True,
    ),
)
"""Tables printed after a single run."""
