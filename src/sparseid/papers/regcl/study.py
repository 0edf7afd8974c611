"""Our study of RegCL's headline: relations of table 1 that each variant of experiment=regcl/study reproduces.

A run that several variants share (the one without regularisation, if they differ in lambda) counts for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.presets import VARIANTS
from sparseid.papers.regcl.claims import REGCL, REGULARISATIONS, auc
from sparseid.papers.rows import per_replicate, values_of, with_keys
from sparseid.papers.targets import load_targets

ID = "regcl/study"
"""The artefact and the preset whose runs it reads."""

Name = tuple[str, str, str]
"""An entry of table 1: attribution method, training, regularisation."""

KEYS = ("attribution", "training", "regularisation")
"""Keys of an entry of table 1."""
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


def printed() -> dict[Name, float]:
    """Return the paper's AUC of each entry of table 1: means over 4 to 9 latents."""
    found: dict[Name, float] = {}
    for target in load_targets("regcl").of("regcl/table1"):
        attribution, training, regularisation = (str(target.keys[name]) for name in KEYS)
        if target.value is not None:
            found[attribution, training, regularisation] = target.value
    return found


def anchors() -> dict[str, float]:
    """Return the paper's number of each anchor."""
    of_entry = printed()
    return {anchor: of_entry[name] for anchor, name in ANCHORS.items()}


def leads(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the lead of each relation's higher entry in the rows of a variant, per data set (seed, latents).

    Returns
    -------
    dict of Series
        Points of AUC; both entries are of the same data set. The best other entry has the highest mean at the number of
        latents. Empty if an entry is missing.
    """
    values = {name: auc(rows, *name) for name in ENTRIES}
    best = best_by_latents(rows, [name for name in ENTRIES if name != REGCL])
    pairs = {name: (values[high], best if low is None else values[low]) for name, (high, low) in RELATIONS.items()}
    return {name: (high - low).dropna() for name, (high, low) in pairs.items()}


def best_by_latents(rows: pd.DataFrame, entries: Iterable[Name]) -> pd.Series:
    """Return the AUC per data set of the entry with the highest mean at its number of latents.

    Empty at a number of latents where one of the entries is missing.
    """
    values = [auc(rows, *name) for name in entries]
    parts = [part for dim in values_of(rows, "dim") if len(part := _best(values, dim))]
    return pd.concat(parts) if parts else pd.Series(dtype=float)


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


def study_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the artefact, computed from those of the preset's runs at one scale.

    Per variant and data set: ``lead`` of each relation, ``above_paper`` of each anchor, ``minimum_norm_auc``. None of
    rows without column ``variants``: they are of other settings.
    """
    of_row = rows[VARIANTS].tolist() if VARIANTS in rows else []
    found_rows: list[dict[Any, Any]] = []
    found_keys: list[dict[str, Any]] = []
    for variant in dict.fromkeys(name for names in of_row for name in names):
        own = rows[[variant in names for names in of_row]]
        of_seed = {row["seed"]: row for row in own.drop_duplicates("seed", keep="last").to_dict("records")}
        found = [("lead", {"relation": name}, values) for name, values in leads(own).items()]
        found += [("above_paper", {"anchor": name}, values) for name, values in above_paper(own).items()]
        for metric, keys, values in [*found, ("minimum_norm_auc", {}, minimum_norm(own))]:
            unit = "AUC in percent" if metric == "minimum_norm_auc" else "AUC percent points"
            for (seed, dim), value in zip(values.index, values, strict=True):
                found_rows.append({**of_seed[seed], "metric": metric, "value": value, "unit": unit})
                found_keys.append({"variant": variant, "dim": dim, **keys})
    return with_keys(pd.DataFrame(found_rows, columns=rows.columns), found_keys) if found_rows else rows.iloc[:0]
