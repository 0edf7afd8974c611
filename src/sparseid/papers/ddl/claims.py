"""Checks of the claims of Diverse Dictionary Learning's synthetic experiments, as functions of result rows.

Those about masks alone, which need no run, are in :mod:`sparseid.papers.ddl.theory`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import (
    Finding,
    claim,
    every,
    mean_above,
    mean_below,
    mean_not_below,
    mean_ratio_below,
    mean_within,
    weakest,
)
from sparseid.papers.labels import written
from sparseid.papers.rows import keys_of, per_seed

DIMS = (3, 4, 5)
ALPHAS = (0.0, 0.001, 0.005, 0.01, 0.03, 0.05)
"""Weights of table 6."""
ALPHA = 0.05
"""That of the main runs: table 6's row 0.05 has the numbers of "Ours" in table 4."""
SCORES = ("int", "symdiff", "comp_a", "comp_b")
"""R2 of blocks that should not know each other; ``ref`` is what entangled ones would reach."""
PENALTIES = ("orojar", "hessian_penalty")


def mcc(rows: pd.DataFrame, **keys: Key) -> pd.Series:
    """Return the MCC of a cell by seed, a seed's mean where several cells have these keys."""
    return per_seed(rows, "mcc", **keys)


def lead(upper: pd.Series, lower: pd.Series) -> pd.Series:
    """Return by how much one cell is above another one, by seed."""
    return (upper - lower).dropna()


def _in_each_dim(check: Callable[[int], Finding], dims: tuple[int, ...] = DIMS) -> Finding:
    return every({f"dim {dim}": check(dim) for dim in dims})


@claim("ddl-fig4-below-ref")
def blocks_below_reference(rows: pd.DataFrame) -> Finding:
    def check(dim: int, score: str) -> Finding:
        r2, ref = (per_seed(rows, "r2", dim=dim, alpha=ALPHA, score=name) for name in (score, "ref"))
        return mean_ratio_below(r2, ref, 0.5, "R2 / reference")

    return weakest({f"dim {dim}, {written(score)}": check(dim, score) for dim in DIMS for score in SCORES})


@claim("ddl-fig4-regulariser-helps")
def penalty_lowers_shared_block(rows: pd.DataFrame) -> Finding:
    def check(dim: int) -> Finding:
        none, some = (per_seed(rows, "r2", dim=dim, alpha=alpha, score="int") for alpha in (0.0, ALPHA))
        return mean_above(lead(none, some), 0, "R2 falls by")

    return _in_each_dim(check)


@claim("ddl-fig5-only-diverse-identified")
def only_diverse_identified(rows: pd.DataFrame) -> Finding:
    def check(dim: int) -> Finding:
        diverse, dense = (mcc(rows, dim=dim, structure=structure) for structure in ("diverse", "dense"))
        return mean_above(lead(diverse, dense), 0.1, "MCC of diverse structures is higher by")

    return _in_each_dim(check)


@claim("ddl-table4-ours-best")
def ours_best(rows: pd.DataFrame) -> Finding:
    def check(dim: int, penalty: str) -> Finding:
        ours, theirs = mcc(rows, dim=dim, method="ours"), mcc(rows, dim=dim, method=penalty)
        spread = float(theirs.std(ddof=1)) if len(theirs) > 1 else 0.0
        return mean_not_below(ours, theirs - spread, f"MCC against that of {written(penalty)} less its sd")

    return every({f"dim {dim}, {written(name)}": check(dim, name) for dim in DIMS for name in PENALTIES})


def _gap(rows: pd.DataFrame, dim: int, penalty: str) -> pd.Series:
    return lead(mcc(rows, dim=dim, method="ours"), mcc(rows, dim=dim, method=penalty))


@claim("ddl-table4-orojar-lower")
def orojar_lower(rows: pd.DataFrame) -> Finding:
    return _in_each_dim(lambda dim: mean_above(_gap(rows, dim, "orojar"), 0.1, "MCC lower by"), dims=(4, 5))


@claim("ddl-table4-gap-widens")
def gap_widens(rows: pd.DataFrame) -> Finding:
    return every(
        {
            f"{written(penalty)}, {low} to {high}": mean_above(
                lead(_gap(rows, high, penalty), _gap(rows, low, penalty)), 0, "lead grows by"
            )
            for penalty in PENALTIES
            for low, high in itertools.pairwise(DIMS)
        }
    )


@claim("ddl-table5-noise-robust")
def noise_robust(rows: pd.DataFrame) -> Finding:
    def check(dim: int) -> Finding:
        none, noisy = of_table5(rows, "ours_no_noise", dim), of_table5(rows, "ours_noise", dim)
        return mean_below(lead(none, noisy), 0.05, "MCC falls by")

    return _in_each_dim(check)


@claim("ddl-table5-base-lower")
def base_lower(rows: pd.DataFrame) -> Finding:
    def check(dim: int) -> Finding:
        noisy, base = of_table5(rows, "ours_noise", dim), of_table5(rows, "base", dim)
        return mean_above(lead(noisy, base), 0.1, "MCC lower by")

    return _in_each_dim(check)


def column_of_table5(keys: dict[str, Key]) -> str:
    """Return the column of table 5 that a cell stands in."""
    if keys["structure"] == "dense":
        return "base"
    return "ours_noise" if keys["noise"] else "ours_no_noise"


def named_as_in_table5(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the columns of table 5 as their methods."""
    return rows.assign(key_method=pd.Series(map(column_of_table5, keys_of(rows)), rows.index, dtype=object))


def of_table5(rows: pd.DataFrame, column: str, dim: int) -> pd.Series:
    """Return the MCC of a cell of table 5 by seed."""
    return mcc(named_as_in_table5(rows), method=column, dim=dim)


@claim("ddl-table6-penalty-helps")
def penalty_helps(rows: pd.DataFrame) -> Finding:
    def check(dim: int) -> Finding:
        return mean_above(lead(mcc(rows, alpha=ALPHA, dim=dim), mcc(rows, alpha=0.0, dim=dim)), 0.05, "MCC rises by")

    return _in_each_dim(check)


@claim("ddl-table6-steady-rise")
def steady_rise(rows: pd.DataFrame) -> Finding:
    def averaged(alpha: float) -> pd.Series:
        of_dim = [mcc(rows, alpha=alpha, dim=dim) for dim in DIMS]
        return (of_dim[0] + of_dim[1] + of_dim[2]).dropna() / len(DIMS)

    return every(
        {
            f"{low:g} to {high:g}": mean_above(lead(averaged(high), averaged(low)), 0, "MCC rises by")
            for low, high in itertools.pairwise(ALPHAS)
        }
    )


@claim("ddl-table6-plateau")
def plateau(rows: pd.DataFrame) -> Finding:
    def check(dim: int) -> Finding:
        return mean_within(
            lead(mcc(rows, alpha=ALPHA, dim=dim), mcc(rows, alpha=0.03, dim=dim)), 0.03, "MCC changes by"
        )

    return _in_each_dim(check)


@claim("ddl-theory-structure")
def structure_recovered(rows: pd.DataFrame) -> Finding:
    f1 = per_seed(rows, "structure_f1", mask="circulant2", dim=3, m=6)
    return mean_above(f1, 0.9, "F1 of the structure")


@claim("ddl-theory-dependence-breaks")
def dependence_breaks(rows: pd.DataFrame) -> Finding:
    independent, dependent = (mcc(rows, groups="12-23", rho=rho) for rho in (0.0, 0.8))
    return mean_above(lead(independent, dependent), 0.2, "MCC falls by")
