"""RegCL's tables and figure in two readings, and three studies of ours.

Tables 3 to 5 are tests on the runs of table 1.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sparseid.papers.artefact import Artefact
from sparseid.papers.claims import claims_in
from sparseid.papers.regcl import claims, closeness, figures, readings, rows, statistics, study
from sparseid.papers.rows import joined

_ENTRIES = {"attribution": claims.ATTRIBUTIONS, "training": claims.TRAININGS, "regularisation": claims.REGULARISATIONS}
_WITH_GATE = _ENTRIES | {"attribution": (*claims.ATTRIBUTIONS, "minimum_norm", None)}
_of_regcl = partial(
    Artefact,
    paper="regcl",
    checks=claims_in(claims, statistics),
    seeds=lambda seed: seed not in claims.SCREENED and seed not in claims.CONFIRMED,
)
_pooled = partial(_of_regcl, pools={"dim": claims.LATENTS})
_table = partial(
    _pooled,
    entry_keys=("attribution", "training", "regularisation", "explained"),
    metrics=("auc", "r2", rows.R2_BELOW),
)
_tukey = partial(_pooled, selects=_ENTRIES, entry_keys=("group1", "group2", "statistic"), metrics=("meandiff", "p_adj"))
_of_readings = partial(
    _of_regcl,
    selects={"training": claims.TRAININGS, "regularisation": claims.REGULARISATIONS},
    entry_keys=("variant",),
    metrics=closeness.METRICS,
    derive=readings.reading_rows,
)

_PUBLIC_EXAMPLE = (
    _table(
        id="regcl/table1",
        title="Table 1: AUC by attribution method, training and regularisation",
        selects=_WITH_GATE,
        metrics=("auc", *closeness.METRICS, "r2", rows.R2_BELOW),
        derive=lambda found: joined(rows.with_gate(found), closeness.closeness_rows(found)),
    ),
    _table(
        id="regcl/table2",
        title="Table 2: AUC with the target latent unobserved",
        selects=_WITH_GATE | {"training": ("hybrid_contrastive",)},
        derive=rows.with_gate,
    ),
    _of_regcl(
        id="regcl/fig2",
        title="Figure 2: AUC against the number of latents",
        selects=_ENTRIES | {"dim": claims.LATENTS},
        entry_keys=("attribution", "training", "regularisation", "dim"),
        metrics=("auc",),
        draw=figures.auc_against_latents,
    ),
    _pooled(
        id="regcl/table3",
        title="Table 3: analysis of variance",
        selects=_ENTRIES,
        entry_keys=("term", "statistic"),
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
"""The setting of the authors' public example."""


def _nearest(entry: Artefact) -> Artefact:
    """Return a table or figure in the reading that our screen found nearest to table 1."""
    number, _, title = entry.title.partition(":")
    return replace(
        entry,
        id=f"{entry.id}_nearest",
        reading_of=entry.id,
        title=f"{number}, linear mixing:{title}",
        seeds=lambda seed: seed in claims.CONFIRMED,
    )


ARTEFACTS = (
    *(reading for entry in _PUBLIC_EXAMPLE for reading in (entry, _nearest(entry))),
    _of_regcl(
        id=study.ID,
        title="Study (not the paper's): what the headline of table 1 depends on",
        selects={"training": study.TRAININGS, "regularisation": claims.REGULARISATIONS},
        entry_keys=("variant", "relation", "anchor"),
        metrics=("minimum_norm_auc", "lead", "above_paper"),
        derive=study.study_rows,
    ),
    _of_readings(
        id="regcl/screen",
        title="Screen (not the paper's): distance of each reading to all of table 1",
        seeds=lambda seed: seed in claims.SCREENED,
    ),
    _of_readings(
        id="regcl/confirm",
        title="Confirmation (not the paper's): the nearest readings on data sets that did not help to find them",
        seeds=lambda seed: seed in claims.CONFIRMED,
    ),
)

SUMMARIES = (
    _of_regcl(
        id="regcl/arrays",
        title="RegCL on your own data",
        selects={"domain": ("arrays",)},
        entry_keys=("method", "explained", "attribution"),
        metrics=("r2", "auc", "saturated", "rank_deficient"),
        summary_of_run=True,
    ),
)
"""Tables printed after a run that belongs to no artefact."""
