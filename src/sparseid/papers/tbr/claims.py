"""The claims of TBR's tables and figures as functions of result rows; their wording stands in targets.yaml."""

from __future__ import annotations

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import (
    ClaimCheck,
    Comparison,
    Finding,
    every,
    extreme_at,
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
from sparseid.papers.names import written
from sparseid.papers.rows import per_seed

METHODS = ("tbr", "baseline")
CHANGES = range(6)
"""Values of S in figure 4."""
CHANGES_ON_CELLS = range(3)
"""Values of S in figure 5: those that the text speaks of."""
ENVIRONMENTS = range(1, 11)
"""Environments of table 3."""
LATENTS = (4, 5, 6, 7)
"""Numbers of true latents in figure 3; the text names the first three."""
NAMED_LATENTS = LATENTS[:3]
LEARNED = range(1, 9)
"""Numbers of learned latents in figure 3."""
_K = "learned latents"
PROBABILITIES = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Values of pi in figure 8; the paper does not state them."""


def _values(rows: pd.DataFrame, metric: str, method: str, changes: int) -> pd.Series:
    return per_seed(rows, metric, method=method, S=changes)


def _against_baseline(rows: pd.DataFrame, changes: int) -> Finding:
    ours, baseline = (_values(rows, "mcc", method, changes) for method in METHODS)
    return significantly_above(ours, baseline, "MCC, TBR against baseline")


def near_perfect_s1(rows: pd.DataFrame) -> Finding:
    """TBR almost fully disentangles at S = 1."""
    return mean_above(_values(rows, "mcc", "tbr", 1), 0.95, "MCC")


def entangled_s0(rows: pd.DataFrame) -> Finding:
    """At S = 0 both methods stay entangled: MCC between 0.3 and 0.7."""
    found = {}
    for method in METHODS:
        values = _values(rows, "mcc", method, 0)
        found[f"{written(method)} above 0.3"] = mean_above(values, 0.3, "MCC")
        found[f"{written(method)} below 0.7"] = mean_below(values, 0.7, "MCC")
    return every(found)


def beats_baseline_s1(rows: pd.DataFrame) -> Finding:
    """TBR recovers the latents better than the baseline at S = 1."""
    return _against_baseline(rows, 1)


def robust(rows: pd.DataFrame) -> Finding:
    """TBR stays above the baseline for S = 2 to 5."""
    return every({f"S = {changes}": _against_baseline(rows, changes) for changes in CHANGES[2:]})


def peak_s1(rows: pd.DataFrame) -> Finding:
    """The MCC of TBR falls from S = 1 on."""
    values = [_values(rows, "mcc", "tbr", changes) for changes in CHANGES]
    return every(
        {f"S = {s} to {s + 1}": mean_not_below(values[s], values[s + 1], "MCC") for s in range(1, CHANGES[-1])}
    )


def s1_above_s0(rows: pd.DataFrame) -> Finding:
    """TBR is better at S = 1 than at S = 0."""
    one, none = (_values(rows, "mcc", "tbr", changes) for changes in (1, 0))
    return significantly_above(one, none, "MCC of TBR, S = 1 against S = 0")


def mse_s0_equal(rows: pd.DataFrame) -> Finding:
    """At S = 0 both predict well: the baseline's error less than 1.5 times TBR's, and that below 0.2."""
    ours, baseline = (_values(rows, "mse", method, 0) for method in METHODS)
    return every(
        {
            "both alike": mean_ratio_below(baseline, ours, 1.5, "MSE of baseline / TBR"),
            "TBR low": mean_below(ours, 0.2, "MSE"),
        }
    )


def mse_tbr_low(rows: pd.DataFrame) -> Finding:
    """TBR's error at S = 5 is less than 5 times that at S = 0."""
    dense, none = (_values(rows, "mse", "tbr", changes) for changes in (5, 0))
    return mean_ratio_below(dense, none, 5, "MSE of TBR, S = 5 / S = 0")


def mse_baseline_degrades(rows: pd.DataFrame) -> Finding:
    """The baseline's error at S = 1 is more than 5 times TBR's, and rises with S."""
    ratio = mean_ratio_above(
        _values(rows, "mse", "baseline", 1), _values(rows, "mse", "tbr", 1), 5, "MSE of baseline / TBR"
    )
    values = {changes: _values(rows, "mse", "baseline", changes) for changes in CHANGES}
    measured = {changes: seeds for changes, seeds in values.items() if len(seeds)}
    means = {changes: float(seeds.mean()) for changes, seeds in measured.items()}
    fewest = min(map(len, measured.values()), default=0)
    rises = rank_trend(means, fewest, lambda rho: rho > 0.9, "MSE of the baseline against S", points="values of S")
    return every({"above TBR at S = 1": ratio, "rises with S": rises})


def each_environment(rows: pd.DataFrame) -> Finding:
    """TBR has the smaller error of treatment effects in every environment."""

    def check(environment: int) -> Finding:
        ours, baseline = (per_seed(rows, "ate_mse", method=name, environment=environment) for name in METHODS)
        return mean_not_below(baseline, ours, "error, baseline against TBR")

    return weakest({f"environment {environment}": check(environment) for environment in ENVIRONMENTS})


def pooled(rows: pd.DataFrame) -> Finding:
    """Pooled over environments the baseline's error of treatment effects is more than 10 times TBR's."""
    ours, baseline = (per_seed(rows, "ate_mse", method=name, environment="pooled") for name in METHODS)
    return every(
        {
            "baseline above TBR": significantly_above(baseline, ours, "error, baseline against TBR"),
            "by far": mean_ratio_above(baseline, ours, 10, "error of baseline / TBR"),
        }
    )


def cells_equal_s0(rows: pd.DataFrame) -> Finding:
    """On single cells at S = 0 the MCC of both differ by at most 0.05."""
    ours, baseline = (_values(rows, "mcc", method, 0) for method in METHODS)
    return mean_within((ours - baseline).dropna(), 0.05, "MCC of TBR minus baseline")


def cells_tbr_rises(rows: pd.DataFrame) -> Finding:
    """On single cells the MCC of TBR is higher at S = 1 and 2 than at S = 0."""
    none, *more = (_values(rows, "mcc", "tbr", changes) for changes in CHANGES_ON_CELLS)
    return every({f"S = {s} above S = 0": significantly_above(values, none, "MCC") for s, values in enumerate(more, 1)})


def cells_baseline_falls(rows: pd.DataFrame) -> Finding:
    """On single cells the MCC of the baseline falls to S = 2, where that of TBR is more than 0.1 above it."""
    none, two = (_values(rows, "mcc", "baseline", changes) for changes in (0, 2))
    lead = (_values(rows, "mcc", "tbr", 2) - two).dropna()
    return every(
        {
            "baseline falls": significantly_above(none, two, "MCC, S = 0 against S = 2"),
            "TBR far above at S = 2": mean_above(lead, 0.1, "MCC of TBR minus baseline"),
        }
    )


def unseen_s0_worst(rows: pd.DataFrame) -> Finding:
    """TBR trained with S = 0 has a higher error on unseen cell types than with S = 1 or 2."""
    none, *more = (_values(rows, "unseen_mse", "tbr", changes) for changes in CHANGES_ON_CELLS)
    return every({f"S = 0 above S = {s}": significantly_above(none, values, "MSE") for s, values in enumerate(more, 1)})


def unseen_baseline_worse(rows: pd.DataFrame) -> Finding:
    """The baseline has a higher error on unseen cell types for every S."""

    def check(changes: int) -> Finding:
        ours, baseline = (_values(rows, "unseen_mse", method, changes) for method in METHODS)
        return significantly_above(baseline, ours, "MSE, baseline against TBR")

    return every({f"S = {changes}": check(changes) for changes in CHANGES_ON_CELLS})


def _errors(rows: pd.DataFrame, method: str, latents: int) -> dict[Key, pd.Series]:
    """Return the test errors of figure 3's curve of one number of true latents, by learned ones."""
    return {k: per_seed(rows, "mse", method=method, latent_dim=latents, learned_dim=k) for k in LEARNED}


def tbr_minimum(rows: pd.DataFrame) -> Finding:
    """TBR's error is lowest where as many latents are learned as there are, for 4, 5 and 6 of them."""
    return every(
        {
            f"|Z| = {z}": extreme_at(_errors(rows, "tbr", z), z.__eq__, "MSE", _K, within_spread=True)
            for z in NAMED_LATENTS
        }
    )


def baseline_minimum(rows: pd.DataFrame) -> Finding:
    """The baseline's error is lowest elsewhere, for every number of latents."""
    return every({f"|Z| = {z}": extreme_at(_errors(rows, "baseline", z), z.__ne__, "MSE", _K) for z in LATENTS})


def elevated_below(rows: pd.DataFrame) -> Finding:
    """Both methods' errors are higher with fewer learned latents than there are."""

    def check(method: str, latents: int) -> Finding:
        errors = _errors(rows, method, latents)
        fewer = range(LEARNED[0], latents)
        return weakest(
            {f"{_K} = {k} against {latents}": significantly_above(errors[k], errors[latents], "MSE") for k in fewer}
        )

    return every({f"{written(method)} at |Z| = {z}": check(method, z) for method in METHODS for z in LATENTS})


def plateau(rows: pd.DataFrame) -> Finding:
    """With more learned latents than there are, TBR's error moves by less than a tenth of its last fall."""

    def check(latents: int) -> Finding:
        errors = _errors(rows, "tbr", latents)
        fall = (errors[latents - 1] - errors[latents]).dropna()
        falls = mean_above(fall, 0, f"fall of the MSE from {_K} = {latents - 1} to {latents}:")
        if falls.outcome != "holds":
            return falls
        more = range(latents + 1, LEARNED[-1] + 1)
        changes = {k: ((errors[k] - errors[latents]) / fall.mean()).dropna() for k in more}
        absent = [k for k, values in changes.items() if values.empty]
        if absent:
            return not_measured(f"MSE at {_K} = {', '.join(map(str, absent))}")
        most = max(more, key=lambda k: abs(changes[k].mean()))
        return mean_within(changes[most], 0.1, f"largest change, at {_K} = {most}, as a share of the last fall:")

    return every({f"|Z| = {z}": check(z) for z in NAMED_LATENTS})


def cells_below_simulation(rows: pd.DataFrame, simulation: pd.DataFrame) -> Finding:
    """The MCC of TBR at S = 1 is lower on single cells than in simulation."""
    on_cells, simulated = (_values(of_artefact, "mcc", "tbr", 1) for of_artefact in (rows, simulation))
    return mean_not_below(simulated, on_cells, "MCC of TBR in simulation against on cells")


def leaves_near_perfect_s1(rows: pd.DataFrame) -> Finding:
    """With leaves only the MCC of TBR at S = 1 is above 0.9."""
    return mean_above(_values(rows, "mcc", "tbr", 1), 0.9, "MCC")


def leaves_entangled_s0(rows: pd.DataFrame) -> Finding:
    """With leaves only TBR is more entangled at S = 0 than at S = 1, and both methods stay below 0.7."""
    below = {f"{written(m)} at S = 0": mean_below(_values(rows, "mcc", m, 0), 0.7, "MCC") for m in METHODS}
    return every({"TBR at S = 1 above S = 0": s1_above_s0(rows)} | below)


def leaves_same_trends(rows: pd.DataFrame) -> Finding:
    """With leaves only TBR's MCC is above the baseline's from S = 1 on, whose error there is 3 times TBR's."""
    ours, baseline = (_values(rows, "mse", method, 1) for method in METHODS)
    ratio = mean_ratio_above(baseline, ours, 3, "MSE of baseline / TBR")
    return every({f"S = {s}": _against_baseline(rows, s) for s in CHANGES[1:]} | {"MSE at S = 1": ratio})


def linear_minimal_change(rows: pd.DataFrame, leaves: pd.DataFrame) -> Finding:
    """On linear data the MCC of TBR differs by less than 0.1 from that of figure 6, for every S."""

    def check(changes: int) -> Finding:
        linear, curved = (_values(of_artefact, "mcc", "tbr", changes) for of_artefact in (rows, leaves))
        return mean_within((linear - curved).dropna(), 0.1, "MCC of TBR, figure 7 minus figure 6:")

    return every({f"S = {s}": check(s) for s in CHANGES})


def _at_probability(rows: pd.DataFrame, method: str, probability: float) -> pd.Series:
    return per_seed(rows, "mcc", method=method, pi=probability)


def bernoulli_robust(rows: pd.DataFrame) -> Finding:
    """With random numbers of changes TBR's MCC is above the baseline's up to pi = 0.6."""

    def check(probability: float) -> Finding:
        ours, baseline = (_at_probability(rows, method, probability) for method in METHODS)
        return significantly_above(ours, baseline, "MCC, TBR against baseline")

    return every({f"pi = {pi:g}": check(pi) for pi in PROBABILITIES[1:5]})


def bernoulli_best_sparse(rows: pd.DataFrame) -> Finding:
    """The MCC of TBR is highest where few weights change: pi of 0.1, 0.2 or 0.4."""
    values: dict[Key, pd.Series] = {pi: _at_probability(rows, "tbr", pi) for pi in PROBABILITIES}
    return extreme_at(values, PROBABILITIES[1:4].__contains__, "MCC", "pi", lowest=False)


def tens_of_seconds(rows: pd.DataFrame) -> Finding:
    """A simulated fit takes less than 600 seconds."""
    return mean_below(per_seed(rows, "seconds", method="tbr", S=1), 600, "seconds")


CLAIMS: dict[str, ClaimCheck | Comparison] = {
    "tbr-fig3-tbr_minimum": tbr_minimum,
    "tbr-fig3-baseline_minimum": baseline_minimum,
    "tbr-fig3-elevated_below": elevated_below,
    "tbr-fig3-plateau": plateau,
    "tbr-fig4-near_perfect_S1": near_perfect_s1,
    "tbr-fig4-entangled_S0": entangled_s0,
    "tbr-fig4-beats_baseline_S1": beats_baseline_s1,
    "tbr-fig4-robust": robust,
    "tbr-fig4-peak_S1": peak_s1,
    "tbr-fig4-S1_above_S0": s1_above_s0,
    "tbr-fig4-mse_S0_equal": mse_s0_equal,
    "tbr-fig4-mse_tbr_low": mse_tbr_low,
    "tbr-fig4-mse_baseline_degrades": mse_baseline_degrades,
    "tbr-table3-each_env": each_environment,
    "tbr-table3-pooled": pooled,
    "tbr-fig5a-equal_S0": cells_equal_s0,
    "tbr-fig5a-tbr_rises": cells_tbr_rises,
    "tbr-fig5a-baseline_falls": cells_baseline_falls,
    "tbr-fig5b-S0_worst": unseen_s0_worst,
    "tbr-fig5a-below_simulation": Comparison("tbr/fig4", cells_below_simulation),
    "tbr-fig5b-baseline_worse": unseen_baseline_worse,
    "tbr-fig6-near_perfect_S1": leaves_near_perfect_s1,
    "tbr-fig6-entangled_S0": leaves_entangled_s0,
    "tbr-fig6-same_trends": leaves_same_trends,
    "tbr-fig7-minimal_change": Comparison("tbr/fig6", linear_minimal_change),
    "tbr-fig7-beats_baseline": beats_baseline_s1,
    "tbr-fig8-robust": bernoulli_robust,
    "tbr-fig8-best_sparse": bernoulli_best_sparse,
    "tbr-runtime-sim_order": tens_of_seconds,
}
"""Claim id in targets.yaml -> check."""
