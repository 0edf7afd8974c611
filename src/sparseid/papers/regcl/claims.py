"""Checks of the claims of RegCL's tables 1 and 2 and figure 2, as functions of result rows.

Those of tables 3 to 5 are in :mod:`sparseid.papers.regcl.statistics`, beside the tests that they speak of.
"""

from __future__ import annotations

from itertools import product

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import (
    Finding,
    claim,
    every,
    mean_above,
    mean_not_below,
    mean_within,
    not_measured,
    weakest,
)
from sparseid.papers.labels import written
from sparseid.papers.rows import per_replicate, select
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
"""Numbers of latents that tables 1 and 2 pool and figure 2 runs over."""
REGCL = ("jf_plus", "hybrid_contrastive", "regularised")
"""The cell of the paper's own method."""
CELLS = tuple(product(ATTRIBUTIONS, TRAININGS, REGULARISATIONS))


def cell(rows: pd.DataFrame, attribution: str, training: str, regularisation: str, **keys: Key) -> pd.Series:
    """Return the AUC of each data set of one cell, indexed by (seed, number of latents)."""
    wanted = {"attribution": attribution, "training": training, "regularisation": regularisation, **keys}
    return per_replicate(select(rows, {name: (value,) for name, value in wanted.items()}), "auc", ("dim",))


def _named(attribution: str, training: str, regularisation: str) -> str:
    return f"{written(attribution)}, {written(training)}, {written(regularisation)}"


def _above_all_others(rows: pd.DataFrame, others: list[tuple[str, str, str]]) -> Finding:
    """Check that the interval of RegCL's cell lies above that of every other cell."""
    ours = cell(rows, *REGCL)
    theirs = {_named(*other): cell(rows, *other) for other in others}
    if ours.empty or any(values.empty for values in theirs.values()):
        return not_measured("some cell")
    summarise = load_targets("regcl").convention.summarise_values
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
    none, regularised = (cell(rows, attribution, training, name) for name in REGULARISATIONS)
    return mean_not_below(regularised, none, "AUC with and without")


@claim("regcl-table1-headline")
def headline(rows: pd.DataFrame) -> Finding:
    return _above_all_others(rows, [other for other in CELLS if other != REGCL])


@claim("regcl-table1-regularisation-helps")
def regularisation_helps(rows: pd.DataFrame) -> Finding:
    found = {f"{written(a)}, {written(t)}": _raised(rows, a, t) for a, t in product(ATTRIBUTIONS, TRAININGS)}
    return weakest(found)


@claim("regcl-table1-inverse-needs-hybrid")
def inverse_needs_hybrid(rows: pd.DataFrame) -> Finding:
    found = {}
    for training in TRAININGS:
        inverse, gradient = (cell(rows, name, training, "none") for name in ("jf_plus", "neuron_gradient"))
        pair = (inverse, gradient) if training == "hybrid_contrastive" else (gradient, inverse)
        found[written(training)] = mean_not_below(*pair, "AUC")
    return every(found)


@claim("regcl-table1-best-other")
def best_other(rows: pd.DataFrame) -> Finding:
    best = [("neuron_gradient", "supervised", "regularised"), ("jf_plus", "supervised", "regularised")]
    others = [other for other in CELLS if other != REGCL and other not in best]
    lowest = min((cell(rows, *name) for name in best), key=lambda values: values.mean() if len(values) else -1.0)
    return weakest({_named(*other): mean_not_below(lowest, cell(rows, *other), "AUC") for other in others})


@claim("regcl-table1-hybrid-inverse-over-gradient")
def hybrid_inverse_over_gradient(rows: pd.DataFrame) -> Finding:
    inverse, gradient = (cell(rows, name, *REGCL[1:]) for name in ("jf_plus", "neuron_gradient"))
    return mean_above((inverse - gradient).dropna(), 5, "lead of the pseudo-inverse")


@claim("regcl-table1-inverse-gains-from-lambda")
def inverse_gains(rows: pd.DataFrame) -> Finding:
    return _raised(rows, "jf_plus", "hybrid_contrastive")


@claim("regcl-table1-ig-equals-shapley-zeros")
def gradients_equal_shapley(rows: pd.DataFrame) -> Finding:
    def check(training: str, regularisation: str) -> Finding:
        pair = (cell(rows, name, training, regularisation) for name in ("integrated_gradients", "shapley_zeros"))
        first, second = pair
        return mean_within((first - second).dropna(), 0.5, "difference of AUC")

    return every({f"{written(t)}, {written(r)}": check(t, r) for t in TRAININGS[:2] for r in REGULARISATIONS})


_HYBRID = [(a, "hybrid_contrastive", r) for a, r in product(ATTRIBUTIONS, REGULARISATIONS)]


@claim("regcl-table2-headline")
def unobserved_headline(rows: pd.DataFrame) -> Finding:
    return _above_all_others(rows, [other for other in _HYBRID if other != REGCL])


@claim("regcl-table2-regularisation-helps")
def unobserved_regularisation_helps(rows: pd.DataFrame) -> Finding:
    return weakest({written(name): _raised(rows, name, "hybrid_contrastive") for name in ATTRIBUTIONS})


@claim("regcl-table2-inverse-best-unregularised")
def unobserved_inverse_best(rows: pd.DataFrame) -> Finding:
    inverse = cell(rows, "jf_plus", "hybrid_contrastive", "none")
    others = [name for name in ATTRIBUTIONS if name != "jf_plus"]
    found = {
        written(name): mean_not_below(inverse, cell(rows, name, "hybrid_contrastive", "none"), "AUC") for name in others
    }
    return weakest(found)


@claim("regcl-fig2-regcl-stays-high")
def stays_high(rows: pd.DataFrame) -> Finding:
    return every({f"{d} latents": mean_above(cell(rows, *REGCL, dim=d), 90, "AUC") for d in LATENTS})


def lead_over_supervised(rows: pd.DataFrame, latents: int) -> pd.Series:
    """Return by how much RegCL is above the best supervised baseline, per data set.

    Each baseline, with and without regularisation, counts with the attribution method of the highest mean.
    """
    supervised = [
        cell(rows, name, "supervised", regularisation, dim=latents)
        for name, regularisation in product(ATTRIBUTIONS, REGULARISATIONS)
    ]
    best = max(supervised, key=lambda values: values.mean() if len(values) else -1.0)
    lead = (cell(rows, *REGCL, dim=latents) - best).dropna()
    lead.index = pd.Index([seed for seed, _ in lead.index])  # leads at two numbers of latents are then paired
    return lead


@claim("regcl-fig2-baselines-fall")
def baselines_fall(rows: pd.DataFrame) -> Finding:
    few, many = (lead_over_supervised(rows, latents) for latents in (LATENTS[0], LATENTS[-1]))
    return mean_not_below(many, few, "lead at 9 and at 4 latents")
