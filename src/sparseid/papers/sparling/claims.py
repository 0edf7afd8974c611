"""Checks of the claims of Sparling's figures and tables, as functions of result rows.

Rows of figure 3 are those of the final density (``steps_above`` = 0), for runs that reached it
(:func:`sparseid.papers.sparling.rows.at_their_densities`); figure 4 compares densities of the same runs.
Claims about alpha, which need no run, are in :mod:`sparseid.papers.sparling.alpha`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import (
    FEWEST_POINTS,
    SIGNIFICANT,
    Finding,
    always_above,
    always_zero,
    claim,
    decide,
    every,
    for_every,
    mean_above,
    mean_below,
    mean_not_below,
    mean_ratio_above,
    mean_within,
    not_measured,
    rank_trend,
    significantly_above,
    weakest,
)
from sparseid.papers.labels import entry_label, label
from sparseid.papers.rows import key, per_seed, select
from sparseid.papers.sparling.rows import (
    DENSITIES,
    DENSITIES_BINNED,
    DIRECT_TESTS,
    DOMAINS,
    KL_WEIGHTS,
    L1_WEIGHTS,
    SPLICING_FINAL,
    STARTS,
    THRESHOLDS,
    end_to_end,
    perturbation,
    reported,
    splicing_values,
    values,
)
from sparseid.papers.targets import load_targets

HARD_KINDS = {"latex_ocr": ("bar", "lparen", "rparen")}
"""Classes of motifs that the paper excepts from having a channel."""
KINDS: dict[str, tuple[str, ...]] = {
    "digitcircle": tuple("0123456789"),
    "latex_ocr": ("plus", *"0123456789abcxyz"),
    "audiomnist": tuple("0123456789"),
}
"""The other classes of each domain."""
ONE_SEED = 1
"""Seeds that decide where the paper ran a single one: tables 1 and K.2, figures 6 and 8."""


def _values(rows: pd.DataFrame, metric: str, domain: str, steps_above: int = 0) -> pd.Series:
    return per_seed(rows, metric, reported(domain), steps_above=steps_above)


_each_domain = for_every("{}", DOMAINS)


@claim("sparling-fig3-below10")
@for_every("{} {}", [(d, m) for d in DOMAINS for m in ("fpe", "fne", "ce") if (d, m) != ("latex_ocr", "fne")])
def below10(rows: pd.DataFrame, domain: str, metric: str) -> Finding:
    return mean_below(_values(rows, metric, domain), 10, "mean")


@claim("sparling-fig3-latex_fne_exception")
def latex_fne_exception(rows: pd.DataFrame) -> Finding:
    latex = _values(rows, "fne", "latex_ocr")
    others = {
        f"above {label(domain)}": significantly_above(latex, _values(rows, "fne", domain), "FNE")
        for domain in ("digitcircle", "audiomnist")
    }
    return every({"above 10": mean_above(latex, 10, "FNE"), **others})


@claim("sparling-fig3-audio_fpe_zero")
def audio_fpe_zero(rows: pd.DataFrame) -> Finding:
    return always_zero(_values(rows, "fpe", "audiomnist"), "FPE")


@claim("sparling-fig3-localisation90")
@_each_domain
def localisation90(rows: pd.DataFrame, domain: str) -> Finding:
    return mean_above(100 - _values(rows, "ce", domain), 90, "100 - CE")


@claim("sparling-fig3-unseen_speakers")
@for_every("{}", ("fpe", "fne", "ce"))
def unseen_speakers(rows: pd.DataFrame, metric: str) -> Finding:
    return mean_below(_values(rows, metric, "audiomnist"), 10, "mean")


def _trend(rows: pd.DataFrame, metric: str, domain: str, holds: Callable[[float], bool]) -> Finding:
    values = {step: _values(rows, metric, domain, step) for step in DENSITIES}
    return rank_trend(values, holds, f"{label(metric)} against cuts above")


@claim("sparling-fig4-fpe_falls")
@_each_domain
def fpe_falls(rows: pd.DataFrame, domain: str) -> Finding:
    return _trend(rows, "fpe", domain, lambda rho: rho > 0.9)


@claim("sparling-fig4-fne_rises")
@_each_domain
def fne_rises(rows: pd.DataFrame, domain: str) -> Finding:
    if domain != "digitcircle":
        return _trend(rows, "fne", domain, lambda rho: rho < -0.8)
    final, above = (_values(rows, "fne", domain, step) for step in (0, 10))
    return mean_not_below(final, above, "FNE at the final density and 10 cuts above")


def _ce_ratio(rows: pd.DataFrame, domain: str, steps: int, limit: float) -> Finding:
    above, final = _values(rows, "ce", domain, steps), _values(rows, "ce", domain)
    return mean_ratio_above(above, final, limit, f"CE {steps} cuts above / final")


@claim("sparling-fig4-ce_falls")
@_each_domain
def ce_falls(rows: pd.DataFrame, domain: str) -> Finding:
    return _ce_ratio(rows, domain, steps=5, limit=5)


@claim("sparling-fig4-extreme_sparsity")
@_each_domain
def extreme_sparsity(rows: pd.DataFrame, domain: str) -> Finding:
    return _ce_ratio(rows, domain, steps=3, limit=2)


@claim("sparling-fig4-e2ee_rises")
@_each_domain
def e2ee_rises(rows: pd.DataFrame, domain: str) -> Finding:
    final, above = _values(rows, "e2ee", domain), _values(rows, "e2ee", domain, 10)
    return significantly_above(final, above, "E2EE at the final density and 10 cuts above")


def _end_to_end(rows: pd.DataFrame, domain: str, *methods: str) -> Iterable[pd.Series]:
    shown = end_to_end(rows)
    return [values(shown, "e2ee", domain=domain, method=method) for method in methods]


@claim("sparling-fig5-sparling_worse_than_nonsparse")
@_each_domain
def worse_than_non_sparse(rows: pd.DataFrame, domain: str) -> Finding:
    ours, dense = _end_to_end(rows, domain, "sparling_mt", "non_sparse")
    return significantly_above(ours, dense, "E2EE, Sparling against Non-Sparse")


@claim("sparling-fig5-retrained_closes_gap")
@_each_domain
def retrained_closes_gap(rows: pd.DataFrame, domain: str) -> Finding:
    ours, retrained, dense = _end_to_end(rows, domain, "sparling_mt", "retrained", "non_sparse")
    closed, gap = (ours - retrained).dropna(), (ours - dense).dropna()
    if closed.empty or gap.empty:
        return not_measured("E2EE of all three methods")
    if gap.mean() <= 0:
        return Finding("undecided", f"no gap to close: {ours.mean():.3g} against {dense.mean():.3g}")
    return mean_ratio_above(closed, gap, 0.5, "closed / gap")


@claim("sparling-fig5-retrained_vs_nonsparse")
@for_every("{}", DOMAINS[:2])
def retrained_overlaps_non_sparse(rows: pd.DataFrame, domain: str) -> Finding:
    dense, retrained = _end_to_end(rows, domain, "non_sparse", "retrained")
    if dense.empty or retrained.empty:
        return not_measured("E2EE")
    lowest, highest = float(dense.min()), float(retrained.max())
    text = f"lowest E2EE of Non-Sparse {lowest:.3g}, highest of Retrained {highest:.3g}"
    return decide(lowest < highest, text, highest - lowest, min(len(dense), len(retrained)))


def _l1(rows: pd.DataFrame, metric: str, weight: float) -> pd.Series:
    return values(rows, metric, method="l1", **{"lambda": weight})


@claim("sparling-table1-two_regimes")
def l1_regimes(rows: pd.DataFrame) -> Finding:
    found = {}
    for weight in L1_WEIGHTS:
        error = _l1(rows, "e2ee", weight)
        if weight <= 1:
            found[f"lambda {weight:g}, error"] = mean_below(error, 5, "E2EE", ONE_SEED)
            found[f"lambda {weight:g}, density"] = mean_above(_l1(rows, "density", weight), 1, "density", ONE_SEED)
        else:
            found[f"lambda {weight:g}"] = mean_above(error, 50, "E2EE", ONE_SEED)
    return every(found)


def _runs_above(
    rows: pd.DataFrame,
    metric: str,
    method: str,
    weights: Iterable[float],
    limit: float,
    what: str,
    strict: bool = True,
) -> Finding:
    """Check that every run of every weight is above a limit; it holds only if all weights are measured."""
    measured = {weight: values(rows, metric, method=method, **{"lambda": weight}) for weight in weights}
    every_run = pd.Series([value for of_weight in measured.values() for value in of_weight], dtype=float)
    finding = always_above(every_run, limit, what, strict)
    absent = [f"{weight:g}" for weight, of_weight in measured.items() if of_weight.empty]
    if finding.outcome != "holds" or not absent:
        return finding
    return Finding("undecided", f"{finding.text}; lambda {', '.join(absent)} not measured", finding.statistic)


def _l1_above_sparling(rows: pd.DataFrame, metric: str, factor: float = 1) -> Finding:
    """Check that a metric of every L1 run is above a multiple of Sparling's mean."""
    ours = values(rows, metric, method="sparling_mt")
    if ours.empty:
        return not_measured(f"{label(metric)} of Sparling")
    return _runs_above(rows, metric, "l1", L1_WEIGHTS, factor * float(ours.mean()), label(metric))


@claim("sparling-table1-density_not_reached")
def l1_density_not_reached(rows: pd.DataFrame) -> Finding:
    return _l1_above_sparling(rows, "density")


@claim("sparling-table1-never_as_good")
@for_every("{}", ("ce", "fpe"))
def l1_never_as_good(rows: pd.DataFrame, metric: str) -> Finding:
    return _l1_above_sparling(rows, metric, 10)


@claim("sparling-kl-kl_floor")
def kl_floor(rows: pd.DataFrame) -> Finding:
    return _runs_above(rows, "density", "kl", KL_WEIGHTS, 0.1, "density", strict=False)


@claim("sparling-ablation-bn_crucial")
@for_every("{}", ("no_bn_mt", "no_bn_st"))
def batch_norm_crucial(rows: pd.DataFrame, method: str) -> Finding:
    finding = always_above(values(rows, "e2ee", method=method), 50, "E2EE")
    runs = select(rows[rows["metric"] == "e2ee"], {"method": (method,), "steps_above": (0,)})["seed"].nunique()
    if runs and not finding.measured:
        return Finding("undecided", f"none of {runs} runs reached the last density")
    return finding


@claim("sparling-ablation-annealing_crucial")
@for_every("started at the {} density", STARTS)
def annealing_crucial(rows: pd.DataFrame, start: str) -> Finding:
    return mean_above(values(rows, "e2ee", method="no_annealing", start=start), 50, "E2EE", ONE_SEED)


def _threshold_metric(rows: pd.DataFrame, metric: str, higher: str, ranks: bool = False) -> Finding:
    """Check that a metric on DigitCircle is higher with a single threshold (`higher` = sparling_st), or with many."""
    lower = "sparling_mt" if higher == "sparling_st" else "sparling_st"
    upper, below = (values(rows, metric, domain="digitcircle", method=name) for name in (higher, lower))
    return significantly_above(upper, below, f"{label(metric)}, {label(higher)} against {label(lower)}", ranks)


@claim("sparling-fig11-st_worse_ce")
def single_threshold_ce(rows: pd.DataFrame) -> Finding:
    return _threshold_metric(rows, "ce", higher="sparling_st")


@claim("sparling-fig11-st_worse_e2ee")
def single_threshold_e2ee(rows: pd.DataFrame) -> Finding:
    return _threshold_metric(rows, "e2ee", higher="sparling_st")


@claim("sparling-fig11-st_better_fpe")
def single_threshold_fpe(rows: pd.DataFrame) -> Finding:
    return _threshold_metric(rows, "fpe", higher="sparling_mt", ranks=True)


@claim("sparling-fig12-beats_chance_ce")
def beats_chance(rows: pd.DataFrame) -> Finding:
    ours = splicing_values(rows, "ce")
    chosen = select(rows[rows["metric"] == "ce"], {"method": ("matched_random",), **SPLICING_FINAL})
    chance = chosen["value"].dropna()
    if ours.empty or chance.empty:
        return not_measured("CE of Sparling and of random maps")
    low = load_targets("sparling").aggregation.summarise(chance).low
    text = f"highest CE {ours.max():.3g}, of random maps {chance.mean():.4g}, at least {low:.4g} with 95 % confidence"
    return decide(bool(ours.max() < low), text, float(low - ours.max()), len(ours))


@claim("sparling-fig12-fpe_better")
def fewer_false_positives(rows: pd.DataFrame) -> Finding:
    ours, chance = splicing_values(rows, "fpe"), splicing_values(rows, "fpe", "matched_random")
    return mean_not_below(chance, ours, "FPE of random maps against Sparling", strict=True)


@claim("sparling-fig12-fne_mixed")
def as_many_missed(rows: pd.DataFrame) -> Finding:
    ours, chance = splicing_values(rows, "fne"), splicing_values(rows, "fne", "matched_random")
    return mean_not_below(ours, chance - 1, "FNE of Sparling against that of random maps less 1")


@claim("sparling-fig12-motif_error_high")
def motif_error_high(rows: pd.DataFrame) -> Finding:
    return mean_above(splicing_values(rows, "ce"), 50, "CE")


@claim("sparling-fig6-h_behaves")
@_each_domain
def decoder_follows(rows: pd.DataFrame, domain: str) -> Finding:
    return mean_above(perturbation(rows, domain), 85, "accuracy", ONE_SEED)


@claim("sparling-fig6-order")
@for_every("{} above {}", pairwise(("digitcircle", "audiomnist", "latex_ocr")))
def perturbation_order(rows: pd.DataFrame, upper: str, lower: str) -> Finding:
    high, low = (perturbation(rows, domain) for domain in (upper, lower))
    return mean_not_below(high, low, "accuracy", strict=True, fewest=ONE_SEED)


def _of_kind(rows: pd.DataFrame, metric: str, domain: str, symbol: str) -> pd.Series:
    return per_seed(rows, metric, domain=domain, symbol=symbol, method="sparling_mt", steps_above=0)


@claim("sparling-fig8-one_channel_each")
@_each_domain
def one_channel_each(rows: pd.DataFrame, domain: str) -> Finding:
    fractions = {symbol: _of_kind(rows, "diagonal_share", domain, symbol) for symbol in _kinds_of(rows, domain)}
    return weakest({label(symbol): mean_above(own, 85, "fraction", ONE_SEED) for symbol, own in fractions.items()})


def _kinds_of(rows: pd.DataFrame, domain: str) -> tuple[str, ...]:
    """Return the classes to check: those of the rows (smaller scales have fewer), or the paper's without rows."""
    of_domain = select(rows[rows["metric"] == "diagonal_share"], {"domain": (domain,)})
    found = dict.fromkeys(map(str, key(of_domain, "symbol")))
    return tuple(symbol for symbol in found if symbol not in HARD_KINDS.get(domain, ())) or KINDS[domain]


@claim("sparling-fig8-bar_never")
def bar_never(rows: pd.DataFrame) -> Finding:
    found, missed = (_of_kind(rows, metric, "latex_ocr", "bar") for metric in ("diagonal_share", "none_share"))
    what = "fraction of bars"
    recognised = mean_below(found, 1, what, ONE_SEED)
    return every({"recognised": recognised, "missed": mean_above(missed, 95, what, ONE_SEED)})


@claim("sparling-fig8-parens_sometimes")
def parentheses_sometimes(rows: pd.DataFrame) -> Finding:
    missed = {symbol: _of_kind(rows, "none_share", "latex_ocr", symbol) for symbol in ("lparen", "rparen")}
    measured = {symbol: own for symbol, own in missed.items() if len(own)}
    if not measured:
        return not_measured("missed parentheses")
    means = {symbol: float(own.mean()) for symbol, own in measured.items()}
    fitting = [symbol for symbol, mean in means.items() if 10 < mean < 95]
    if not fitting and len(measured) < len(missed):
        return Finding("undecided", "only one of the two parentheses measured")
    decides = fitting[0] if fitting else next(iter(means))
    text = "missed: " + ", ".join(f"{mean:.3g} % of {label(symbol)}" for symbol, mean in means.items())
    return decide(bool(fitting), text, means[decides], len(measured[decides]), ONE_SEED)


def _binned(rows: pd.DataFrame, method: str, bins: int, steps: int) -> pd.Series:
    return values(rows, "binning_delta", domain="digitcircle", method=method, bins=bins, steps_above=steps)


@claim("sparling-fig9-trend")
@for_every("{}, {} bins", THRESHOLDS, (2, 4))
def binning_trend(rows: pd.DataFrame, method: str, bins: int) -> Finding:
    measured = {steps: _binned(rows, method, bins, steps) for steps in DENSITIES_BINNED}
    return rank_trend(measured, lambda rho: rho > 0, "loss against cuts above")


@claim("sparling-fig9-four_bits")
def four_bits(rows: pd.DataFrame) -> Finding:
    return mean_within(_binned(rows, "sparling_mt", 16, 0), 0.1, "accuracy lost by 16 bins")


def _of_seeds(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return end-to-end error and another metric of each seed on DigitCircle, columns ``e2ee`` and ``other``."""
    pair = {"e2ee": "e2ee", "other": metric}
    columns = {name: values(rows, of, domain="digitcircle", method="sparling_mt") for name, of in pair.items()}
    return pd.DataFrame(columns).dropna()


@claim("sparling-fig10-ce_related")
def ce_related(rows: pd.DataFrame) -> Finding:
    seeds = _of_seeds(rows, "ce")
    positive = seeds[(seeds > 0).all(axis=1)]
    without = f"; {len(seeds) - len(positive)} without an error skipped" if len(positive) < len(seeds) else ""
    if seeds.empty:
        return not_measured("CE and E2EE")
    if len(positive) < FEWEST_POINTS:
        return Finding("undecided", f"only {len(positive)} seeds{without}")
    from scipy.stats import pearsonr

    logs = np.log(positive.to_numpy(float))
    if not np.ptp(logs, axis=0).all():
        return Finding("undecided", "the same in all seeds")
    found = pearsonr(*logs.T, alternative="greater")
    r, p = float(found.statistic), float(found.pvalue)
    text = f"correlation of logarithms {r:.2f}, p = {p:.2g}, {len(positive)} seeds{without}"
    return Finding("fails" if r <= 0 else "holds" if p < SIGNIFICANT else "undecided", text, r, p)


@claim("sparling-fig10-fpe_unrelated")
def fpe_unrelated(rows: pd.DataFrame) -> Finding:
    seeds = _of_seeds(rows, "fpe")
    if seeds.empty:
        return not_measured("FPE and E2EE")
    if len(seeds) < FEWEST_POINTS:
        return Finding("undecided", f"only {len(seeds)} seeds")
    if seeds.nunique().min() < 2:
        return Finding("undecided", "the same in all seeds")
    rho = float(seeds["e2ee"].corr(seeds["other"], method="spearman"))
    return decide(abs(rho) < 0.5, f"rank correlation {rho:.2f}", rho, len(seeds))


def _direct(rows: pd.DataFrame, method: str, test: dict[str, Key]) -> pd.Series:
    return values(rows, "direct_error", method=method, **({"split": None} | test))


@claim("sparling-table2-direct_better")
def direct_better(rows: pd.DataFrame) -> Finding:
    def check(test: dict[str, Key]) -> Finding:
        sparling, direct = (_direct(rows, method, test) for method in ("sparling_mt", "direct"))
        return mean_not_below(sparling, direct, "error of Sparling against DIRECT", strict=True)

    return every({entry_label(test): check(test) for test in DIRECT_TESTS})


@claim("sparling-table2-shift_ratio")
def shift_ratio(rows: pd.DataFrame) -> Finding:
    ratios, fewest = [], []
    for test in DIRECT_TESTS[-2:]:
        direct, sparling = (_direct(rows, method, test) for method in ("direct", "sparling_mt"))
        if direct.empty or sparling.empty:
            return not_measured(f"error on {label(test['split'])}")
        if not sparling.mean():
            return Finding("undecided", f"Sparling makes no error on {label(test['split'])}")
        ratios.append(float(direct.mean() / sparling.mean()))
        fewest.append(min(len(direct), len(sparling)))
    known, new = ratios
    text = f"DIRECT / Sparling: {new:.3g} on new speakers against {known:.3g} on those in training"
    return decide(new > known, text, new - known, min(fewest))


@claim("sparling-table2-direct_trivial")
def direct_trivial(rows: pd.DataFrame) -> Finding:
    tests = DIRECT_TESTS[:2]
    return every({entry_label(test): mean_below(_direct(rows, "direct", test), 0.5, "error") for test in tests})
