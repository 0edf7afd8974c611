"""Checks of the claims of TBR's tables and figures, as functions of result rows."""

from __future__ import annotations

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import (
    Finding,
    claim,
    every,
    extreme_at,
    for_every,
    mean_above,
    mean_below,
    mean_not_below,
    mean_ratio_above,
    mean_ratio_below,
    mean_within,
    not_measured,
    rank_trend,
    significantly_above,
    weakest,
)
from sparseid.papers.labels import label
from sparseid.papers.rows import per_seed, values_of

METHODS = ("tbr", "baseline")
CHANGES = range(6)
"""Values of S in figure 4."""
NAMED_CHANGES = range(3)
"""Values of S in figure 5 that the text names; the rest of its axis is presumed to be that of figure 4."""
ENVIRONMENTS = range(1, 11)
"""Environments of table 3."""
LATENTS = (4, 5, 6, 7)
"""Numbers of true latents in figure 3."""
NAMED_LATENTS = LATENTS[:3]
"""Those that the text names."""
LEARNED = range(1, 9)
"""Numbers of learned latents in figure 3."""
_K = "learned latents"
PROBABILITIES = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Values of pi in figure 8; the paper does not state them."""


def _values(rows: pd.DataFrame, metric: str, method: str, changes: int) -> pd.Series:
    return per_seed(rows, metric, method=method, S=changes)


def _of_both(rows: pd.DataFrame, metric: str, **keys: Key) -> tuple[pd.Series, pd.Series]:
    """Return a metric of TBR and of the baseline by seed."""
    ours, baseline = (per_seed(rows, metric, method=method, **keys) for method in METHODS)
    return ours, baseline


def _above_baseline(rows: pd.DataFrame, **keys: Key) -> Finding:
    return significantly_above(*_of_both(rows, "mcc", **keys), "MCC, TBR against baseline")


@claim("tbr-fig4-near_perfect_S1")
def near_perfect_s1(rows: pd.DataFrame) -> Finding:
    return mean_above(_values(rows, "mcc", "tbr", 1), 0.95, "MCC")


@claim("tbr-fig4-entangled_S0")
def entangled_s0(rows: pd.DataFrame) -> Finding:
    found = {}
    for method in METHODS:
        values = _values(rows, "mcc", method, 0)
        found[f"{label(method)} above 0.3"] = mean_above(values, 0.3, "MCC")
        found[f"{label(method)} below 0.7"] = mean_below(values, 0.7, "MCC")
    return every(found)


@claim("tbr-fig4-beats_baseline_S1", "tbr-fig7-beats_baseline")
def beats_baseline_s1(rows: pd.DataFrame) -> Finding:
    return _above_baseline(rows, S=1)


@claim("tbr-fig4-robust")
@for_every("S = {}", CHANGES[2:])
def robust(rows: pd.DataFrame, changes: int) -> Finding:
    return _above_baseline(rows, S=changes)


@claim("tbr-fig4-peak_S1")
@for_every("S = {} to {}", [(s, s + 1) for s in CHANGES[1:-1]])
def peak_s1(rows: pd.DataFrame, changes: int, more: int) -> Finding:
    fewer, denser = (_values(rows, "mcc", "tbr", number) for number in (changes, more))
    return mean_not_below(fewer, denser, "MCC", strict=changes == 1)


@claim("tbr-fig4-S1_above_S0")
def s1_above_s0(rows: pd.DataFrame, method: str = "tbr") -> Finding:
    one, none = (_values(rows, "mcc", method, changes) for changes in (1, 0))
    return significantly_above(one, none, f"MCC of {label(method)}, S = 1 against S = 0")


@claim("tbr-fig4-mse_S0_equal")
def mse_s0_equal(rows: pd.DataFrame) -> Finding:
    ours, baseline = _of_both(rows, "mse", S=0)
    alike = mean_ratio_below(baseline, ours, 1.5, "MSE of baseline / TBR")
    return every({"both alike": alike, "TBR low": mean_below(ours, 0.2, "MSE")})


@claim("tbr-fig4-mse_tbr_low")
def mse_tbr_low(rows: pd.DataFrame) -> Finding:
    dense, none = (_values(rows, "mse", "tbr", changes) for changes in (5, 0))
    return mean_ratio_below(dense, none, 5, "MSE of TBR, S = 5 / S = 0")


@claim("tbr-fig4-mse_baseline_degrades")
def mse_baseline_degrades(rows: pd.DataFrame) -> Finding:
    ours, baseline = _of_both(rows, "mse", S=1)
    values = {changes: _values(rows, "mse", "baseline", changes) for changes in CHANGES}
    rises = rank_trend(values, lambda rho: rho > 0.9, "MSE of the baseline against S", points="values of S")
    ratio = mean_ratio_above(baseline, ours, 5, "MSE of baseline / TBR")
    return every({"above TBR at S = 1": ratio, "rises with S": rises})


@claim("tbr-table3-each_env")
@for_every("environment {}", ENVIRONMENTS, combine=weakest)
def each_environment(rows: pd.DataFrame, environment: int) -> Finding:
    ours, baseline = _of_both(rows, "ate_mse", environment=environment)
    return mean_not_below(baseline, ours, "error, baseline against TBR", strict=True)


@claim("tbr-table3-pooled")
def pooled(rows: pd.DataFrame) -> Finding:
    ours, baseline = _of_both(rows, "ate_mse", environment="pooled")
    above = significantly_above(baseline, ours, "error, baseline against TBR")
    by_far = mean_ratio_above(baseline, ours, 10, "error of baseline / TBR")
    return every({"baseline above TBR": above, "by far": by_far})


@claim("tbr-fig5a-equal_S0")
def cells_equal_s0(rows: pd.DataFrame) -> Finding:
    ours, baseline = _of_both(rows, "mcc", S=0)
    return mean_within((ours - baseline).dropna(), 0.05, "MCC of TBR minus baseline")


@claim("tbr-fig5a-tbr_rises")
@for_every("S = {} above S = 0", NAMED_CHANGES[1:])
def cells_tbr_rises(rows: pd.DataFrame, changes: int) -> Finding:
    return significantly_above(_values(rows, "mcc", "tbr", changes), _values(rows, "mcc", "tbr", 0), "MCC")


@claim("tbr-fig5a-baseline_falls")
def cells_baseline_falls(rows: pd.DataFrame) -> Finding:
    none, two = (_values(rows, "mcc", "baseline", changes) for changes in (0, 2))
    falls = significantly_above(none, two, "MCC, S = 0 against S = 2")
    lead = (_values(rows, "mcc", "tbr", 2) - two).dropna()
    far_above = mean_above(lead, 0.1, "MCC of TBR minus baseline")
    return every({"baseline falls": falls, "TBR far above at S = 2": far_above})


@claim("tbr-fig5b-S0_worst")
@for_every("S = 0 above S = {}", NAMED_CHANGES[1:])
def unseen_s0_worst(rows: pd.DataFrame, changes: int) -> Finding:
    none, some = (_values(rows, "unseen_mse", "tbr", number) for number in (0, changes))
    return significantly_above(none, some, "MSE")


@claim("tbr-fig5b-baseline_worse")
def unseen_baseline_worse(rows: pd.DataFrame) -> Finding:
    @for_every("S = {}", sorted({*NAMED_CHANGES, *values_of(rows, "S")}))
    def check(changes: int) -> Finding:
        ours, baseline = _of_both(rows, "unseen_mse", S=changes)
        return significantly_above(baseline, ours, "MSE, baseline against TBR")

    return check()


def _errors(rows: pd.DataFrame, method: str, latents: int) -> dict[Key, pd.Series]:
    """Return the test errors of figure 3's curve of one number of true latents, by learned ones."""
    return {k: per_seed(rows, "mse", method=method, latent_dim=latents, learned_dim=k) for k in LEARNED}


@claim("tbr-fig3-tbr_minimum")
@for_every("|Z| = {}", NAMED_LATENTS)
def tbr_minimum(rows: pd.DataFrame, latents: int) -> Finding:
    return extreme_at(_errors(rows, "tbr", latents), latents.__eq__, "MSE", _K, within_spread=True)


@claim("tbr-fig3-baseline_minimum")
@for_every("|Z| = {}", LATENTS)
def baseline_minimum(rows: pd.DataFrame, latents: int) -> Finding:
    return extreme_at(_errors(rows, "baseline", latents), latents.__ne__, "MSE", _K)


@claim("tbr-fig3-elevated_below")
@for_every("{} at |Z| = {}", METHODS, LATENTS)
def elevated_below(rows: pd.DataFrame, method: str, latents: int) -> Finding:
    errors = _errors(rows, method, latents)
    fewer = range(LEARNED[0], latents)
    return weakest(
        {f"{_K} = {k} against {latents}": significantly_above(errors[k], errors[latents], "MSE") for k in fewer}
    )


@claim("tbr-fig3-plateau")
@for_every("|Z| = {}", NAMED_LATENTS)
def plateau(rows: pd.DataFrame, latents: int) -> Finding:
    errors = _errors(rows, "tbr", latents)
    fall = (errors[latents - 1] - errors[latents]).dropna()
    falls = mean_above(fall, 0, f"fall of the MSE from {_K} = {latents - 1} to {latents}:")
    if falls.outcome != "holds":
        return falls
    more = range(latents + 1, LEARNED[-1] + 1)
    changes = {k: ((errors[k] - errors[latents]) / fall.mean()).dropna() for k in more}
    if absent := [k for k, values in changes.items() if values.empty]:
        return not_measured(f"MSE at {_K} = {', '.join(map(str, absent))}")
    most = max(more, key=lambda k: abs(changes[k].mean()))
    return mean_within(changes[most], 0.1, f"largest change, at {_K} = {most}, as a fraction of the last fall:")


@claim("tbr-fig5a-below_simulation", against="tbr/fig4")
def cells_below_simulation(rows: pd.DataFrame, simulation: pd.DataFrame) -> Finding:
    on_cells, simulated = (_values(of_artefact, "mcc", "tbr", 1) for of_artefact in (rows, simulation))
    return mean_not_below(simulated, on_cells, "MCC of TBR in simulation against on cells", strict=True)


@claim("tbr-fig6-near_perfect_S1")
def leaves_near_perfect_s1(rows: pd.DataFrame) -> Finding:
    return mean_above(_values(rows, "mcc", "tbr", 1), 0.9, "MCC")


@claim("tbr-fig6-entangled_S0")
def leaves_entangled_s0(rows: pd.DataFrame) -> Finding:
    found = {}
    for method in METHODS:
        found[f"{label(method)} at S = 1 above S = 0"] = s1_above_s0(rows, method)
        found[f"{label(method)} at S = 0"] = mean_below(_values(rows, "mcc", method, 0), 0.7, "MCC")
    return every(found)


@claim("tbr-fig6-same_trends")
def leaves_same_trends(rows: pd.DataFrame) -> Finding:
    ours, baseline = _of_both(rows, "mse", S=1)
    ratio = mean_ratio_above(baseline, ours, 3, "MSE of baseline / TBR")
    return every({f"S = {s}": _above_baseline(rows, S=s) for s in CHANGES[1:]} | {"MSE at S = 1": ratio})


@claim("tbr-fig7-minimal_change", against="tbr/fig6")
@for_every("S = {}", CHANGES)
def linear_minimal_change(rows: pd.DataFrame, leaves: pd.DataFrame, changes: int) -> Finding:
    linear, curved = (_values(of_artefact, "mcc", "tbr", changes) for of_artefact in (rows, leaves))
    return mean_within((linear - curved).dropna(), 0.1, "MCC of TBR, figure 7 minus figure 6:")


@claim("tbr-fig8-robust")
@for_every("pi = {}", PROBABILITIES[1:5])
def bernoulli_robust(rows: pd.DataFrame, probability: float) -> Finding:
    return _above_baseline(rows, pi=probability)


@claim("tbr-fig8-best_sparse")
def bernoulli_best_sparse(rows: pd.DataFrame) -> Finding:
    values: dict[Key, pd.Series] = {pi: per_seed(rows, "mcc", method="tbr", pi=pi) for pi in PROBABILITIES}
    return extreme_at(values, PROBABILITIES[1:4].__contains__, "MCC", "pi", lowest=False)


@claim("tbr-runtime-sim_order")
def tens_of_seconds(rows: pd.DataFrame) -> Finding:
    return mean_below(per_seed(rows, "seconds", domain="treesimulation", method="tbr", S=1), 100, "seconds")
