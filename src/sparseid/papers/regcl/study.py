"""Our study of RegCL's headline: relations of table 1 that each variant of experiment=regcl/study reproduces."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, Literal

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.regcl.claims import REGCL, REGULARISATIONS, auc
from sparseid.papers.rows import per_replicate, values_of, with_keys
from sparseid.papers.targets import load_targets
from sparseid.papers.variants import Variant, variants_of

ID = "regcl/study"
"""The artefact and the preset whose runs it reads."""

Name = tuple[str, str, str]
"""An entry of table 1: attribution method, training, regularisation."""

TRAININGS = ("supervised", "hybrid_contrastive")
MAPS = ("neuron_gradient", "jf_plus")
ENTRIES: tuple[Name, ...] = tuple(
    (name, training, regularisation) for training, regularisation, name in product(TRAININGS, REGULARISATIONS, MAPS)
)
"""The entries of the study."""

ANCHORS: Mapping[str, Name] = {
    "supervised J": ("neuron_gradient", "supervised", "none"),
    "supervised J, regularised": ("neuron_gradient", "supervised", "regularised"),
    "hybrid J+": ("jf_plus", "hybrid_contrastive", "none"),
    "hybrid J+, regularised": REGCL,
}
"""Four numbers of table 1 that a reading of the paper should give together. J is the neuron gradient, J+ the
pseudo-inverse Jacobian."""

RELATIONS: Mapping[str, tuple[Name, Name | None]] = {
    "regularisation raises supervised J": (ANCHORS["supervised J, regularised"], ANCHORS["supervised J"]),
    "regularisation raises hybrid J+": (REGCL, ANCHORS["hybrid J+"]),
    "regularised hybrid: J+ above J": (REGCL, ("neuron_gradient", *REGCL[1:])),
    "RegCL above every other cell": (REGCL, None),
}
"""Relations of table 1: the higher entry and the lower one; None is the best of all others of `ENTRIES`."""

Outcome = Literal["holds", "fails", "open"]


def variants(scale: str) -> tuple[Variant, ...]:
    """Return the variants of the preset at a scale; the last run of each has the strongest penalty and most latents."""
    return variants_of(ID, scale)


def anchors() -> dict[str, float]:
    """Return the paper's number of each anchor: means over 4 to 9 latents."""
    table = load_targets("regcl").of("regcl/table1")
    names = ("attribution", "training", "regularisation")
    printed = {tuple(target.keys[name] for name in names): target.value for target in table}
    found = {anchor: printed[name] for anchor, name in ANCHORS.items()}
    return {anchor: value for anchor, value in found.items() if value is not None}


def leads(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the lead of each relation's higher entry in the rows of a variant, per data set (seed, latents).

    Returns
    -------
    dict of Series
        Points of AUC; both entries are of the same data set. The best other entry has the highest mean at the number of
        latents. Empty if an entry is missing.
    """
    values = {name: auc(rows, *name) for name in ENTRIES}
    others = [values[name] for name in ENTRIES if name != REGCL]
    parts = [part for dim in values_of(rows, "dim") if len(part := _best(others, dim))]
    best = pd.concat(parts) if parts else pd.Series(dtype=float)
    pairs = {name: (values[high], best if low is None else values[low]) for name, (high, low) in RELATIONS.items()}
    return {name: (high - low).dropna() for name, (high, low) in pairs.items()}


def at(values: pd.Series, dim: Key) -> pd.Series:
    """Return the data sets (seed, latents) with `dim` latents."""
    return values[[latents == dim for _, latents in values.index]]


def _best(entries: list[pd.Series], dim: Key) -> pd.Series:
    """Return the entry with the highest mean at a number of latents; empty if one is missing."""
    at_dim = [at(values, dim) for values in entries]
    return max(at_dim, key=lambda values: values.mean()) if all(map(len, at_dim)) else pd.Series(dtype=float)


def above_paper(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Return each anchor less the paper's mean over latents, in points of AUC, per data set."""
    return {anchor: auc(rows, *ANCHORS[anchor]) - value for anchor, value in anchors().items()}


def minimum_norm(rows: pd.DataFrame) -> pd.Series:
    """Return the AUC of the untrained minimum-norm map per data set, in percent."""
    return per_replicate(rows, "minimum_norm_auc", ("dim",))


def outcome(values: pd.Series) -> Outcome:
    """Return whether leads are above zero: ``open`` if their interval contains zero or is undefined."""
    summary = load_targets("regcl").aggregation_of(ID).summarise_values(values)
    if summary.n < 2 or summary.low <= 0 <= summary.high:
        return "open"
    return "holds" if summary.low > 0 else "fails"


def study_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the artefact, computed from those of the preset's runs at one scale.

    Per variant and data set: ``lead`` of each relation, ``above_paper`` of each anchor, ``minimum_norm_auc``.
    """
    found_rows: list[dict[str, Any]] = []
    found_keys: list[dict[str, Any]] = []
    for variant in variants(str(rows["scale"].iloc[0])) if len(rows) else ():
        own = variant.of(rows)
        if own.empty:
            continue
        of_seed = {row["seed"]: {str(name): value for name, value in row.items()} for row in own.to_dict("records")}
        found = [("lead", {"relation": name}, values) for name, values in leads(own).items()]
        found += [("above_paper", {"anchor": name}, values) for name, values in above_paper(own).items()]
        for metric, keys, values in [*found, ("minimum_norm_auc", {}, minimum_norm(own))]:
            unit = "AUC in percent" if metric == "minimum_norm_auc" else "AUC percent points"
            for (seed, dim), value in zip(values.index, values, strict=True):
                found_rows.append({**of_seed[seed], "metric": metric, "value": value, "unit": unit})
                found_keys.append({"variant": str(variant), "dim": dim, **keys})
    return with_keys(pd.DataFrame(found_rows, columns=rows.columns), found_keys) if found_rows else rows.iloc[:0]
