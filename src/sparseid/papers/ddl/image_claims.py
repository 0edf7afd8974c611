"""Checks of the claims of Diverse Dictionary Learning's tables of images, as functions of result rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import (
    Finding,
    Outcome,
    claim,
    decide,
    every,
    for_every,
    mean_above,
    mean_below,
    mean_not_below,
    mean_within,
    not_measured,
    weakest,
)
from sparseid.papers.ddl.claims import lead
from sparseid.papers.labels import label
from sparseid.papers.rows import key, per_seed

DEPENDENCY = "dependency"
REGULARISERS = ("none", "latent", "orojar", "hessian_penalty", DEPENDENCY)
"""Rows of table 8; table 7 has the first two and the last."""
DATASETS = ("cars3d", "mpi3d")
SCORES = ("factorvae_score", "dci_disentanglement")
BACKBONES = ("factorvae", "encdiff", "disco")
OF_TABLE1 = ("none", "latent", DEPENDENCY)
"""Regularisers of table 1."""
DATASETS_OF_TABLE1 = ("shapes3d", *DATASETS)
MOST = 10
"""Number of the 18 comparisons in table 1 that "across most datasets and backbones" asks for."""
AXES = ("horizontal_axis", "vertical_axis")
"""Factors of MPI3D by which the arm turns."""
TRANSFERRED, LEAKED, SELECTED = 0.8, 0.2, 0.8
"""Bounds of the claims about swaps and traversals."""
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


def at_least(number: int) -> Callable[[Mapping[str, Finding]], Finding]:
    """Combine findings so that `number` of them have to hold; undecided while those that are missing could decide."""

    def combine(findings: Mapping[str, Finding]) -> Finding:
        decided = {name: finding for name, finding in findings.items() if finding.outcome != "undecided"}
        holding = sum(finding.outcome == "holds" for finding in decided.values())
        open_cases = len(findings) - len(decided)
        failing = [name for name, finding in decided.items() if finding.outcome == "fails"]
        text = f"holds in {holding} of {len(findings)} cases, {number} are needed"
        text += f"; fails in {', '.join(failing)}" if failing else ""
        text += f"; {open_cases} undecided or not measured" if open_cases else ""
        measured = any(finding.measured for finding in findings.values())
        outcome: Outcome = "undecided"
        if holding >= number:
            outcome = "holds"
        elif holding + open_cases < number:
            outcome = "fails"
        return Finding(outcome, text, holding, measured=measured)

    return combine


def dependency_above(rows: pd.DataFrame, metric: str, backbone: str, dataset: str, other: str) -> Finding:
    """Check that dependency sparsity has a higher mean of a score of table 1 than another regulariser."""
    best, theirs = (
        per_seed(rows, metric, backbone=backbone, dataset=dataset, regulariser=name) for name in (DEPENDENCY, other)
    )
    return above(best, theirs, metric, other)


@claim("ddl-table1-dependency-helps-most")
@for_every("{} of {} on {}", SCORES, BACKBONES, DATASETS_OF_TABLE1, combine=at_least(MOST))
def dependency_helps_most(rows: pd.DataFrame, metric: str, backbone: str, dataset: str) -> Finding:
    return dependency_above(rows, metric, backbone, dataset, "none")


@claim("ddl-table1-dependency-beats-latent")
@for_every("{} of {} on {}", SCORES, BACKBONES, DATASETS_OF_TABLE1, combine=at_least(MOST))
def dependency_beats_latent(rows: pd.DataFrame, metric: str, backbone: str, dataset: str) -> Finding:
    return dependency_above(rows, metric, backbone, dataset, "latent")


@claim("ddl-table1-factorvae-all-cells")
@for_every("{} on {}, {}", SCORES, DATASETS_OF_TABLE1, ("none", "latent"), combine=weakest)
def dependency_best_of_factorvae(rows: pd.DataFrame, metric: str, dataset: str, other: str) -> Finding:
    return dependency_above(rows, metric, "factorvae", dataset, other)


@claim("ddl-table1-latent-can-collapse")
def latent_sparsity_can_collapse(rows: pd.DataFrame) -> Finding:
    none, latent = (
        per_seed(rows, SCORES[0], backbone="factorvae", dataset="cars3d", regulariser=name)
        for name in ("none", "latent")
    )
    if min(len(none), len(latent)) < 2:
        return not_measured("spread over seeds")
    spreads = float(latent.std(ddof=1)), float(none.std(ddof=1))
    text = f"sd {spreads[0]:.3g} against {spreads[1]:.3g} of none"
    wider = decide(spreads[0] > 3 * spreads[1], text, spreads[0], min(len(none), len(latent)))
    return every({"spread": wider, "mean": above(none, latent, SCORES[0], "latent")})


def of_swaps(rows: pd.DataFrame, metric: str, *factors: str) -> pd.Series:
    """Return a metric of EncDiff with dependency sparsity by seed, of the factor with the highest transfer."""
    found = {
        name: per_seed(rows, "transfer", backbone="encdiff", regulariser=DEPENDENCY, factor=name) for name in factors
    }
    best = max(factors, key=lambda name: found[name].mean() if len(found[name]) else -1.0)
    return per_seed(rows, metric, backbone="encdiff", regulariser=DEPENDENCY, factor=best)


def swap_moves(rows: pd.DataFrame, *factors: str) -> Finding:
    """Check that the swap of a unit transfers a factor, the best of several, and leaves the others intact."""
    return every(
        {
            "transfer": mean_above(of_swaps(rows, "transfer", *factors), TRANSFERRED, "transfer"),
            "leak": mean_below(of_swaps(rows, "leak", *factors), LEAKED, "leak"),
        }
    )


@claim("ddl-fig9-swap")
@for_every("{}", ("floor_hue", "wall_hue"))
def swaps_on_shapes3d(rows: pd.DataFrame, factor: str) -> Finding:
    return swap_moves(rows, factor)


@claim("ddl-fig10-swap")
@for_every("{}", ("azimuth", "object_type"))  # Cars3D has no factor of colour
def swaps_on_cars3d(rows: pd.DataFrame, factor: str) -> Finding:
    return swap_moves(rows, factor)


@claim("ddl-fig11-swap")
@for_every("{}", ("rotation", "background_colour"))
def swaps_on_mpi3d(rows: pd.DataFrame, factor: str) -> Finding:
    return swap_moves(rows, *(AXES if factor == "rotation" else (factor,)))


@claim("ddl-fig8-traversal-encdiff", against="ddl/fig8_shapes3d")
@for_every("{}", ("orientation", "wall_hue", "shape", "object_hue"))
def traversals_on_shapes3d(rows: pd.DataFrame, of_encdiff: pd.DataFrame, factor: str) -> Finding:
    found = per_seed(of_encdiff, "selectivity", backbone="encdiff", regulariser=DEPENDENCY, factor=factor)
    return mean_above(found, SELECTED, "selectivity")
