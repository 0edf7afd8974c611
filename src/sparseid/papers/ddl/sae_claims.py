"""Checks of the claims of Diverse Dictionary Learning's table of sparse autoencoders, as functions of result rows."""

from __future__ import annotations

import pandas as pd

from sparseid.papers.claims import Finding, claim, for_every, mean_not_below, mean_ratio_below
from sparseid.papers.labels import label
from sparseid.papers.rows import per_seed

KINDS = ("topk", "batchtopk", "jsae")
"""Rows of table 3, from the most dead features to the fewest."""
COST = 2.5
"""Ratio of times up to which a training is about twice as long."""


@claim("ddl-table3-dead-order")
@for_every("{} above {}", (KINDS[:2], KINDS[1:]))
def fewer_dead_features(rows: pd.DataFrame, more: str, fewer: str) -> Finding:
    both = {"part": (None,)}  # dictionaries together
    upper, lower = (per_seed(rows, "dead_features", both, method=kind) for kind in (more, fewer))
    text = f"dead features against those of {label(fewer)}"
    return mean_not_below(upper, lower, text, strict=True, fewest=1)  # the paper has one number for each


@claim("ddl-table3-cost")
def about_twice_the_time(rows: pd.DataFrame) -> Finding:
    pair, plain = (per_seed(rows, "seconds", method=kind) for kind in ("jsae", "topk"))
    return mean_ratio_below(pair, plain, COST, "seconds of a run")
