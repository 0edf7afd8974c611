"""Checks of the claims of RegCL's tables 1 and 2 and figure 2, as functions of result rows.

Claims about tables 3 to 5 are in :mod:`sparseid.papers.regcl.statistics`, with the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import (
    Finding,
    claim,
    every,
    for_every,
    mean_above,
    mean_not_below,
    mean_within,
    not_measured,
    weakest,
)
from sparseid.papers.labels import label
from sparseid.papers.rows import per_replicate
from sparseid.papers.targets import load_targets

ATTRIBUTIONS = (
    "neuron_gradient",
    "feature_ablation",
    "integrated_gradients",
    "shapley_shuffled",
    "shapley_zeros",
    "jf_plus",
)
TRAININGS = ("supervised", "supervised_contrastive", "hybrid_contrastive")
REGULARISATIONS = ("none", "regularised")
LATENTS = range(4, 10)
"""Numbers of latents in figure 2, pooled in tables 1 and 2."""
SCREENED = range(10, 20)
"""Seeds of data sets on which a reading of table 1 is chosen."""
CONFIRMED = range(20, 30)
"""Seeds of data sets on which the nearest readings are judged."""
REGCL = ("jf_plus", "hybrid_contrastive", "regularised")
"""The entry of the paper's own method."""
ENTRIES = tuple(product(ATTRIBUTIONS, TRAININGS, REGULARISATIONS))


def auc(rows: pd.DataFrame, attribution: str, training: str, regularisation: str, **keys: Key) -> pd.Series:
    """Return the AUC of each data set of one entry, indexed by (seed, number of latents)."""
    wanted = {"attribution": attribution, "training": training, "regularisation": regularisation, **keys}
    return per_replicate(rows, "auc", ("dim",), {name: (value,) for name, value in wanted.items()})


def _above_all_others(rows: pd.DataFrame, others: list[tuple[str, str, str]]) -> Finding:
    """Check that the interval of RegCL's entry lies above that of every other entry."""
    ours = auc(rows, *REGCL)
    theirs = {", ".join(map(label, other)): auc(rows, *other) for other in others}
    if ours.empty or any(values.empty for values in theirs.values()):
        return not_measured("some entry")
    summarise = load_targets("regcl").aggregation.summarise
    summaries = {name: summarise(values) for name, values in theirs.items()}
    name, best = max(summaries.items(), key=lambda item: item[1].high)
    mine = summarise(ours)
    text = (
        f"RegCL {mine.centre:.1f} [{mine.low:.1f}, {mine.high:.1f}] against at most "
        f"{best.centre:.1f} [{best.low:.1f}, {best.high:.1f}] ({name}), {mine.n} runs"
    )
    if mine.n < 2 or best.n < 2:
        return Finding("undecided", f"{text}: one run, no interval", mine.centre - best.centre)
    return Finding("holds" if mine.low > best.high else "fails", text, mine.low - best.high)


def _raised(rows: pd.DataFrame, attribution: str, training: str) -> Finding:
    none, regularised = (auc(rows, attribution, training, name) for name in REGULARISATIONS)
    return mean_not_below(regularised, none, "AUC with and without", strict=True)


@claim("regcl-table1-headline")
def headline(rows: pd.DataFrame) -> Finding:
    return _above_all_others(rows, [other for other in ENTRIES if other != REGCL])


@claim("regcl-table1-regularisation-helps")
@for_every("{}, {}", ATTRIBUTIONS, TRAININGS, combine=weakest)
def regularisation_helps(rows: pd.DataFrame, attribution: str, training: str) -> Finding:
    return _raised(rows, attribution, training)


@claim("regcl-table1-inverse-needs-hybrid")
@for_every("{}", TRAININGS)
def inverse_needs_hybrid(rows: pd.DataFrame, training: str) -> Finding:
    inverse, gradient = (auc(rows, name, training, "none") for name in ("jf_plus", "neuron_gradient"))
    pair = (inverse, gradient) if training == "hybrid_contrastive" else (gradient, inverse)
    return mean_not_below(*pair, "AUC", strict=True)


@claim("regcl-table1-best-other")
def best_other(rows: pd.DataFrame) -> Finding:
    best = [("neuron_gradient", "supervised", "regularised"), ("jf_plus", "supervised", "regularised")]
    others = [other for other in ENTRIES if other != REGCL and other not in best]
    lowest = min((auc(rows, *name) for name in best), key=lambda values: values.mean() if len(values) else -1.0)
    return weakest(
        {
            ", ".join(map(label, other)): mean_not_below(lowest, auc(rows, *other), "AUC", strict=True)
            for other in others
        }
    )


@claim("regcl-table1-hybrid-inverse-over-gradient")
def hybrid_inverse_over_gradient(rows: pd.DataFrame) -> Finding:
    inverse, gradient = (auc(rows, name, *REGCL[1:]) for name in ("jf_plus", "neuron_gradient"))
    return mean_above((inverse - gradient).dropna(), 5, "lead of the pseudo-inverse")


@claim("regcl-table1-inverse-gains-from-lambda")
def inverse_gains(rows: pd.DataFrame) -> Finding:
    return _raised(rows, "jf_plus", "hybrid_contrastive")


@claim("regcl-table1-ig-equals-shapley-zeros")
@for_every("{}, {}", TRAININGS[:2], REGULARISATIONS)
def gradients_equal_shapley(rows: pd.DataFrame, training: str, regularisation: str) -> Finding:
    first, second = (auc(rows, a, training, regularisation) for a in ("integrated_gradients", "shapley_zeros"))
    return mean_within((first - second).dropna(), 0.5, "difference of AUC")


_HYBRID = [(a, "hybrid_contrastive", r) for a, r in product(ATTRIBUTIONS, REGULARISATIONS)]


@claim("regcl-table2-headline")
def unobserved_headline(rows: pd.DataFrame) -> Finding:
    return _above_all_others(rows, [other for other in _HYBRID if other != REGCL])


@claim("regcl-table2-regularisation-helps")
@for_every("{}", ATTRIBUTIONS, combine=weakest)
def unobserved_regularisation_helps(rows: pd.DataFrame, attribution: str) -> Finding:
    return _raised(rows, attribution, "hybrid_contrastive")


@claim("regcl-table2-inverse-best-unregularised")
@for_every("{}", [name for name in ATTRIBUTIONS if name != "jf_plus"], combine=weakest)
def unobserved_inverse_best(rows: pd.DataFrame, attribution: str) -> Finding:
    inverse, other = (auc(rows, name, "hybrid_contrastive", "none") for name in ("jf_plus", attribution))
    return mean_not_below(inverse, other, "AUC", strict=True)


@claim("regcl-fig2-regcl-stays-high")
@for_every("{} latents", LATENTS)
def stays_high(rows: pd.DataFrame, latents: int) -> Finding:
    return mean_above(auc(rows, *REGCL, dim=latents), 90, "AUC")


def best_supervised(rows: pd.DataFrame, latents: int, regularisations: Sequence[str] = REGULARISATIONS) -> pd.Series:
    """Return the AUC of the supervised baseline whose attribution method has the highest mean, by seed.

    Of the baselines without and with regularisation it is the better one, unless one of them is named.
    """
    supervised = [
        auc(rows, name, "supervised", regularisation, dim=latents)
        for name, regularisation in product(ATTRIBUTIONS, regularisations)
    ]
    return _by_seed(max(supervised, key=lambda values: values.mean() if len(values) else -1.0))


def lead_over_supervised(rows: pd.DataFrame, latents: int) -> pd.Series:
    """Return the lead of RegCL over the best supervised baseline, by seed."""
    return (_by_seed(auc(rows, *REGCL, dim=latents)) - best_supervised(rows, latents)).dropna()


def _by_seed(values: pd.Series) -> pd.Series:
    """Return values of one number of latents by seed alone: those of two numbers are then paired."""
    return pd.Series(values.to_numpy(), pd.Index([seed for seed, _ in values.index]), dtype=float)


@claim("regcl-fig2-baselines-fall")
def baselines_fall(rows: pd.DataFrame) -> Finding:
    ends = (LATENTS[-1], LATENTS[0])
    many, few = (lead_over_supervised(rows, latents) for latents in ends)
    found = {"gap grows": mean_not_below(many, few, "lead at 9 and at 4 latents", strict=True)}
    for name in REGULARISATIONS:
        low, high = (best_supervised(rows, latents, (name,)) for latents in ends)
        found[f"supervised, {label(name)}"] = mean_not_below(high, low, "AUC at 4 and at 9 latents", strict=True)
    return every(found)
