"""The claims of Sparling's figures 3 and 4 as functions of result rows; their wording stands in targets.yaml.

Rows of figure 3 are those of the final density (``steps_above`` = 0); figure 4 compares densities of the same runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import (
    ClaimCheck,
    Finding,
    always_zero,
    every,
    mean_above,
    mean_below,
    mean_not_below,
    mean_ratio_above,
    rank_trend,
    significantly_above,
)
from sparseid.papers.names import written
from sparseid.papers.rows import per_seed, select

DOMAINS = ("digitcircle", "latex_ocr", "audiomnist")
REPORTED_SPLIT: dict[str, dict[str, tuple[Key]]] = {"audiomnist": {"split": ("test_speakers",)}}
"""The audio numbers are those of speakers that training has not heard."""
DENSITIES = range(11)
"""Cuts above the final density that figure 4 shows."""


def domain_rows(rows: pd.DataFrame, domain: str) -> pd.DataFrame:
    """Return the rows of Sparling (one threshold per channel) on one domain, of the split that the paper reports."""
    allowed: dict[str, tuple[Key]] = {"domain": (domain,), "method": ("sparling_mt",)}
    return select(rows, allowed | REPORTED_SPLIT.get(domain, {}))


def _values(rows: pd.DataFrame, metric: str, domain: str, steps_above: int = 0) -> pd.Series:
    of_metric = rows[rows["metric"] == metric]  # first: it leaves few rows to look through
    return per_seed(domain_rows(of_metric, domain), metric, steps_above=steps_above)


def _each(check: Callable[[str], Finding], domains: Iterable[str] = DOMAINS) -> Finding:
    return every({written(domain): check(domain) for domain in domains})


def below10(rows: pd.DataFrame) -> Finding:
    """Motif errors average below 10 % in all domains, except FNE on LaTeX-OCR."""
    return every(
        {
            f"{written(domain)} {written(metric)}": mean_below(_values(rows, metric, domain), 10, "mean")
            for domain in DOMAINS
            for metric in ("fpe", "fne", "ce")
            if (domain, metric) != ("latex_ocr", "fne")
        }
    )


def latex_fne_exception(rows: pd.DataFrame) -> Finding:
    """The one high error is FNE on LaTeX-OCR: above 10 % and above that of either other domain."""
    latex = _values(rows, "fne", "latex_ocr")
    others = {
        f"above {written(domain)}": significantly_above(latex, _values(rows, "fne", domain), "FNE")
        for domain in ("digitcircle", "audiomnist")
    }
    return every({"above 10": mean_above(latex, 10, "FNE"), **others})


def audio_fpe_zero(rows: pd.DataFrame) -> Finding:
    """The audio domain has no false positive in any seed."""
    return always_zero(_values(rows, "fpe", "audiomnist"), "FPE")


def localisation90(rows: pd.DataFrame) -> Finding:
    """States are identified up to a permutation of channels with more than 90 % accuracy (100 - CE)."""
    return _each(lambda domain: mean_above(100 - _values(rows, "ce", domain), 90, "100 - CE"))


def unseen_speakers(rows: pd.DataFrame) -> Finding:
    """Motif errors stay below 10 % on speakers not heard in training."""
    return every(
        {
            written(metric): mean_below(_values(rows, metric, "audiomnist"), 10, "mean")
            for metric in ("fpe", "fne", "ce")
        }
    )


def _trend(rows: pd.DataFrame, metric: str, domain: str, holds: Callable[[float], bool]) -> Finding:
    values = {step: _values(rows, metric, domain, step) for step in DENSITIES}
    measured = {step: seeds for step, seeds in values.items() if len(seeds)}
    means = {step: float(seeds.mean()) for step, seeds in measured.items()}
    return rank_trend(
        means, min(map(len, measured.values()), default=0), holds, f"{written(metric)} against cuts above"
    )


def fpe_falls(rows: pd.DataFrame) -> Finding:
    """As the density falls, FPE falls: rank correlation with the steps above the final density over 0.9."""
    return _each(lambda domain: _trend(rows, "fpe", domain, lambda rho: rho > 0.9))


def fne_rises(rows: pd.DataFrame) -> Finding:
    """As the density falls, FNE rises; on DigitCircle, where it stays tiny, only the two ends are compared."""
    final, above = (_values(rows, "fne", "digitcircle", step) for step in (0, 10))
    return every(
        {
            written("digitcircle"): mean_not_below(final, above, "FNE at the final density and 10 cuts above"),
            **{
                written(domain): _trend(rows, "fne", domain, lambda rho: rho < -0.8)
                for domain in ("latex_ocr", "audiomnist")
            },
        }
    )


def _ce_ratio(rows: pd.DataFrame, steps: int, limit: float) -> Finding:
    def check(domain: str) -> Finding:
        above, final = _values(rows, "ce", domain, steps), _values(rows, "ce", domain)
        return mean_ratio_above(above, final, limit, f"CE {steps} cuts above / final")

    return _each(check)


def ce_falls(rows: pd.DataFrame) -> Finding:
    """CE five cuts above the final density is more than 5 times the final one."""
    return _ce_ratio(rows, steps=5, limit=5)


def extreme_sparsity(rows: pd.DataFrame) -> Finding:
    """CE three cuts above the final density (2.4 times as dense) is more than twice the final one."""
    return _ce_ratio(rows, steps=3, limit=2)


def e2ee_rises(rows: pd.DataFrame) -> Finding:
    """The end-to-end error is higher at the final density than ten cuts above it."""

    def check(domain: str) -> Finding:
        final, above = _values(rows, "e2ee", domain), _values(rows, "e2ee", domain, 10)
        return significantly_above(final, above, "E2EE at the final density and 10 cuts above")

    return _each(check)


CLAIMS: dict[str, ClaimCheck] = {
    "sparling-fig3-below10": below10,
    "sparling-fig3-latex_fne_exception": latex_fne_exception,
    "sparling-fig3-audio_fpe_zero": audio_fpe_zero,
    "sparling-fig3-localisation90": localisation90,
    "sparling-fig3-unseen_speakers": unseen_speakers,
    "sparling-fig4-fpe_falls": fpe_falls,
    "sparling-fig4-fne_rises": fne_rises,
    "sparling-fig4-ce_falls": ce_falls,
    "sparling-fig4-e2ee_rises": e2ee_rises,
    "sparling-fig4-extreme_sparsity": extreme_sparsity,
}
"""Claim id in targets.yaml -> check."""
