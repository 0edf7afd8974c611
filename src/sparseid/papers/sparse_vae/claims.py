"""The claims of the Sparse VAE's figure 3 and tables 1 and 2 as functions of result rows; wording in targets.yaml.

Those of table 3 and of the cells of the mouse cortex are in :mod:`sparseid.papers.sparse_vae.features`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import (
    SIGNIFICANT,
    ClaimCheck,
    Comparison,
    Finding,
    every,
    extreme_at,
    mean_above,
    mean_within,
    not_measured,
    significantly_above,
)
from sparseid.papers.names import written
from sparseid.papers.sparse_vae.cells import BETAS, CORRELATIONS, METHODS, PRINTED_BETA, SHIFTS, WARM_UP, values

OTHERS = METHODS[1:]
SIMILAR_DROP = 0.9
"""Share of the DCI at rho = 0 that counts as robust."""


def _median(rows: pd.DataFrame, metric: str, method: str, rho: float) -> tuple[float, int]:
    found = values(rows, metric, method, rho=rho)
    return float(found.median()), len(found)


def _higher(upper: tuple[float, int], lower: tuple[float, int], what: str) -> Finding:
    """Check that one median, of n data sets, is above another one."""
    (high, m), (low, n) = upper, lower
    if not m or not n:
        return not_measured(what)
    text = f"{what} {high:.3g} against {low:.3g}"
    if min(m, n) < 2:
        return Finding("undecided", f"{text}; one data set", high - low)
    return Finding("holds" if high > low else "fails", f"{text}, {min(m, n)} data sets", high - low)


def _at_each_rho(check: Callable[[float], Finding]) -> Finding:
    return every({f"rho {rho:g}": check(rho) for rho in CORRELATIONS})


def beside_warm_up(check: Callable[[pd.DataFrame, str], Finding]) -> ClaimCheck:
    """Return a check decided by the published recipe, whose text says what the recipe with warm-up gives."""

    def both(rows: pd.DataFrame) -> Finding:
        published, other = check(rows, "sparse_vae"), check(rows, WARM_UP)
        beside = f" | with warm-up: {other.outcome} ({other.text})" if other.measured else ""
        return replace(published, text=published.text + beside)

    return both


def mse_vs_vae(rows: pd.DataFrame, method: str) -> Finding:
    """The median MSE is below the VAE's at every rho."""
    return _at_each_rho(
        lambda rho: _higher(_median(rows, "mse", "vae", rho), _median(rows, "mse", method, rho), "MSE of the VAE")
    )


def mse_vs_vae_test(rows: pd.DataFrame, method: str) -> Finding:
    """Over all rho together the MSE is below the VAE's: signed-rank test over pairs of the same data set."""
    from scipy.stats import wilcoxon

    pairs = [values(rows, "mse", "vae", rho=rho) - values(rows, "mse", method, rho=rho) for rho in CORRELATIONS]
    lead = pd.concat([pair.dropna().astype(float) for pair in pairs])
    if lead.empty:
        return not_measured("MSE")
    text = f"median lead {lead.median():.3g}, lower in {int((lead > 0).sum())} of {len(lead)} data sets"
    if len(lead) < 2:
        return Finding("undecided", f"{text}; no test", float(lead.median()))
    p = float(wilcoxon(lead, alternative="greater").pvalue) if (lead != 0).any() else 1.0
    if lead.median() <= 0:
        return Finding("fails", f"{text}, signed-rank test p = {p:.2g}", float(lead.median()), p)
    text = f"{text}, signed-rank test p = {p:.2g}"
    return Finding("holds" if p < SIGNIFICANT else "undecided", text, float(lead.median()), p)


def mse_vsc(rows: pd.DataFrame, method: str) -> Finding:
    """The median MSE of VSC is above those of the Sparse VAE and the VAE at every rho."""

    def check(rho: float) -> Finding:
        others = [_median(rows, "mse", name, rho) for name in (method, "vae")]
        return _higher(_median(rows, "mse", "vsc", rho), max(others), "MSE of VSC")

    return _at_each_rho(check)


def dci_vs_vae(rows: pd.DataFrame, method: str) -> Finding:
    """The median DCI is above the VAE's at every rho."""
    return _at_each_rho(lambda rho: _higher(_median(rows, "dci", method, rho), _median(rows, "dci", "vae", rho), "DCI"))


def dci_robust(rows: pd.DataFrame, method: str) -> Finding:
    """The median DCI at rho = 0.4 is at least 0.9 times that at 0."""
    (none, m), (some, n) = (_median(rows, "dci", method, rho) for rho in (0.0, 0.4))
    return _higher((some, n), (SIMILAR_DROP * none, m), "DCI at rho 0.4 and 0.9 of that at 0:")


def dci_decreases(rows: pd.DataFrame, method: str) -> Finding:
    """The median DCI at rho = 0.8 is below that at 0.4."""
    some, much = (_median(rows, "dci", method, rho) for rho in (0.4, 0.8))
    return _higher(some, much, "DCI at rho 0.4 and 0.8:")


def dci_vsc_worst(rows: pd.DataFrame, method: str) -> Finding:
    """The median DCI of VSC is below those of the Sparse VAE and the VAE at every rho."""

    def check(rho: float) -> Finding:
        others = [_median(rows, "dci", name, rho) for name in (method, "vae")]
        return _higher(min(others), _median(rows, "dci", "vsc", rho), "DCI of the lower one and VSC:")

    return _at_each_rho(check)


def beta_like_vae(rows: pd.DataFrame) -> Finding:
    """Medians of beta-VAE and VAE differ by at most the VAE's interquartile range, in MSE and DCI at every rho."""

    def check(metric: str, rho: float) -> Finding:
        vae, beta = (values(rows, metric, name, rho=rho) for name in ("vae", "beta_vae"))
        if vae.empty or beta.empty:
            return not_measured(metric)
        difference = abs(float(beta.median() - vae.median()))
        limit = float(vae.quantile(0.75) - vae.quantile(0.25))
        text = f"{written(metric)} differs by {difference:.3g}, interquartile range {limit:.3g}"
        if min(len(vae), len(beta)) < 2:
            return Finding("undecided", text, difference)
        return Finding("holds" if difference <= limit else "fails", text, difference)

    return _at_each_rho(lambda rho: every({written(metric): check(metric, rho) for metric in ("mse", "dci")}))


def _best(
    rows: pd.DataFrame, metric: str, what: str, lowest: bool = True, others: Sequence[str] = OTHERS, **keys: Key
) -> Finding:
    """Check that the Sparse VAE is significantly better than each of the others."""
    ours = values(rows, metric, "sparse_vae", **keys)

    def against(method: str) -> Finding:
        theirs = values(rows, metric, method, **keys)
        return significantly_above(*((theirs, ours) if lowest else (ours, theirs)), what)

    return every({written(method): against(method) for method in others})


def _descending(rows: pd.DataFrame, metric: str, methods: Sequence[str], **keys: Key) -> Finding:
    """Check that the means of a metric fall from each method to the next one."""
    found = {}
    for first, second in itertools.pairwise(methods):
        lead = (values(rows, metric, first, **keys) - values(rows, metric, second, **keys)).dropna()
        found[f"{written(first)} above {written(second)}"] = mean_above(lead, 0, "by")
    return every(found)


def movielens_log_loss(rows: pd.DataFrame) -> Finding:
    """The Sparse VAE has the lowest log loss on MovieLens."""
    return _best(rows, "log_loss", "log loss")


def movielens_ranking(rows: pd.DataFrame) -> Finding:
    """The Sparse VAE has the highest recall@5 and NDCG@10 on MovieLens."""
    return every({written(m): _best(rows, m, written(m), lowest=False) for m in ("recall_at_5", "ndcg_at_10")})


def movielens_order(rows: pd.DataFrame) -> Finding:
    """The log loss rises from Sparse VAE over VAE and beta-VAE to VSC on MovieLens."""
    return _descending(rows, "log_loss", METHODS[::-1])


def peerread_log_loss(rows: pd.DataFrame, peerread: pd.DataFrame) -> Finding:
    """The Sparse VAE has the lowest log loss on PeerRead."""
    return _best(peerread, "log_loss", "log loss")


def beta2_best(rows: pd.DataFrame, peerread: pd.DataFrame) -> Finding:
    """Among the betas 2 has the lowest log loss, on MovieLens and on PeerRead."""

    def check(of_data: pd.DataFrame) -> Finding:
        curve: dict[Key, pd.Series] = {beta: values(of_data, "log_loss", "beta_vae", beta=beta) for beta in BETAS}
        return extreme_at(curve, PRINTED_BETA.__eq__, "log loss", "beta")

    return every({"MovieLens": check(rows), "PeerRead": check(peerread)})


def all_shifts(rows: pd.DataFrame) -> Finding:
    """The Sparse VAE has the lowest log loss at every shift."""
    return every({f"{shift} shift": _best(rows, "log_loss", "log loss", shift=shift) for shift in SHIFTS})


def difficulty_order(rows: pd.DataFrame) -> Finding:
    """For every method the log loss falls from high to low shift."""

    def check(method: str, harder: str, easier: str) -> Finding:
        hard, easy = (values(rows, "log_loss", method, shift=shift) for shift in (harder, easier))
        return mean_above((hard - easy).dropna(), 0, "by")

    pairs = list(itertools.pairwise(SHIFTS))
    return every({f"{written(m)}, {a} above {b}": check(m, a, b) for m in METHODS for a, b in pairs})


def vsc_worst(rows: pd.DataFrame) -> Finding:
    """VSC has the highest log loss at every shift."""

    def check(shift: str) -> Finding:
        vsc = values(rows, "log_loss", "vsc", shift=shift)
        others = {method: values(rows, "log_loss", method, shift=shift) for method in METHODS[:-1]}
        leads = {written(name): (vsc - theirs).dropna() for name, theirs in others.items()}
        return every({f"above {name}": mean_above(lead, 0, "by") for name, lead in leads.items()})

    return every({f"{shift} shift": check(shift) for shift in SHIFTS})


def beta_equals_vae(rows: pd.DataFrame) -> Finding:
    """VAE and beta-VAE differ by at most the sum of their standard deviations at every shift."""

    def check(shift: str) -> Finding:
        vae, beta = (values(rows, "log_loss", method, shift=shift) for method in ("vae", "beta_vae"))
        limit = float(vae.std(ddof=0) + beta.std(ddof=0))
        return mean_within((vae - beta).dropna(), limit, "difference of log loss") if limit else not_measured("spread")

    return every({f"{shift} shift": check(shift) for shift in SHIFTS})


CLAIMS: dict[str, ClaimCheck | Comparison] = {
    "sparse_vae-fig3-mse_vs_vae": beside_warm_up(mse_vs_vae),
    "sparse_vae-fig3-mse_vs_vae_test": beside_warm_up(mse_vs_vae_test),
    "sparse_vae-fig3-mse_vsc": beside_warm_up(mse_vsc),
    "sparse_vae-fig3-dci_vs_vae": beside_warm_up(dci_vs_vae),
    "sparse_vae-fig3-dci_robust": beside_warm_up(dci_robust),
    "sparse_vae-fig3-dci_decreases": beside_warm_up(dci_decreases),
    "sparse_vae-fig3-dci_vsc_worst": beside_warm_up(dci_vsc_worst),
    "sparse_vae-fig3-beta_like_vae": beta_like_vae,
    "sparse_vae-table1-movielens_log_loss": movielens_log_loss,
    "sparse_vae-table1-movielens_ranking": movielens_ranking,
    "sparse_vae-table1-movielens_order": movielens_order,
    "sparse_vae-table1-peerread_log_loss": Comparison("sparse_vae/table1_peerread", peerread_log_loss),
    "sparse_vae-table1-beta2_best": Comparison("sparse_vae/table1_peerread", beta2_best),
    "sparse_vae-table2-all_shifts": all_shifts,
    "sparse_vae-table2-difficulty_order": difficulty_order,
    "sparse_vae-table2-vsc_worst": vsc_worst,
    "sparse_vae-table2-beta_equals_vae": beta_equals_vae,
}
"""Claim id in targets.yaml -> check."""
