"""Rows of the Sparse VAE's tables and figures: keys of their entries, and derived values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.labels import label
from sparseid.papers.rows import joined, key, keys_of, per_replicate, with_keys

CORRELATIONS = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Values of rho in figure 3."""
BETAS = (2.0, 4.0, 6.0, 8.0, 16.0)
PRINTED_BETA = 2.0
"""The beta of the beta-VAE in the paper."""
METHODS = ("sparse_vae", "vae", "beta_vae", "vsc")
WARM_UP = "sparse_vae_warm_up"
"""The published recipe, at first without the prior."""
SHIFTS = ("high", "medium", "low")
UNTRAINED = "vsc_untrained_inputs"
"""VSC with untrained pseudo-inputs, in addition to the published recipe for cells, which may diverge."""
ON_CELLS = ("sparse_vae", "vae", "vsc", UNTRAINED, "oi_vae", "nmf")
"""Methods on the cells of the mouse cortex."""
STUCK = "stuck"
STUCK_ABOVE = 2.0
"""Held-out MSE above which one of the seven features is not fitted: without x3, x4, x5, x6 or x7 it is above 2."""


def values(rows: pd.DataFrame, metric: str, method: str, **keys: Key) -> pd.Series:
    """Return one metric of a method, by default of the beta-VAE with beta = 2.

    Returns
    -------
    Series
        Indexed by seed, or by (seed, fold) if splits are folds.
    """
    if method == "beta_vae":
        keys = {"beta": PRINTED_BETA, **keys}
    found = per_replicate(rows, metric, ("fold",), {of: (is_,) for of, is_ in {"method": method, **keys}.items()})
    if all(fold is None for _, fold in found.index):
        found.index = pd.Index([seed for seed, _ in found.index])
    return found


def of_figure3(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of figure 3's table and ``stuck``: 100 if a data set's MSE is above 2, else 0.

    Method ``beta_vae`` has beta = 2; others have their beta in their name, and only MSE and DCI.
    """
    beta = key(rows, "beta").astype(float).fillna(PRINTED_BETA)
    named = with_keys(rows, map(_method_with_beta, keys_of(rows)))
    shown = named[(beta == PRINTED_BETA) | rows["metric"].isin(["mse", "dci"])]
    mse = named[(beta == PRINTED_BETA) & (rows["metric"] == "mse") & rows["value"].notna()]
    stuck = mse.assign(metric=STUCK, unit="percent", value=100.0 * (mse["value"].astype(float) > STUCK_ABOVE))
    return joined(shown, stuck)


def _method_with_beta(keys: dict[str, Any]) -> dict[str, Any]:
    others = {name: value for name, value in keys.items() if name != "beta"}
    if keys.get("beta", PRINTED_BETA) == PRINTED_BETA:
        return others
    return others | {"method": f"{label(keys['method'])} ({keys['beta']:g})"}


def counted(metric: str, of: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a function that adds a row `metric` for the whole artefact: the number of items in metric `of`."""

    def add(rows: pd.DataFrame) -> pd.DataFrame:
        measured = rows[(rows["metric"] == of) & rows["value"].notna()]
        if measured.empty:
            return rows
        count = measured.head(1).assign(metric=metric, unit="count", value=float(measured["n"].iloc[0]))
        return joined(rows, with_keys(count, [{}]))

    return add
