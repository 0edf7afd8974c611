"""The claims about further evaluations of Sparling's runs: figures 6, 8, 9 and 10, and Table 2.

Their wording stands in targets.yaml.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import (
    FEWEST_POINTS,
    SIGNIFICANT,
    ClaimCheck,
    Finding,
    decide,
    every,
    mean_above,
    mean_below,
    mean_not_below,
    mean_within,
    not_measured,
    rank_trend,
    weakest,
)
from sparseid.papers.names import written, written_cell
from sparseid.papers.rows import key, per_seed, select
from sparseid.papers.sparling.cells import DENSITIES_BINNED, DIRECT_TESTS, THRESHOLDS, values
from sparseid.papers.sparling.claims import DOMAINS

HARD_KINDS = {"latex_ocr": ("bar", "lparen", "rparen")}
"""Kinds that the paper excepts from having channels of their own."""
KINDS: dict[str, tuple[str, ...]] = {
    "digitcircle": tuple("0123456789"),
    "latex_ocr": ("plus", *"0123456789abcxyz"),
    "audiomnist": tuple("0123456789"),
}
"""The other kinds of each domain."""


def perturbation(rows: pd.DataFrame, domain: str) -> pd.Series:
    """Return the share of exchanged motifs that the decoder follows, by seed."""
    return per_seed(rows, "perturbation_accuracy", domain=domain, method="sparling_mt", steps_above=0)


def decoder_follows(rows: pd.DataFrame) -> Finding:
    """More than 85 % of exchanged motifs are decoded as expected, in every domain."""
    return every({written(name): mean_above(perturbation(rows, name), 85, "accuracy") for name in DOMAINS})


def perturbation_order(rows: pd.DataFrame) -> Finding:
    """The decoder follows best on DigitCircle, and least on LaTeX-OCR."""
    order = ("digitcircle", "audiomnist", "latex_ocr")
    return every(
        {
            f"{written(one)} above {written(other)}": mean_not_below(
                perturbation(rows, one), perturbation(rows, other), "accuracy", strict=True
            )
            for one, other in itertools.pairwise(order)
        }
    )


def _of_kind(rows: pd.DataFrame, metric: str, domain: str, symbol: str) -> pd.Series:
    return per_seed(rows, metric, domain=domain, symbol=symbol, method="sparling_mt", steps_above=0)


def one_channel_each(rows: pd.DataFrame) -> Finding:
    """More than 85 % of each kind go to its channels, but for the kinds that the paper excepts."""
    measured = {domain: _kinds_of(rows, domain) for domain in DOMAINS}
    return every(
        {
            written(domain): weakest(
                {
                    written(symbol): mean_above(_of_kind(rows, "diagonal_share", domain, symbol), 85, "share")
                    for symbol in symbols
                }
            )
            for domain, symbols in measured.items()
        }
    )


def _kinds_of(rows: pd.DataFrame, domain: str) -> tuple[str, ...]:
    """Return the kinds to look at: those of the rows (smaller scales have fewer), or the paper's if there are none."""
    of_domain = select(rows[rows["metric"] == "diagonal_share"], {"domain": (domain,)})
    found = dict.fromkeys(map(str, key(of_domain, "symbol")))
    return tuple(symbol for symbol in found if symbol not in HARD_KINDS.get(domain, ())) or KINDS[domain]


def bar_never(rows: pd.DataFrame) -> Finding:
    """Less than 1 % of fraction bars go to a channel of theirs, and more than 95 % are missed."""
    told, missed = (_of_kind(rows, metric, "latex_ocr", "bar") for metric in ("diagonal_share", "none_share"))
    return every(
        {"recognised": mean_below(told, 1, "share of bars"), "missed": mean_above(missed, 95, "share of bars")}
    )


def parentheses_sometimes(rows: pd.DataFrame) -> Finding:
    """Between 10 and 95 % of the left or of the right parentheses are missed."""
    missed = {symbol: _of_kind(rows, "none_share", "latex_ocr", symbol) for symbol in ("lparen", "rparen")}
    measured = {symbol: share for symbol, share in missed.items() if len(share)}
    if not measured:
        return not_measured("missed parentheses")
    means = {symbol: float(share.mean()) for symbol, share in measured.items()}
    fitting = [symbol for symbol, mean in means.items() if 10 < mean < 95]
    if not fitting and len(measured) < len(missed):
        return Finding("undecided", "only one of the two kinds of parentheses measured")
    decides = fitting[0] if fitting else next(iter(means))
    text = "missed: " + ", ".join(f"{mean:.3g} % of {written(symbol)}" for symbol, mean in means.items())
    return decide(bool(fitting), text, means[decides], len(measured[decides]))


def _binned(rows: pd.DataFrame, method: str, bins: int, steps: int) -> pd.Series:
    return values(rows, "binning_delta", domain="digitcircle", method=method, bins=bins, steps_above=steps)


def binning_trend(rows: pd.DataFrame) -> Finding:
    """What 2 and 4 bins cost falls as the density falls, with one threshold and with many."""

    def check(method: str, bins: int) -> Finding:
        measured = {steps: _binned(rows, method, bins, steps) for steps in DENSITIES_BINNED}
        means = {steps: float(seeds.mean()) for steps, seeds in measured.items() if len(seeds)}
        fewest = min((len(seeds) for seeds in measured.values() if len(seeds)), default=0)
        return rank_trend(means, fewest, lambda rho: rho > 0, "loss against cuts above")

    return every({f"{written(name)}, {bins} bins": check(name, bins) for name in THRESHOLDS for bins in (2, 4)})


def four_bits(rows: pd.DataFrame) -> Finding:
    """At the final density 16 bins change the accuracy by no more than 0.1 %."""
    return mean_within(_binned(rows, "sparling_mt", 16, 0), 0.1, "accuracy lost by 16 bins")


def _of_seeds(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return end-to-end error and another metric of each seed on DigitCircle, columns ``e2ee`` and ``other``."""
    pair = {
        "e2ee": values(rows, "e2ee", domain="digitcircle", method="sparling_mt"),
        "other": values(rows, metric, domain="digitcircle", method="sparling_mt"),
    }
    return pd.DataFrame(pair).dropna()


def ce_related(rows: pd.DataFrame) -> Finding:
    """Over seeds the logarithms of CE and end-to-end error are positively correlated."""
    seeds = _of_seeds(rows, "ce")
    positive = seeds[(seeds > 0).all(axis=1)]
    without = f"; {len(seeds) - len(positive)} without an error left out" if len(positive) < len(seeds) else ""
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
    if r <= 0:
        return Finding("fails", text, r, p)
    return Finding("holds" if p < SIGNIFICANT else "undecided", text, r, p)


def fpe_unrelated(rows: pd.DataFrame) -> Finding:
    """Over seeds the rank correlation of FPE and end-to-end error lies within +- 0.5."""
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


def direct_better(rows: pd.DataFrame) -> Finding:
    """DIRECT has a lower error than Sparling in every row."""

    def check(test: dict[str, Key]) -> Finding:
        sparling, direct = (_direct(rows, method, test) for method in ("sparling_mt", "direct"))
        return mean_not_below(sparling, direct, "error of Sparling against DIRECT", strict=True)

    return every({written_cell(test): check(test) for test in DIRECT_TESTS})


def shift_ratio(rows: pd.DataFrame) -> Finding:
    """The ratio of DIRECT's error to Sparling's is higher on new speakers than on those of the training."""
    ratios, fewest = [], []
    for test in DIRECT_TESTS[-2:]:
        direct, sparling = (_direct(rows, method, test) for method in ("direct", "sparling_mt"))
        if direct.empty or sparling.empty:
            return not_measured(f"error on {written(test['split'])}")
        if not sparling.mean():
            return Finding("undecided", f"Sparling makes no error on {written(test['split'])}")
        ratios.append(float(direct.mean() / sparling.mean()))
        fewest.append(min(len(direct), len(sparling)))
    known, new = ratios
    text = f"DIRECT / Sparling: {new:.3g} on new speakers against {known:.3g} on those of the training"
    return decide(new > known, text, new - known, min(fewest))


def direct_trivial(rows: pd.DataFrame) -> Finding:
    """DIRECT has an error below 0.5 % on DigitCircle and LaTeX-OCR."""
    tests = DIRECT_TESTS[:2]
    return every({written_cell(test): mean_below(_direct(rows, "direct", test), 0.5, "error") for test in tests})


CLAIMS: dict[str, ClaimCheck] = {
    "sparling-fig6-h_behaves": decoder_follows,
    "sparling-fig6-order": perturbation_order,
    "sparling-fig8-one_channel_each": one_channel_each,
    "sparling-fig8-bar_never": bar_never,
    "sparling-fig8-parens_sometimes": parentheses_sometimes,
    "sparling-fig9-trend": binning_trend,
    "sparling-fig9-four_bits": four_bits,
    "sparling-fig10-ce_related": ce_related,
    "sparling-fig10-fpe_unrelated": fpe_unrelated,
    "sparling-table2-direct_better": direct_better,
    "sparling-table2-shift_ratio": shift_ratio,
    "sparling-table2-direct_trivial": direct_trivial,
}
"""Claim id in targets.yaml -> check."""
