"""Checks of the claims of the Sparse VAE's figures and tables, as functions of result rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from itertools import pairwise
from typing import Any

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.claims import (
    SIGNIFICANT,
    ClaimCheck,
    Finding,
    Outcome,
    claim,
    every,
    extreme_at,
    for_every,
    mean_above,
    mean_below,
    mean_not_below,
    mean_within,
    not_measured,
    significantly_above,
)
from sparseid.papers.labels import label
from sparseid.papers.rows import key, keys_of, per_replicate, values_of
from sparseid.papers.sparse_vae.rows import BETAS, CORRELATIONS, METHODS, PRINTED_BETA, SHIFTS, WARM_UP, values

SIMILAR_DROP = 0.9
"""Fraction of the DCI at rho = 0 that counts as robust."""
ENRICHED = 10
"""Minimum that counts as tens of processes."""
SYNTHETIC = "latent_factors"
"""Source of synthetic ratings, whose films have no names."""
SEPARATOR = "; "
ACCURACY_ORDER = ("sparse_vae", "vae", "nmf", "vsc", "oi_vae")


def _median(rows: pd.DataFrame, metric: str, method: str, rho: float) -> tuple[float, int]:
    found = values(rows, metric, method, rho=rho)
    return float(found.median()), len(found)


def _higher(upper: tuple[float, int], lower: tuple[float, int], what: str) -> Finding:
    """Check that one median is above another one; each is given with its number of data sets."""
    (high, m), (low, n) = upper, lower
    if not m or not n:
        return not_measured(what)
    text = f"{what} {high:.3g} against {low:.3g}"
    if min(m, n) < 2:
        return Finding("undecided", f"{text}; one data set", high - low)
    return Finding("holds" if high > low else "fails", f"{text}, {min(m, n)} data sets", high - low)


_at_each_rho = for_every("rho {}", CORRELATIONS)


def with_warm_up(check: Callable[[pd.DataFrame, str], Finding]) -> ClaimCheck:
    """Decide a check by the published recipe; its text adds the outcome of the recipe with warm-up."""

    @wraps(check)
    def both(rows: pd.DataFrame) -> Finding:
        published, other = check(rows, "sparse_vae"), check(rows, WARM_UP)
        added = f" | with warm-up: {other.outcome} ({other.text})" if other.measured else ""
        return replace(published, text=published.text + added)

    return both


@claim("sparse_vae-fig3-mse_vs_vae")
@with_warm_up
@_at_each_rho
def mse_vs_vae(rows: pd.DataFrame, method: str, rho: float) -> Finding:
    return _higher(_median(rows, "mse", "vae", rho), _median(rows, "mse", method, rho), "MSE of the VAE")


@claim("sparse_vae-fig3-mse_vs_vae_test")
@with_warm_up
def mse_vs_vae_test(rows: pd.DataFrame, method: str) -> Finding:
    from scipy.stats import wilcoxon

    pairs = [values(rows, "mse", "vae", rho=rho) - values(rows, "mse", method, rho=rho) for rho in CORRELATIONS]
    lead = pd.concat([pair.dropna().astype(float) for pair in pairs])
    if lead.empty:
        return not_measured("MSE")
    median = float(lead.median())
    text = f"median lead {median:.3g}, lower in {int((lead > 0).sum())} of {len(lead)} data sets"
    if len(lead) < 2:
        return Finding("undecided", f"{text}; no test", median)
    p = float(wilcoxon(lead, alternative="greater").pvalue) if (lead != 0).any() else 1.0
    outcome: Outcome = "fails" if median <= 0 else "holds" if p < SIGNIFICANT else "undecided"
    return Finding(outcome, f"{text}, signed-rank test p = {p:.2g}", median, p)


@claim("sparse_vae-fig3-mse_vsc")
@with_warm_up
@_at_each_rho
def mse_vsc(rows: pd.DataFrame, method: str, rho: float) -> Finding:
    others = [_median(rows, "mse", name, rho) for name in (method, "vae")]
    return _higher(_median(rows, "mse", "vsc", rho), max(others), "MSE of VSC")


@claim("sparse_vae-fig3-dci_vs_vae")
@with_warm_up
@_at_each_rho
def dci_vs_vae(rows: pd.DataFrame, method: str, rho: float) -> Finding:
    return _higher(_median(rows, "dci", method, rho), _median(rows, "dci", "vae", rho), "DCI")


@claim("sparse_vae-fig3-dci_robust")
@with_warm_up
def dci_robust(rows: pd.DataFrame, method: str) -> Finding:
    (none, m), (some, n) = (_median(rows, "dci", method, rho) for rho in (0.0, 0.4))
    return _higher((some, n), (SIMILAR_DROP * none, m), "DCI at rho 0.4 and 0.9 of that at 0:")


@claim("sparse_vae-fig3-dci_decreases")
@with_warm_up
def dci_decreases(rows: pd.DataFrame, method: str) -> Finding:
    some, much = (_median(rows, "dci", method, rho) for rho in (0.4, 0.8))
    return _higher(some, much, "DCI at rho 0.4 and 0.8:")


@claim("sparse_vae-fig3-dci_vsc_worst")
@with_warm_up
@_at_each_rho
def dci_vsc_worst(rows: pd.DataFrame, method: str, rho: float) -> Finding:
    others = [_median(rows, "dci", name, rho) for name in (method, "vae")]
    return _higher(min(others), _median(rows, "dci", "vsc", rho), "DCI of the lower one and VSC:")


@claim("sparse_vae-fig3-beta_like_vae")
@_at_each_rho
def beta_like_vae(rows: pd.DataFrame, rho: float) -> Finding:
    @for_every("{}", ("mse", "dci"))
    def check(metric: str) -> Finding:
        vae, beta = (values(rows, metric, name, rho=rho) for name in ("vae", "beta_vae"))
        if vae.empty or beta.empty:
            return not_measured(metric)
        difference = abs(float(beta.median() - vae.median()))
        limit = float(vae.quantile(0.75) - vae.quantile(0.25))
        text = f"{label(metric)} differs by {difference:.3g}, interquartile range {limit:.3g}"
        if min(len(vae), len(beta)) < 2:
            return Finding("undecided", text, difference)
        return Finding("holds" if difference <= limit else "fails", text, difference)

    return check()


def _best(rows: pd.DataFrame, metric: str, lowest: bool = True, **keys: Key) -> Finding:
    """Check that the Sparse VAE is significantly better than each of the other methods."""
    ours = values(rows, metric, "sparse_vae", **keys)

    @for_every("{}", METHODS[1:])
    def check(method: str) -> Finding:
        theirs = values(rows, metric, method, **keys)
        return significantly_above(*((theirs, ours) if lowest else (ours, theirs)), label(metric))

    return check()


def _lead(rows: pd.DataFrame, metric: str, upper: str, lower: str, what: str = "by", **keys: Key) -> Finding:
    """Check that the mean lead of one method over another one is positive."""
    high, low = (values(rows, metric, method, **keys) for method in (upper, lower))
    return mean_above((high - low).dropna(), 0, what)


@claim("sparse_vae-table1-movielens_log_loss")
def movielens_log_loss(rows: pd.DataFrame) -> Finding:
    return _best(rows, "log_loss")


@claim("sparse_vae-table1-movielens_ranking")
@for_every("{}", ("recall_at_5", "ndcg_at_10"))
def movielens_ranking(rows: pd.DataFrame, metric: str) -> Finding:
    return _best(rows, metric, lowest=False)


@claim("sparse_vae-table1-movielens_order")
@for_every("{} above {}", pairwise(METHODS[::-1]))
def movielens_order(rows: pd.DataFrame, upper: str, lower: str) -> Finding:
    return _lead(rows, "log_loss", upper, lower)


@claim("sparse_vae-table1-peerread_log_loss", against="sparse_vae/table1_peerread")
def peerread_log_loss(rows: pd.DataFrame, peerread: pd.DataFrame) -> Finding:
    return _best(peerread, "log_loss")


@claim("sparse_vae-table1-beta2_best", against="sparse_vae/table1_peerread")
def beta2_best(rows: pd.DataFrame, peerread: pd.DataFrame) -> Finding:
    def check(of_data: pd.DataFrame) -> Finding:
        curve: dict[Key, pd.Series] = {beta: values(of_data, "log_loss", "beta_vae", beta=beta) for beta in BETAS}
        return extreme_at(curve, PRINTED_BETA.__eq__, "log loss", "beta")

    return every({"MovieLens": check(rows), "PeerRead": check(peerread)})


@claim("sparse_vae-table2-all_shifts")
@for_every("{} shift", SHIFTS)
def all_shifts(rows: pd.DataFrame, shift: str) -> Finding:
    return _best(rows, "log_loss", shift=shift)


@claim("sparse_vae-table2-difficulty_order")
@for_every("{}, {} above {}", METHODS, pairwise(SHIFTS))
def difficulty_order(rows: pd.DataFrame, method: str, harder: str, easier: str) -> Finding:
    hard, easy = (values(rows, "log_loss", method, shift=shift) for shift in (harder, easier))
    return mean_above((hard - easy).dropna(), 0, "by")


@claim("sparse_vae-table2-vsc_worst")
@for_every("{} shift", SHIFTS)
def vsc_worst(rows: pd.DataFrame, shift: str) -> Finding:
    others = METHODS[:-1]
    return every({f"above {label(name)}": _lead(rows, "log_loss", "vsc", name, shift=shift) for name in others})


@claim("sparse_vae-table2-beta_equals_vae")
@for_every("{} shift", SHIFTS)
def beta_equals_vae(rows: pd.DataFrame, shift: str) -> Finding:
    vae, beta = (values(rows, "log_loss", method, shift=shift) for method in ("vae", "beta_vae"))
    limit = float(vae.std(ddof=0) + beta.std(ddof=0))
    return mean_within((vae - beta).dropna(), limit, "difference of log loss") if limit else not_measured("spread")


def _some_topic(rows: pd.DataFrame, fits: Callable[[dict[str, Any]], bool], what: str) -> Finding:
    """Check that some topic of real films fits."""
    found = keys_of(rows[key(rows, "top_features").notna()])
    if not found or SYNTHETIC in values_of(rows, "source"):
        return not_measured("topics of known films")
    fitting = [keys["top_features"] for keys in found if fits(keys)]
    text = f"{len(fitting)} of {len(found)} topics {what}" + (f", the first: {fitting[0]}" if fitting else "")
    return Finding("holds" if fitting else "fails", text, float(len(fitting)))


def _shares(keys: dict[str, str], *genres: str) -> bool:
    return bool(set(genres) & set(keys.get("shared", "").split("|")))


@claim("sparse_vae-table3-movies_scifi")
def movies_scifi(rows: pd.DataFrame) -> Finding:
    return _some_topic(rows, lambda keys: _shares(keys, "Sci-Fi"), "are science fiction throughout")


@claim("sparse_vae-table3-movies_children")
def movies_children(rows: pd.DataFrame) -> Finding:
    genres = ("Animation", "Children", "Children's")
    return _some_topic(rows, lambda keys: _shares(keys, *genres), "are animated or for children throughout")


@claim("sparse_vae-table3-movies_blockbuster")
def movies_blockbuster(rows: pd.DataFrame) -> Finding:
    def fits(keys: dict[str, str]) -> bool:
        titles = keys["top_features"].split(SEPARATOR)
        wars, jones = (
            sum(title.startswith(words) for title in titles)
            for words in ("Star Wars", ("Indiana Jones", "Raiders of the Lost Ark"))
        )
        return wars >= 3 and jones >= 1

    return _some_topic(rows, fits, "hold three films of Star Wars and one of Indiana Jones")


@claim("sparse_vae-table3-words_themes", against="sparse_vae/table3_peerread")
def words_themes(rows: pd.DataFrame, peerread: pd.DataFrame) -> Finding:
    ours = {"method": ("sparse_vae",)}
    found, by_chance = (per_replicate(peerread, metric, ("topic",), ours) for metric in ("npmi", "npmi_random"))
    return significantly_above(found, by_chance, "NPMI of top and random words (counted per factor):")


@claim("sparse_vae-fig4-tsne_separation")
@for_every("{}", ("vae", "vsc", "nmf"))
def tsne_separation(rows: pd.DataFrame, method: str) -> Finding:
    return _lead(rows, "silhouette", "sparse_vae", method, "lead")


@claim("sparse_vae-zeisel_accuracy-order")
def accuracy_order(rows: pd.DataFrame) -> Finding:
    ours, vae = (values(rows, "accuracy", name) for name in ACCURACY_ORDER[:2])
    found = {"Sparse VAE and VAE": mean_not_below(ours, vae, "accuracy")}
    for first, second in pairwise(ACCURACY_ORDER[1:]):
        found[f"{label(first)} above {label(second)}"] = _lead(rows, "accuracy", first, second)
    return every(found)


@claim("sparse_vae-zeisel_accuracy-vae_close")
def accuracy_vae_close(rows: pd.DataFrame) -> Finding:
    ours, vae = (values(rows, "accuracy", name) for name in ("sparse_vae", "vae"))
    if len(vae) < 2:
        return not_measured("the spread of the VAE")
    return mean_below((ours - vae).dropna(), float(vae.std(ddof=0)), "lead in accuracy")


@claim("sparse_vae-zeisel_go-enriched")
def enriched(rows: pd.DataFrame) -> Finding:
    found = values(rows, "n_processes", "sparse_vae")
    if found.empty:
        return not_measured("gene sets (they need the names of genes: data.source=original)")
    return mean_above(found, ENRICHED - 0.5, "processes", fewest=1)  # the paper counts those of one fit
