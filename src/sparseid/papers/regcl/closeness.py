"""Closeness of RegCL's runs to all of table 1: the distance of its entries and the relations between them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.regcl.claims import ATTRIBUTIONS, ENTRIES, REGCL, REGULARISATIONS, TRAININGS, auc
from sparseid.papers.regcl.study import best_by_latents, printed
from sparseid.papers.rows import newest_row, replicates_of, with_keys

METRICS = ("distance", "raised", "lead", "saturated")
"""Metrics of :func:`closeness_rows`."""

PAIRS = tuple(product(ATTRIBUTIONS, TRAININGS))
"""Pairs of entries that differ in the regularisation, which raises every one of them in the paper."""


def complete(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the data sets (seed, latents) that have all entries of table 1.

    Entries over different data sets would differ for that reason, too.
    """
    shared = set.intersection(*(set(auc(rows, *name).index) for name in ENTRIES))
    kept = [of in shared for of in replicates_of(rows, ("dim",))]
    return rows[np.array(kept, dtype=bool)]


def distance(rows: pd.DataFrame) -> float:
    """Return the mean absolute difference to the paper over the entries of table 1, in points of AUC.

    An entry is the mean over data sets, as in the paper. NaN without all of them.
    """
    differences = [auc(rows, *name).mean() - value for name, value in printed().items()]
    return float(pd.Series(differences, dtype=float).abs().mean(skipna=False))


def raised(rows: pd.DataFrame) -> float:
    """Return how many of the 18 pairs regularisation raises on average over data sets; NaN without all of them."""
    changes = []
    for pair in PAIRS:
        without, with_penalty = (auc(rows, *pair, name) for name in REGULARISATIONS)
        changes.append((with_penalty - without).mean())
    found = pd.Series(changes, dtype=float)
    return float("nan") if found.isna().any() else float((found > 0).sum())


def lead(rows: pd.DataFrame) -> pd.Series:
    """Return RegCL's AUC less that of the best other entry at its number of latents, per data set."""
    best = best_by_latents(rows, [name for name in ENTRIES if name != REGCL])
    return (auc(rows, *REGCL) - best).dropna()


def clipped(rows: pd.DataFrame) -> float:
    """Return the largest share of clipped outputs among the runs, in percent; NaN without any."""
    return float(rows.loc[rows["metric"] == "saturated", "value"].max())


def closeness_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return ``distance``, ``raised`` and ``saturated`` over all data sets, without seed, and ``lead`` of each.

    The only key is the number of latents of a ``lead``. Data sets without some entry do not count; no rows without any
    that has all of them.
    """
    rows = complete(rows)
    leads = lead(rows)
    if leads.empty:
        return rows.iloc[:0]
    of_data_sets = list(zip(leads, leads.index, strict=True))
    points = "AUC percent points"
    lines: list[dict[str, Any]] = [
        {"metric": "distance", "value": distance(rows), "unit": points, "seed": -1},
        {"metric": "raised", "value": raised(rows), "unit": "1", "seed": -1},
        {"metric": "saturated", "value": clipped(rows), "unit": "percent", "seed": -1},
        *({"metric": "lead", "value": value, "unit": points, "seed": seed} for value, (seed, _) in of_data_sets),
    ]
    like = newest_row(rows).to_dict() | {"n": len(leads)}
    keys: list[dict[str, Key]] = [{}, {}, {}, *({"dim": dim} for _, (_, dim) in of_data_sets)]
    return with_keys(pd.DataFrame([like | line for line in lines], columns=rows.columns), keys)
