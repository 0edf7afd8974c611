"""What factors are about: topics of table 3, types of cells, enriched processes: claims on result rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from sparseid.papers.claims import (
    ClaimCheck,
    Comparison,
    Finding,
    every,
    mean_above,
    mean_below,
    mean_not_below,
    not_measured,
    significantly_above,
)
from sparseid.papers.names import written
from sparseid.papers.rows import key, keys_of, per_replicate, select, values_of
from sparseid.papers.sparse_vae.cells import values

ENRICHED = 10
"""Processes from which on they are tens."""
MADE = "latent_factors"
"""Source of ratings that are made, of films that nobody knows."""
SEPARATOR = "; "


def topics(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the keys of every topic that was found: ``top_features`` and, for films, ``shared``."""
    return keys_of(rows[key(rows, "top_features").notna()])


def _some_topic(rows: pd.DataFrame, fits: Callable[[dict[str, str]], bool], what: str) -> Finding:
    """Check that some topic of known films fits."""
    found = topics(rows)
    if not found or MADE in values_of(rows, "source"):
        return not_measured("topics of known films")
    fitting = [keys["top_features"] for keys in found if fits(keys)]
    text = f"{len(fitting)} of {len(found)} topics {what}" + (f", the first: {fitting[0]}" if fitting else "")
    return Finding("holds" if fitting else "fails", text, float(len(fitting)))


def _shares(keys: dict[str, str], *genres: str) -> bool:
    return bool(set(genres) & set(keys.get("shared", "").split("|")))


def movies_scifi(rows: pd.DataFrame) -> Finding:
    """The top films of some factor are all science fiction."""
    return _some_topic(rows, lambda keys: _shares(keys, "Sci-Fi"), "are science fiction throughout")


def movies_children(rows: pd.DataFrame) -> Finding:
    """The top films of some factor are all animated or all for children."""
    genres = ("Animation", "Children", "Children's")
    return _some_topic(rows, lambda keys: _shares(keys, *genres), "are animated or for children throughout")


def movies_blockbuster(rows: pd.DataFrame) -> Finding:
    """The top films of some factor are three of Star Wars and one of Indiana Jones."""

    def fits(keys: dict[str, str]) -> bool:
        titles = keys["top_features"].split(SEPARATOR)
        jones = ("Indiana Jones", "Raiders of the Lost Ark")
        return _starting(titles, ("Star Wars",)) >= 3 and _starting(titles, jones) >= 1

    return _some_topic(rows, fits, "hold three films of Star Wars and one of Indiana Jones")


def _starting(titles: Iterable[str], words: tuple[str, ...]) -> int:
    return sum(title.startswith(words) for title in titles)


def words_themes(rows: pd.DataFrame, peerread: pd.DataFrame) -> Finding:
    """The top words of PeerRead's factors go together better than random words: t test over factors."""
    found, by_chance = (_of_topics(peerread, metric) for metric in ("npmi", "npmi_random"))
    return significantly_above(found, by_chance, "NPMI of top and random words (counted per factor):")


def _of_topics(rows: pd.DataFrame, metric: str) -> pd.Series:
    """Return one value per seed and topic."""
    return per_replicate(select(rows, {"method": ("sparse_vae",)}), metric, ("topic",))


def tsne_separation(rows: pd.DataFrame) -> Finding:
    """The silhouette of cell types in the plane is higher for the Sparse VAE than for VAE, VSC and NMF."""
    ours = values(rows, "silhouette", "sparse_vae")
    others = {name: values(rows, "silhouette", name) for name in ("vae", "vsc", "nmf")}
    return every({written(name): mean_above((ours - theirs).dropna(), 0, "lead") for name, theirs in others.items()})


ACCURACY_ORDER = ("sparse_vae", "vae", "nmf", "vsc", "oi_vae")


def accuracy_order(rows: pd.DataFrame) -> Finding:
    """The accuracy falls from Sparse VAE over VAE, NMF and VSC to OI-VAE; the first two may be equal."""
    means = {name: values(rows, "accuracy", name) for name in ACCURACY_ORDER}
    found = {"Sparse VAE and VAE": mean_not_below(means["sparse_vae"], means["vae"], "accuracy")}
    for first, second in itertools.pairwise(ACCURACY_ORDER[1:]):
        lead = (means[first] - means[second]).dropna()
        found[f"{written(first)} above {written(second)}"] = mean_above(lead, 0, "by")
    return every(found)


def accuracy_vae_close(rows: pd.DataFrame) -> Finding:
    """The lead over the VAE is within the VAE's standard deviation."""
    ours, vae = (values(rows, "accuracy", name) for name in ("sparse_vae", "vae"))
    if len(vae) < 2:
        return not_measured("the spread of the VAE")
    return mean_below((ours - vae).dropna(), float(vae.std(ddof=0)), "lead in accuracy")


def enriched(rows: pd.DataFrame) -> Finding:
    """The Sparse VAE's genes are enriched for at least ten processes."""
    found = values(rows, "n_processes", "sparse_vae")
    if found.empty:
        return not_measured("gene sets (they need the names of genes: data.source=original)")
    return mean_above(found, ENRICHED - 0.5, "processes")


CLAIMS: dict[str, ClaimCheck | Comparison] = {
    "sparse_vae-table3-movies_scifi": movies_scifi,
    "sparse_vae-table3-movies_children": movies_children,
    "sparse_vae-table3-movies_blockbuster": movies_blockbuster,
    "sparse_vae-table3-words_themes": Comparison("sparse_vae/table3_peerread", words_themes),
    "sparse_vae-fig4-tsne_separation": tsne_separation,
    "sparse_vae-zeisel_accuracy-order": accuracy_order,
    "sparse_vae-zeisel_accuracy-vae_close": accuracy_vae_close,
    "sparse_vae-zeisel_go-enriched": enriched,
}
"""Claim id in targets.yaml -> check."""
