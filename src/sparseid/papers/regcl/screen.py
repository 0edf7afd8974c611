"""Our screen of readings of RegCL: the distance of each variant of experiment=regcl/screen to all of table 1."""

from __future__ import annotations

from itertools import product
from typing import Any

import pandas as pd

from sparseid.papers.presets import VARIANTS
from sparseid.papers.regcl.claims import ATTRIBUTIONS, ENTRIES, REGCL, REGULARISATIONS, TRAININGS, auc
from sparseid.papers.regcl.study import best_by_latents, printed
from sparseid.papers.rows import newest_row, with_keys

ID = "regcl/screen"
"""The artefact and the preset whose runs it reads."""

PAIRS = tuple(product(ATTRIBUTIONS, TRAININGS))
"""Pairs of entries that differ in the regularisation, which raises every one of them in the paper."""


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


def screen_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the artefact, computed from those of the preset's runs at one scale.

    Per variant with all entries: ``distance``, ``raised`` and ``saturated`` over all its data sets, without seed, and
    ``lead`` per data set. None of rows without column ``variants``: they are of other settings.
    """
    of_row = rows[VARIANTS].tolist() if VARIANTS in rows else []
    lines: list[dict[Any, Any]] = []
    keys: list[dict[str, Any]] = []
    for variant in dict.fromkeys(name for names in of_row for name in names):
        own = rows[[variant in names for names in of_row]]
        leads = lead(own)
        if leads.empty:
            continue
        like = {str(name): value for name, value in newest_row(own).items()} | {"seed": -1, "n": len(leads)}
        for metric, value, unit in (
            ("distance", distance(own), "AUC percent points"),
            ("raised", raised(own), "1"),
            ("saturated", clipped(own), "percent"),
        ):
            lines.append(like | {"metric": metric, "value": value, "unit": unit})
            keys.append({"variant": variant})
        for (seed, dim), value in zip(leads.index, leads, strict=True):
            lines.append(like | {"metric": "lead", "value": value, "unit": "AUC percent points", "seed": seed})
            keys.append({"variant": variant, "dim": dim})
    return with_keys(pd.DataFrame(lines, columns=rows.columns), keys) if lines else rows.iloc[:0]
