"""Further rows of tables 1 and 2: the untrained minimum-norm map and the gate on R2."""

from __future__ import annotations

import pandas as pd

from sparseid.methods.regcl.gate import R2_GATE
from sparseid.papers.rows import key, select

OTHER_FACTOR = {"a": "z1", "b": "z2"}
"""Setting -> the factor without labels; the other one has the R2 of the labels."""
R2_BELOW = f"r2_below_{R2_GATE:g}"


def with_gate(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the AUC, followed by those of an untrained map and of R2.

    The untrained map is the generator's minimum-norm inverse (key ``attribution: minimum_norm``), a property of the
    data. R2 shows what was learned: ``r2`` of the labels and of the factor without labels (key ``explained``), and
    ``r2_below_95``, which is 100 if R2 of the labels is below the gate, else 0; its mean is the fraction of such data
    sets.
    """
    auc = rows[rows["metric"] == "auc"]
    untrained = rows[rows["metric"] == "minimum_norm_auc"]
    untrained = untrained.assign(
        metric="auc", key_training=None, key_regularisation=None, key_attribution="minimum_norm"
    )
    r2 = rows[(rows["metric"] == "r2") & rows["value"].notna()]
    of = key(r2, "explained")
    explained = r2[(of == "labels") | (of == key(r2, "setting").map(OTHER_FACTOR))]
    labels = select(explained, {"explained": ("labels",)})
    below = labels.assign(metric=R2_BELOW, value=100.0 * (labels["value"].astype(float) < R2_GATE))
    return pd.concat([part for part in (auc, untrained, explained, below) if len(part)] or [auc], ignore_index=True)
