"""Rows added to those of the AUC in tables 1 and 2: the map that needs no training, and whether labels were learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from sparseid.methods.regcl.gate import R2_GATE

OTHER_FACTOR = {"a": "z1", "b": "z2"}
"""Setting -> the factor without labels; that of the labels has their R2."""
R2_BELOW = f"r2_below_{R2_GATE:g}"


def with_gate(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the AUC and, behind them, those of a reader's two questions.

    What would be found without training: the AUC of the generator's minimum-norm inverse, under the key ``attribution:
    minimum_norm``; it belongs to the data, whatever was trained on them. Was anything learned: ``r2`` of the labels and
    of the factor without labels, under the key ``explained``; and ``r2_below_95``, which is 100 where R2 of the labels
    is below the gate and else 0, so that its mean is the share of such data sets.
    """
    auc = rows[rows["metric"] == "auc"]
    untrained = rows[rows["metric"] == "minimum_norm_auc"]
    untrained = untrained.assign(metric="auc", keys=untrained["keys"].map(_of_data))
    r2 = rows[(rows["metric"] == "r2") & rows["value"].notna()]
    explained = r2[_where(r2, lambda keys: keys["explained"] in ("labels", OTHER_FACTOR[keys["setting"]]))]
    labels = explained[_where(explained, lambda keys: keys["explained"] == "labels")]
    below = labels.assign(metric=R2_BELOW, value=100.0 * (labels["value"].astype(float) < R2_GATE))
    return pd.concat([part for part in (auc, untrained, explained, below) if len(part)] or [auc], ignore_index=True)


def _where(rows: pd.DataFrame, holds: Callable[[dict[str, Any]], bool]) -> pd.Series:
    return rows["keys"].map(holds).astype(bool)


def _of_data(keys: dict[str, Any]) -> dict[str, Any]:
    data = {name: value for name, value in keys.items() if name not in ("training", "regularisation")}
    return data | {"attribution": "minimum_norm"}
