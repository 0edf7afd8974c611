"""Checks of the claims of Diverse Dictionary Learning's synthetic experiments, as functions of result rows.

Claims about masks alone, which need no run, are in :mod:`sparseid.papers.ddl.theory`.
"""

from __future__ import annotations

from itertools import pairwise

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import (
    Finding,
    claim,
    for_every,
    mean_above,
    mean_below,
    mean_not_below,
    mean_ratio_below,
    mean_within,
    weakest,
)
from sparseid.papers.labels import label
from sparseid.papers.rows import keys_of, per_seed

DIMS = (3, 4, 5)
ALPHAS = (0.0, 0.001, 0.005, 0.01, 0.03, 0.05)
"""Weights of table 6."""
ALPHA = 0.05
"""Weight of the main runs: row 0.05 of table 6 has the numbers of "Ours" in table 4."""
SCORES = ("int", "symdiff", "comp_a", "comp_b")
"""R2 of blocks that should be independent; ``ref`` is that of entangled ones."""
PENALTIES = ("orojar", "hessian_penalty")


def mcc(rows: pd.DataFrame, **keys: Key) -> pd.Series:
    """Return the MCC of an entry by seed, averaged over several entries with these keys."""
    return per_seed(rows, "mcc", **keys)


def lead(upper: pd.Series, lower: pd.Series) -> pd.Series:
    """Return the difference of two entries by seed."""
    return (upper - lower).dropna()


@claim("ddl-fig4-below-ref")
@for_every("dim {}, {}", DIMS, SCORES, combine=weakest)
def blocks_below_reference(rows: pd.DataFrame, dim: int, score: str) -> Finding:
    r2, ref = (per_seed(rows, "r2", dim=dim, alpha=ALPHA, score=name) for name in (score, "ref"))
    return mean_ratio_below(r2, ref, 0.5, "R2 / reference")


@claim("ddl-fig4-regulariser-helps")
@for_every("dim {}", DIMS)
def penalty_lowers_shared_block(rows: pd.DataFrame, dim: int) -> Finding:
    none, some = (per_seed(rows, "r2", dim=dim, alpha=alpha, score="int") for alpha in (0.0, ALPHA))
    return mean_above(lead(none, some), 0, "R2 falls by")


@claim("ddl-fig5-only-diverse-identified")
@for_every("dim {}", DIMS)
def only_diverse_identified(rows: pd.DataFrame, dim: int) -> Finding:
    diverse, dense = (mcc(rows, dim=dim, structure=structure) for structure in ("diverse", "dense"))
    return mean_above(lead(diverse, dense), 0.1, "MCC of diverse structures is higher by")


@claim("ddl-table4-ours-best")
@for_every("dim {}, {}", DIMS, PENALTIES)
def ours_best(rows: pd.DataFrame, dim: int, penalty: str) -> Finding:
    ours, theirs = mcc(rows, dim=dim, method="ours"), mcc(rows, dim=dim, method=penalty)
    spread = float(theirs.std(ddof=1)) if len(theirs) > 1 else 0.0
    return mean_not_below(ours, theirs - spread, f"MCC against that of {label(penalty)} less its sd")


def _gap(rows: pd.DataFrame, dim: int, penalty: str) -> pd.Series:
    return lead(mcc(rows, dim=dim, method="ours"), mcc(rows, dim=dim, method=penalty))


@claim("ddl-table4-orojar-lower")
@for_every("dim {}", (4, 5))
def orojar_lower(rows: pd.DataFrame, dim: int) -> Finding:
    return mean_above(_gap(rows, dim, "orojar"), 0.1, "MCC lower by")


@claim("ddl-table4-gap-widens")
@for_every("{}, {} to {}", PENALTIES, pairwise(DIMS))
def gap_widens(rows: pd.DataFrame, penalty: str, low: int, high: int) -> Finding:
    return mean_above(lead(_gap(rows, high, penalty), _gap(rows, low, penalty)), 0, "lead grows by")


@claim("ddl-table5-noise-robust")
@for_every("dim {}", DIMS)
def noise_robust(rows: pd.DataFrame, dim: int) -> Finding:
    none, noisy = of_table5(rows, "ours_no_noise", dim), of_table5(rows, "ours_noise", dim)
    return mean_below(lead(none, noisy), 0.05, "MCC falls by")


@claim("ddl-table5-base-lower")
@for_every("dim {}", DIMS)
def base_lower(rows: pd.DataFrame, dim: int) -> Finding:
    noisy, base = of_table5(rows, "ours_noise", dim), of_table5(rows, "base", dim)
    return mean_above(lead(noisy, base), 0.1, "MCC lower by")


def column_of_table5(keys: dict[str, Key]) -> str:
    """Return the column of table 5 of an entry."""
    if keys["structure"] == "dense":
        return "base"
    return "ours_noise" if keys["noise"] else "ours_no_noise"


def named_as_in_table5(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the columns of table 5 as their methods."""
    return rows.assign(key_method=pd.Series(map(column_of_table5, keys_of(rows)), rows.index, dtype=object))


def of_table5(rows: pd.DataFrame, column: str, dim: int) -> pd.Series:
    """Return the MCC of an entry of table 5 by seed."""
    return mcc(named_as_in_table5(rows), method=column, dim=dim)


@claim("ddl-table6-penalty-helps")
@for_every("dim {}", DIMS)
def penalty_helps(rows: pd.DataFrame, dim: int) -> Finding:
    return mean_above(lead(mcc(rows, alpha=ALPHA, dim=dim), mcc(rows, alpha=0.0, dim=dim)), 0.05, "MCC rises by")


def _averaged(rows: pd.DataFrame, alpha: float) -> pd.Series:
    """Return the mean MCC over numbers of latents by seed."""
    of_dim = [mcc(rows, alpha=alpha, dim=dim) for dim in DIMS]
    return (of_dim[0] + of_dim[1] + of_dim[2]).dropna() / len(DIMS)


@claim("ddl-table6-steady-rise")
@for_every("{} to {}", pairwise(ALPHAS))
def steady_rise(rows: pd.DataFrame, low: float, high: float) -> Finding:
    return mean_above(lead(_averaged(rows, high), _averaged(rows, low)), 0, "MCC rises by")


@claim("ddl-table6-plateau")
@for_every("dim {}", DIMS)
def plateau(rows: pd.DataFrame, dim: int) -> Finding:
    return mean_within(lead(mcc(rows, alpha=ALPHA, dim=dim), mcc(rows, alpha=0.03, dim=dim)), 0.03, "MCC changes by")


@claim("ddl-theory-structure")
def structure_recovered(rows: pd.DataFrame) -> Finding:
    f1 = per_seed(rows, "structure_f1", mask="circulant2", dim=3, m=6)
    return mean_above(f1, 0.9, "F1 of the structure")


@claim("ddl-theory-dependence-breaks")
def dependence_breaks(rows: pd.DataFrame) -> Finding:
    independent, dependent = (mcc(rows, groups="12-23", rho=rho) for rho in (0.0, 0.8))
    return mean_above(lead(independent, dependent), 0.2, "MCC falls by")
