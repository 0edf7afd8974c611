"""The claims that compare Sparling with other trainings: figures 5 and 11, Table 1, KL, and the ablations.

Their wording stands in targets.yaml.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import pandas as pd

from sparseid.papers.claims import (
    ClaimCheck,
    Finding,
    always_above,
    decide,
    every,
    mean_above,
    mean_below,
    mean_ratio_above,
    not_measured,
    significantly_above,
)
from sparseid.papers.names import written
from sparseid.papers.sparling.cells import KL_WEIGHTS, L1_WEIGHTS, STARTS, end_to_end, reached_last_density, values
from sparseid.papers.sparling.claims import DOMAINS


def _each(check: Callable[[str], Finding], domains: Iterable[str] = DOMAINS) -> Finding:
    return every({written(domain): check(domain) for domain in domains})


def worse_than_non_sparse(rows: pd.DataFrame) -> Finding:
    """Sparling has a higher end-to-end error than Non-Sparse in every domain."""
    shown = end_to_end(rows)

    def check(domain: str) -> Finding:
        ours, dense = (values(shown, "e2ee", domain=domain, method=name) for name in ("sparling_mt", "non_sparse"))
        return significantly_above(ours, dense, "E2EE, Sparling against Non-Sparse")

    return _each(check)


def retrained_closes_gap(rows: pd.DataFrame) -> Finding:
    """Retrained makes up more than half of the gap between Sparling and Non-Sparse in every domain."""
    shown = end_to_end(rows)

    def check(domain: str) -> Finding:
        names = ("sparling_mt", "retrained", "non_sparse")
        ours, retrained, dense = (values(shown, "e2ee", domain=domain, method=name) for name in names)
        closed, gap = (ours - retrained).dropna(), (ours - dense).dropna()
        if closed.empty or gap.empty:
            return not_measured("E2EE of all three methods")
        if gap.mean() <= 0:
            return Finding("undecided", f"no gap to close: {ours.mean():.3g} against {dense.mean():.3g}")
        return mean_ratio_above(closed, gap, 0.5, "closed / gap")

    return _each(check)


def retrained_overlaps_non_sparse(rows: pd.DataFrame) -> Finding:
    """The errors of Non-Sparse and Retrained overlap over seeds, on DigitCircle and LaTeX-OCR."""
    shown = end_to_end(rows)

    def check(domain: str) -> Finding:
        dense, retrained = (values(shown, "e2ee", domain=domain, method=name) for name in ("non_sparse", "retrained"))
        if dense.empty or retrained.empty:
            return not_measured("E2EE")
        lowest, highest = float(dense.min()), float(retrained.max())
        text = f"lowest E2EE of Non-Sparse {lowest:.3g}, highest of Retrained {highest:.3g}"
        return decide(lowest < highest, text, highest - lowest, min(len(dense), len(retrained)))

    return _each(check, DOMAINS[:2])


def _l1(rows: pd.DataFrame, metric: str, weight: float) -> pd.Series:
    return values(rows, metric, method="l1", **{"lambda": weight})


def l1_regimes(rows: pd.DataFrame) -> Finding:
    """L1 has a low error and a high density up to lambda = 1, and an end-to-end error above 50 % from 2 on."""
    found = {}
    for weight in L1_WEIGHTS:
        error = _l1(rows, "e2ee", weight)
        if weight <= 1:
            found[f"lambda {weight:g}, error"] = mean_below(error, 5, "E2EE")
            found[f"lambda {weight:g}, density"] = mean_above(_l1(rows, "density", weight), 1, "density")
        else:
            found[f"lambda {weight:g}"] = mean_above(error, 50, "E2EE")
    return every(found)


def _runs_above(
    rows: pd.DataFrame, metric: str, method: str, weights: Iterable[float], limit: float, what: str
) -> Finding:
    """Check that no run of any weight comes down to a limit; all weights have to be there for that."""
    measured = {weight: values(rows, metric, method=method, **{"lambda": weight}) for weight in weights}
    finding = always_above(pd.concat(list(measured.values())), limit, what)
    absent = [f"{weight:g}" for weight, of_weight in measured.items() if of_weight.empty]
    if finding.outcome != "holds" or not absent:
        return finding
    return Finding("undecided", f"{finding.text}; lambda {', '.join(absent)} not measured", finding.statistic)


def _l1_above_sparling(rows: pd.DataFrame, metric: str, factor: float = 1) -> Finding:
    """Check that a metric of every L1 run is above a multiple of Sparling's mean."""
    ours = values(rows, metric, method="sparling_mt")
    if ours.empty:
        return not_measured(f"{written(metric)} of Sparling")
    limit = factor * float(ours.mean())
    if limit >= 100:
        text = f"{factor:g} times Sparling's mean {written(metric)} is {limit:.0f} %: no run can be above"
        return Finding("undecided", text, limit)
    return _runs_above(rows, metric, "l1", L1_WEIGHTS, limit, written(metric))


def l1_density_not_reached(rows: pd.DataFrame) -> Finding:
    """No L1 run is as sparse as Sparling."""
    return _l1_above_sparling(rows, "density")


def l1_never_as_good(rows: pd.DataFrame) -> Finding:
    """CE and FPE of every L1 run are more than 10 times those of Sparling."""
    return every({written(metric): _l1_above_sparling(rows, metric, 10) for metric in ("ce", "fpe")})


def kl_floor(rows: pd.DataFrame) -> Finding:
    """No KL run has a density below 0.1 %."""
    return _runs_above(rows, "density", "kl", KL_WEIGHTS, 0.1, "density")


def batch_norm_crucial(rows: pd.DataFrame) -> Finding:
    """Without batch norm every run that reaches the last density has an end-to-end error above 50 %."""

    def check(method: str) -> Finding:
        finding = always_above(values(reached_last_density(rows), "e2ee", method=method), 50, "E2EE")
        asked = len(values(rows, "e2ee", method=method))
        if asked and not finding.measured:
            return Finding("undecided", f"none of {asked} runs reached the last density")
        return finding

    return every({written(method): check(method) for method in ("no_bn_mt", "no_bn_st")})


def annealing_crucial(rows: pd.DataFrame) -> Finding:
    """Started at the last density or one cut above it, the end-to-end error stays above 50 %."""
    return every(
        {
            f"started at the {start} density": mean_above(
                values(rows, "e2ee", method="no_annealing", start=start), 50, "E2EE"
            )
            for start in STARTS
        }
    )


def _threshold_metric(rows: pd.DataFrame, metric: str, higher: str, ranks: bool = False) -> Finding:
    """Check that a metric on DigitCircle is higher with a single threshold (`higher` = sparling_st), or with many."""
    lower = "sparling_mt" if higher == "sparling_st" else "sparling_st"
    upper, below = (values(rows, metric, domain="digitcircle", method=name) for name in (higher, lower))
    return significantly_above(upper, below, f"{written(metric)}, {written(higher)} against {written(lower)}", ranks)


CLAIMS: dict[str, ClaimCheck] = {
    "sparling-fig5-sparling_worse_than_nonsparse": worse_than_non_sparse,
    "sparling-fig5-retrained_closes_gap": retrained_closes_gap,
    "sparling-fig5-retrained_vs_nonsparse": retrained_overlaps_non_sparse,
    "sparling-table1-two_regimes": l1_regimes,
    "sparling-table1-density_not_reached": l1_density_not_reached,
    "sparling-table1-never_as_good": l1_never_as_good,
    "sparling-kl-kl_floor": kl_floor,
    "sparling-ablation-bn_crucial": batch_norm_crucial,
    "sparling-ablation-annealing_crucial": annealing_crucial,
    "sparling-fig11-st_worse_ce": partial(_threshold_metric, metric="ce", higher="sparling_st"),
    "sparling-fig11-st_worse_e2ee": partial(_threshold_metric, metric="e2ee", higher="sparling_st"),
    "sparling-fig11-st_better_fpe": partial(_threshold_metric, metric="fpe", higher="sparling_mt", ranks=True),
}
"""Claim id in targets.yaml -> check."""
