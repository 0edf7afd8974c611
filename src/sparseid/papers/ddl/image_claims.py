"""Checks of the claims of Diverse Dictionary Learning's tables of images, as functions of result rows."""

from __future__ import annotations

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import Finding, claim, for_every, mean_not_below, mean_within, weakest
from sparseid.papers.ddl.claims import lead
from sparseid.papers.labels import label
from sparseid.papers.rows import key, per_seed

DEPENDENCY = "dependency"
REGULARISERS = ("none", "latent", "orojar", "hessian_penalty", DEPENDENCY)
"""Rows of table 8; table 7 has the first two and the last."""
DATASETS = ("cars3d", "mpi3d")
SCORES = ("factorvae_score", "dci_disentanglement")
NATIVE, UPSAMPLED = 64, 128
"""Sizes of images in table 7, in pixels."""


def above(upper: pd.Series, lower: pd.Series, metric: str, other: str) -> Finding:
    """Check that one entry has a higher mean of a metric than another one, `other` by name."""
    return mean_not_below(upper, lower, f"{label(metric)} against that of {label(other)}", strict=True)


def with_the_papers_sizes(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of table 7 with the sizes of the paper: below scale=paper images have half of them."""
    halved = rows["scale"].ne("paper").to_numpy()
    sizes = [size * 2 if half else size for size, half in zip(key(rows, "image_size"), halved, strict=True)]
    return rows.assign(key_image_size=pd.Series(sizes, rows.index, dtype=object))


def of_table7(rows: pd.DataFrame, metric: str, regulariser: str, size: int = NATIVE) -> pd.Series:
    """Return a score of an entry of table 7 by seed."""
    keys: dict[str, Key] = {"regulariser": regulariser, "image_size": size}
    return per_seed(with_the_papers_sizes(rows), metric, **keys)


@claim("ddl-table7-dependency-best")
@for_every("{}, {} above {}", SCORES, ((DEPENDENCY, "none"), ("none", "latent")))
def dependency_above_none_above_latent(rows: pd.DataFrame, metric: str, upper: str, lower: str) -> Finding:
    return above(of_table7(rows, metric, upper), of_table7(rows, metric, lower), metric, lower)


@claim("ddl-table7-resolution")
@for_every("{}", SCORES)
def score_as_at_the_lower_resolution(rows: pd.DataFrame, metric: str) -> Finding:
    native, upsampled = (of_table7(rows, metric, DEPENDENCY, size) for size in (NATIVE, UPSAMPLED))
    spread = float(native.std(ddof=1)) if len(native) > 1 else 0.0
    return mean_within(lead(upsampled, native), spread, f"{label(metric)} changes by")


@claim("ddl-table8-dependency-best")
@for_every("{} on {}, {}", SCORES, DATASETS, [name for name in REGULARISERS if name != DEPENDENCY], combine=weakest)
def dependency_best(rows: pd.DataFrame, metric: str, dataset: str, other: str) -> Finding:
    best, theirs = (per_seed(rows, metric, dataset=dataset, regulariser=name) for name in (DEPENDENCY, other))
    return above(best, theirs, metric, other)
