"""The tables and the figure of RegCL; tables 3 to 5 are tests on the runs of table 1."""

from __future__ import annotations

from functools import partial

from sparseid.papers.artefact import Artefact
from sparseid.papers.regcl import claims, figures, statistics

_CELLS = {"attribution": claims.ATTRIBUTIONS, "training": claims.TRAININGS, "regularisation": claims.REGULARISATIONS}
_of_regcl = partial(Artefact, paper="regcl", checks={**claims.CLAIMS, **statistics.CLAIMS})
_tukey = partial(_of_regcl, selects=_CELLS, cell=("group1", "group2", "statistic"), metrics=("meandiff", "p_adj"))

ARTEFACTS = (
    _of_regcl(
        id="regcl/table1",
        title="Table 1: AUC by attribution method, training and regularisation",
        selects=_CELLS,
        cell=("attribution", "training", "regularisation"),
        metrics=("auc",),
    ),
    _of_regcl(
        id="regcl/table2",
        title="Table 2: AUC with the target latent unobserved",
        selects=_CELLS | {"training": ("hybrid_contrastive",)},
        cell=("attribution", "training", "regularisation"),
        metrics=("auc",),
    ),
    _of_regcl(
        id="regcl/fig2",
        title="Figure 2: AUC against the number of latents",
        selects=_CELLS | {"dim": claims.LATENTS},
        cell=("attribution", "training", "regularisation", "dim"),
        metrics=("auc",),
        draw=figures.auc_against_latents,
    ),
    _of_regcl(
        id="regcl/table3",
        title="Table 3: analysis of variance",
        selects=_CELLS,
        cell=("term", "statistic"),
        metrics=("sum_sq", "df", "F", "p"),
        derive=statistics.anova_rows,
    ),
    _tukey(
        id="regcl/table4",
        title="Table 4: Tukey's test of attribution method and training",
        derive=partial(statistics.tukey_rows, factors=statistics.TABLE4, artefact="regcl/table4"),
    ),
    _tukey(
        id="regcl/table5",
        title="Table 5: Tukey's test of attribution method and regularisation",
        derive=partial(statistics.tukey_rows, factors=statistics.TABLE5, artefact="regcl/table5"),
    ),
)
